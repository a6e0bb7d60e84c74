"""What became of everything that a recall looked at, for who wants to know why something is not there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kenobot.cognitive.recall.results.memory import RecalledMemory
    from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn

SourceKind = Literal["record", "turn"]


@dataclass(frozen=True, slots=True)
class TracedItem:
    """A record or turn that was valued. rank: among its kind, 1 is the best. features: what its score is of."""

    rank: int
    score: float
    features: Mapping[str, float]

    @property
    def summary(self) -> str:
        """The score and what it is of, in one line."""
        return " ".join(
            [f"{self.score:.3f}:", *(f"{name} {value:.2f}" for name, value in self.features.items() if value)]
        )


@dataclass(frozen=True, slots=True)
class ConfidenceFeatures:
    """Describe the best memory for a question, as `search.confidence` weighs it."""

    near: float  # its similarity as a share of a usual answer's
    rest: float  # the similarity without the names of the question
    named: float  # 1 where the question has names
    apart: float  # its lead over the next memory
    kind: float  # 1 where it holds the kind of answer asked for; a half where no kind is
    unknown: float  # share of the question's names that no memory found has
    lacks: float  # 1 where it cannot hold the answer; see `question.answer_types`


@dataclass(slots=True)
class RecallTrace:
    """ranked: what was valued. dropped: what may not be shown, and why. turns_searched: whether turns were looked for.

    confidence_features: what tells whether the best of it answers a question, where that can be told. estimates:
    records that were not read, since others promised to fit better, best first, and what they promised.
    """

    # bounded: what one recall looked at; turn
    ranked: dict[tuple[SourceKind, int], TracedItem] = field(default_factory=dict)
    dropped: dict[tuple[SourceKind, int], str] = field(default_factory=dict)  # bounded: what one recall looked at; turn
    turns_searched: bool = False
    confidence_features: ConfidenceFeatures | None = None
    estimates: Mapping[int, float] = field(default_factory=dict)  # bounded: what one recall looked at; turn

    def add_turns(self, ranked: "Sequence[RankedTurn]") -> None:
        """Take note of turns, best first."""
        self.turns_searched = True
        for place, each in enumerate(ranked, 1):
            features = {**each.features, "relevance": each.relevance}
            self.ranked["turn", each.turn.message] = TracedItem(place, each.score, features)

    def add_records(self, ranked: "Sequence[RecalledMemory]") -> None:
        """Take note of records, best first."""
        for place, each in enumerate(ranked, 1):
            features = {**each.score.parts, "about": each.relevance, **each.relevance_parts}
            self.ranked["record", each.record.id] = TracedItem(place, each.score.value, features)
        unread = [number for number in self.estimates if ("record", number) not in self.ranked]
        for place, number in enumerate(unread, len(ranked) + 1):
            self.ranked["record", number] = TracedItem(
                place, self.estimates[number], {"promised": self.estimates[number]}
            )
