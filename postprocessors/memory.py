"""`<memory>`: a fact to keep, in the scope that the speaker may write to."""

from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import TurnEffects
from kenobot.postprocessors.memory_tag import MemoryTag


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(form="note", scope=turn.principal.write_scope, text=text, trust=turn.principal.trust)


plugin = Plugin(settings=NoSettings, build=lambda settings, surroundings: MemoryTag(("memory",), _candidate))
