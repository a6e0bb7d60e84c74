"""`<working-memory>`: this chat's scratchpad; a new one replaces the old one whole."""

from kenobot.ports.identity import chat_scope
from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import TurnEffects
from kenobot.postprocessors.memory_tag import MemoryTag


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(
        form="scratchpad", scope=chat_scope(turn.session), text=text, slot="working", trust=turn.principal.trust
    )


plugin = Plugin(
    settings=NoSettings, build=lambda settings, surroundings: MemoryTag(("working-memory",), _candidate, last_wins=True)
)
