"""`<chat-context>`: what kind of chat this is, its tone and who is in it; a new one replaces the old one whole."""

from kenobot.ports.identity import chat_scope
from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import TurnEffects
from kenobot.postprocessors.memory_tag import MemoryTag


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(
        form="profile", scope=chat_scope(turn.session), text=text, slot="context", trust=turn.principal.trust
    )


plugin = Plugin(
    settings=NoSettings, build=lambda settings, surroundings: MemoryTag(("chat-context",), _candidate, last_wins=True)
)
