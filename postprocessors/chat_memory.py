"""`<chat-memory>`: something that happened in this chat and matters only here."""

from kenobot.ports.identity import chat_scope
from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import TurnEffects
from kenobot.postprocessors.memory_tag import MemoryTag


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(form="episode", scope=chat_scope(turn.session), text=text, trust=turn.principal.trust)


plugin = Plugin(settings=NoSettings, build=lambda settings, surroundings: MemoryTag(("chat-memory",), _candidate))
