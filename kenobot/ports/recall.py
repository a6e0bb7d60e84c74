"""Reasons, scores and sections of the records that a search of memory found."""

from collections.abc import Mapping
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.records import LinkType, Record
from kenobot.ports.sentences import Sentence, join_sentences


@dataclass(frozen=True, slots=True)
class PathStep:
    """One link on a path, in the direction that activation took it."""

    src: int
    dst: int
    type: LinkType
    confidence: float


DIGITS = 3
"""Decimals of a score that is stored or shown."""


_WAYS = {
    "words": "recall.shares_words",
    "subject": "recall.is_about",
    "meaning": "recall.means_the_like",
    "nearest": "recall.is_nearest",
    "link": "recall.is_linked",
    "practice": "recall.worked_before",
}
_WITH_WORDS = {"words": "recall.shares_words_matched", "practice": "recall.worked_before_matched"}


@dataclass(frozen=True, slots=True)
class MatchExplanation:
    """Reasons why a memory was chosen. path: the links that led to it."""

    record: int
    score: float
    relevance: float
    parts: Mapping[str, float]
    ways: tuple[str, ...]
    matched: tuple[str, ...] = ()
    path: tuple[PathStep, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {
            "record": self.record,
            "score": self.score,
            "relevance": self.relevance,
            "parts": dict(self.parts),
            "ways": [*self.ways],
            "matched": [*self.matched],
            "path": [[step.src, step.dst, step.type, step.confidence] for step in self.path],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "MatchExplanation":
        """Read the stored form, without what cannot be read of it."""
        parts, ways, matched, path = (data.get(name) for name in ("parts", "ways", "matched", "path"))
        return cls(
            record=int(str(data.get("record", 0))),
            score=_as_float(data.get("score")),
            relevance=_as_float(data.get("relevance")),
            parts={str(name): _as_float(part) for name, part in parts.items()} if isinstance(parts, dict) else {},
            ways=tuple(map(str, ways)) if isinstance(ways, list) else (),
            matched=tuple(map(str, matched)) if isinstance(matched, list) else (),
            path=tuple(PathStep(*step) for step in path if len(step) == 4) if isinstance(path, list) else (),
        )

    def sentence(self, *, with_steps: bool = True) -> str:
        """Return the reasons in one line. with_steps: with each link of the path, else with its beginning alone."""
        return join_sentences((self._word_way(way, with_steps=with_steps) for way in self.ways), "; ")

    def _word_way(self, way: str, *, with_steps: bool) -> str:
        key = _WAYS.get(way)
        if key is None:
            return way
        if way in _WITH_WORDS and self.matched:
            return Sentence(_WITH_WORDS[way], words=", ".join(self.matched))
        if way != "link" or not self.path:
            return Sentence(key)
        if not with_steps:
            return Sentence("recall.is_linked_to", record=self.path[0].src)
        steps = "".join(f" —{step.type} {step.confidence:.2f}→ {step.dst}" for step in self.path)
        return Sentence("recall.is_linked_by", path=f"{self.path[0].src}{steps}")

    def score_parts(self) -> str:
        """Return the parts of the score in one line."""
        return " ".join(f"{name} {part:+.3f}" for name, part in self.parts.items())


Section = Literal["long_term", "recent", "chat", "context", "updates", "procedures", "recalled"]


ConfidenceLevel = Literal["none", "low", "medium", "high"]


MatchWay = Literal["words", "subject", "meaning", "link", "nearest"]


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A record that a section shows. reason: why it was chosen for the message."""

    record: int
    section: Section
    reason: MatchExplanation | None = None


SourceKind = Literal["record", "turn"]
ItemKey = tuple[SourceKind, int]
"""A memory or message that was found, by its kind and number."""


@dataclass(frozen=True, slots=True)
class TracedItem:
    """A record or turn with its score. rank: among its kind, from 1."""

    rank: int
    score: float
    features: Mapping[str, float]

    @property
    def summary(self) -> str:
        """The score and its features in one line."""
        return " ".join(
            [f"{self.score:.3f}:", *(f"{name} {value:.2f}" for name, value in self.features.items() if value)]
        )


@dataclass(frozen=True, slots=True)
class Score:
    """A value: the sum of its parts, times `factor`."""

    value: float
    parts: Mapping[str, float]
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A pattern that fits a message, by its text. coverage: share of its trigger's words in the message."""

    text: str
    coverage: float
    confidence: float

    @property
    def score(self) -> float:
        """Return coverage times confidence, 0 to 1."""
        return self.coverage * self.confidence


def _as_float(value: object) -> float:
    """Read a number of stored JSON; 0 for anything else."""
    return float(value) if isinstance(value, int | float) else 0.0


@dataclass(frozen=True, slots=True)
class MatchedMemory:
    """A record that may be meant, and how much of what was said it says: 0 to 1. exact: it is the very words."""

    record: Record
    overlap: float
    exact: bool = False


class Matches(list[MatchedMemory]):
    """The records that may be meant, the likeliest first."""

    @property
    def certain(self) -> Record | None:
        """Return the record that is surely meant: of the very words, or the only one, if it says all that was said."""
        exact = [meant for meant in self if meant.exact]
        if len(exact) == 1:
            return exact[0].record
        return self[0].record if len(self) == 1 and self[0].overlap >= 1 and not exact else None
