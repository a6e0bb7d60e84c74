"""Trace what became of each candidate of a recall."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import SourceKind, TracedItem

if TYPE_CHECKING:
    from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
    from kenobot.language.question.answer_features import JudgedQuestion
    from kenobot.ports.recall import Score
    from kenobot.ports.records import Record


class ScoredRecord(Protocol):
    """A record as a recall ranks it; see `results.memory.RecalledMemory`."""

    @property
    def record(self) -> "Record": ...

    @property
    def score(self) -> "Score": ...

    @property
    def relevance(self) -> float: ...

    @property
    def relevance_parts(self) -> Mapping[str, float]: ...


@dataclass(frozen=True, slots=True)
class MixFeatures:
    """Describe the best memory and the best turn of a search, as `search.mixing` weighs them; 0 where there is none."""

    note_near: float  # similarity as a share of a usual answer's
    turn_near: float
    note: float  # relevance
    turn: float


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """Describe a question besides its words; see `search.fit`. model: of the vectors. general: -1 to 1."""

    model: str
    personal: bool
    general: float


@dataclass(frozen=True, slots=True)
class JudgedTrace:
    """Input of `search.judge`, with the kind and number of each item. row: the question's vector."""

    judged: "JudgedQuestion"
    keys: Sequence[tuple[SourceKind, int]]
    model: str
    row: Sequence[float] | None


@dataclass(frozen=True, slots=True)
class AgePair:
    """Two items found, by kind and number, of which one was told later. features: see `search.one_thing`."""

    older: tuple[SourceKind, int]
    newer: tuple[SourceKind, int]
    features: tuple[float, ...]


@dataclass(slots=True)
class RecallTrace:
    """Collect the candidates of a recall: scored, dropped (with the reason), or not read.

    estimates: estimated scores of records that were not read, best first. before_age: what is shown, in the order in
    which it was before the newer of `age_pairs` came first.
    """

    # bounded: what one recall looked at; turn
    ranked: dict[tuple[SourceKind, int], TracedItem] = field(default_factory=dict)
    dropped: dict[tuple[SourceKind, int], str] = field(default_factory=dict)  # bounded: what one recall looked at; turn
    turns_searched: bool = False
    question: QuestionKind | None = None
    judged: JudgedTrace | None = None
    mix_features: MixFeatures | None = None
    before_age: Sequence[tuple[SourceKind, int]] = ()
    age_pairs: Sequence[AgePair] = ()
    estimates: Mapping[int, float] = field(default_factory=dict)  # bounded: what one recall looked at; turn

    def add_turns(self, ranked: "Sequence[RankedTurn]") -> None:
        """Add turns, best first."""
        self.turns_searched = True
        for place, each in enumerate(ranked, 1):
            features = {**each.features, "relevance": each.relevance}
            self.ranked["turn", each.turn.message] = TracedItem(place, each.score, features)

    def add_records(self, ranked: Sequence[ScoredRecord]) -> None:
        """Add records, best first."""
        for place, each in enumerate(ranked, 1):
            features = {**each.score.parts, "about": each.relevance, **each.relevance_parts}
            self.ranked["record", each.record.id] = TracedItem(place, each.score.value, features)
        unread = [number for number in self.estimates if ("record", number) not in self.ranked]
        for place, number in enumerate(unread, len(ranked) + 1):
            self.ranked["record", number] = TracedItem(
                place, self.estimates[number], {"promised": self.estimates[number]}
            )
