"""`<user-update>`: how this person wants to be treated.

`<user>` is the older name; `<update-preferences>` is what early onboarding texts taught the model to write.
"""

from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import TurnEffects
from kenobot.postprocessors.memory_tag import MemoryTag

_TAGS = ("user-update", "user", "update-preferences")


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(
        form="note",
        scope=turn.principal.write_scope,
        text=text,
        category="preference",
        trust=turn.principal.trust,
    )


plugin = Plugin(settings=NoSettings, build=lambda settings, surroundings: MemoryTag(_TAGS, _candidate))
