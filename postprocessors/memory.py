"""`<memory>`: a fact to keep, in the scope that the speaker may write to."""

from kenobot.ports import Candidate, NoSettings, Plugin, TurnEffects
from kenobot.postprocessors.tag import Tag


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(form="note", scope=turn.principal.writes, text=text, trust=turn.principal.trust)


plugin = Plugin(settings=NoSettings, build=lambda settings, surroundings: Tag(("memory",), _candidate))
