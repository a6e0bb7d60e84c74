"""What became of everything that a recall looked at, for who wants to know why something is not there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kenobot.cognitive.recall.confidence import Signs
    from kenobot.cognitive.recall.pack import Memory
    from kenobot.cognitive.recall.turns import Ranked

Kind = Literal["record", "turn"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A record or turn that was valued. place: among its kind, 1 is the best. features: what its score is of."""

    place: int
    score: float
    features: Mapping[str, float]

    @property
    def told(self) -> str:
        """The score and what it is of, in one line."""
        return " ".join(
            [f"{self.score:.3f}:", *(f"{name} {value:.2f}" for name, value in self.features.items() if value)]
        )


@dataclass(slots=True)
class Trace:
    """seen: what was valued. dropped: what may not be shown, and why. turns: whether turns were looked for.

    signs: what tells whether the best of it answers a question, where that can be told. promised: records that were not
    read, since others promised to fit better, best first, and what they promised.
    """

    seen: dict[tuple[Kind, int], Seen] = field(default_factory=dict)
    dropped: dict[tuple[Kind, int], str] = field(default_factory=dict)
    turns: bool = False
    signs: "Signs | None" = None
    promised: Mapping[int, float] = field(default_factory=dict)

    def see_turns(self, ranked: "Sequence[Ranked]") -> None:
        """Take note of turns, best first."""
        self.turns = True
        for place, each in enumerate(ranked, 1):
            features = {**each.features, "relevance": each.relevance}
            self.seen["turn", each.turn.message] = Seen(place, each.score, features)

    def see_records(self, ranked: "Sequence[Memory]") -> None:
        """Take note of records, best first."""
        for place, each in enumerate(ranked, 1):
            features = {**each.score.parts, "about": each.relevance, **each.fits}
            self.seen["record", each.record.id] = Seen(place, each.score.value, features)
        unread = [number for number in self.promised if ("record", number) not in self.seen]
        for place, number in enumerate(unread, len(ranked) + 1):
            self.seen["record", number] = Seen(place, self.promised[number], {"promised": self.promised[number]})
