"""The X-ray of a recall: of each memory why it was chosen, of what its score is made, and what was left out, and why.

As text for a terminal, as Markdown for a chat, and as JSON, whose form is the dataclasses'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from kenobot.cognitive.recall.keywords import (
    KeywordGrade,
    KeywordScore,
    MemoryKind,
    extract_keywords,
    grade_keywords,
    score_keywords,
)
from kenobot.cognitive.recall.pack import Pack, PathEdge, RecalledMemory
from kenobot.cognitive.store.records import Json

_DIGITS = 3
_LONGEST = 160
_KINDS: Mapping[str, MemoryKind] = {"episode": "episodes", "procedure": "procedures"}
_WAYS = {
    "words": "shares words",
    "subject": "is about somebody named",
    "meaning": "means the like",
    "link": "is linked",
    "practice": "worked before",
}


@dataclass(frozen=True, slots=True)
class MatchExplanation:
    """Why a memory was chosen, without its words. path: the links that led to it."""

    record: int
    score: float
    relevance: float
    parts: Mapping[str, float]
    ways: tuple[str, ...]
    matched: tuple[str, ...] = ()
    path: tuple[PathEdge, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """What is kept of it with the turn."""
        return {
            "record": self.record,
            "score": self.score,
            "relevance": self.relevance,
            "parts": dict(self.parts),
            "ways": [*self.ways],
            "matched": [*self.matched],
            "path": [[edge.src, edge.dst, edge.type, edge.confidence] for edge in self.path],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "MatchExplanation":
        """The same from what was kept; what cannot be read of it is left out."""
        parts, ways, matched, path = (data.get(name) for name in ("parts", "ways", "matched", "path"))
        return cls(
            record=int(str(data.get("record", 0))),
            score=_number(data.get("score")),
            relevance=_number(data.get("relevance")),
            parts={str(name): _number(part) for name, part in parts.items()} if isinstance(parts, dict) else {},
            ways=tuple(map(str, ways)) if isinstance(ways, list) else (),
            matched=tuple(map(str, matched)) if isinstance(matched, list) else (),
            path=tuple(PathEdge(*edge) for edge in path if len(edge) == 4) if isinstance(path, list) else (),
        )

    def sentence(self) -> str:
        """Why, in one line."""
        reasons = [_WAYS.get(way, way) for way in self.ways]
        if self.matched:
            by_words = (_WAYS["words"], _WAYS["practice"])
            reasons = [f"{each} ({', '.join(self.matched)})" if each in by_words else each for each in reasons]
        if self.path:
            steps = "".join(f" —{edge.type} {edge.confidence:.2f}→ {edge.dst}" for edge in self.path)
            reasons = [f"{each}: {self.path[0].src}{steps}" if each == _WAYS["link"] else each for each in reasons]
        return "; ".join(reasons)

    def score_parts(self) -> str:
        """The parts of the score."""
        return " ".join(f"{name} {part:+.3f}" for name, part in self.parts.items())


@dataclass(frozen=True, slots=True)
class XrayMemory:
    """A memory in an X-ray."""

    why: MatchExplanation
    text: str
    subject: str
    category: str
    source: str
    created: str
    confidence: float
    effective: float
    tokens: int
    points: KeywordScore


@dataclass(frozen=True, slots=True)
class XrayExcerpt:
    """A turn in an X-ray."""

    message: int
    inbox: int | None
    at: str
    relevance: float
    matched: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Xray:
    """A recall, laid open. looked_for, subjects: what of the message was looked for. dropped: by reason, how many.

    by_keywords: how well the plain keywords of the message were met; it explains, and decides nothing.
    """

    level: str
    score: float
    need: str
    looked_for: tuple[str, ...]
    subjects: tuple[str, ...]
    items: tuple[XrayMemory, ...]
    quoted: tuple[XrayExcerpt, ...]
    dropped: Mapping[str, int]
    budget: int
    tokens: int
    keywords: tuple[str, ...]
    by_keywords: KeywordGrade


def xray(pack: Pack, asked: str = "") -> Xray:
    """The X-ray of what a recall found for a message."""
    sought = extract_keywords(asked)
    items = [
        XrayMemory(
            explain_match(memory),
            memory.record.text,
            memory.record.subject,
            memory.record.category,
            memory.record.source,
            memory.record.created,
            round(memory.record.confidence, _DIGITS),
            round(memory.current_confidence, _DIGITS),
            memory.tokens,
            score_keywords(sought, memory.record.text),
        )
        for memory in pack.memories
    ]
    quoted = [
        XrayExcerpt(
            each.turn.id, each.turn.inbox, each.turn.at, round(each.relevance, _DIGITS), each.matched, each.tokens
        )
        for each in pack.excerpts
    ]
    return Xray(
        pack.level,
        round(pack.score, _DIGITS),
        pack.need,
        pack.query_terms,
        pack.subjects,
        tuple(items),
        tuple(quoted),
        dict(pack.dropped),
        pack.budget,
        pack.tokens,
        tuple(sought),
        _grade(pack, items),
    )


def _grade(pack: Pack, items: Sequence[XrayMemory]) -> KeywordGrade:
    scores: dict[MemoryKind, list[float]] = {"facts": [], "procedures": [], "episodes": []}
    for memory, item in zip(pack.memories, items, strict=True):
        if item.points.score:
            scores[_KINDS.get(memory.record.form, "facts")].append(item.points.score)
    return grade_keywords(scores)


def explain_match(memory: RecalledMemory) -> MatchExplanation:
    """Why a memory was chosen."""
    return MatchExplanation(
        memory.record.id,
        round(memory.score.value, _DIGITS),
        round(memory.relevance, _DIGITS),
        {name: round(part, _DIGITS) for name, part in memory.score.parts.items()},
        memory.ways,
        tuple(sorted(memory.matched)),
        memory.path,
    )


def as_json(seen: Xray) -> dict[str, object]:
    """For programs."""
    return asdict(seen)


def as_text(seen: Xray) -> str:
    """For a terminal."""
    lines = [_head(seen)]
    for place, item in enumerate(seen.items, 1):
        lines.append(f"{place:>2}. {item.why.score:.3f}  #{item.why.record}  {_short(item.text)}")
        lines += [f"      {line}" for line in _told(item)]
    lines += [f"  · {each.relevance:.3f}  turn {each.inbox or each.message}, {each.at[:16]}" for each in seen.quoted]
    return "\n".join([*lines, *_foot(seen)])


def as_markdown(seen: Xray) -> str:
    """For a chat."""
    lines = [f"**{_head(seen)}**", ""]
    for item in seen.items:
        lines.append(f"- **{item.why.score:.2f}** #{item.why.record} {_short(item.text)}")
        lines += [f"  - {line}" for line in _told(item)]
    lines += [f"- {each.relevance:.2f} turn {each.inbox or each.message}, {each.at[:16]}" for each in seen.quoted]
    return "\n".join([*lines, *([""] if seen.items else []), *_foot(seen)])


def _head(seen: Xray) -> str:
    found = f"{len(seen.items)} memories" + (f" and {len(seen.quoted)} excerpts" if seen.quoted else "")
    return f"Confidence {seen.level} ({seen.score:.2f}): {found}, {seen.tokens} of {seen.budget} tokens"


def _told(item: XrayMemory) -> Sequence[str]:
    held = f"{item.category} about {item.subject or 'owner'}, by {item.source}, {item.created[:10]}"
    sure = f"confidence {item.confidence:.2f}, today {item.effective:.2f}"
    by = f"keywords: {', '.join(item.points.matched)}, {item.points.score} points" if item.points.matched else ""
    return [line for line in (item.why.sentence(), by, item.why.score_parts(), f"{held}; {sure}") if line]


def _foot(seen: Xray) -> list[str]:
    lines = [f"Looked for: {', '.join(seen.looked_for) or 'nothing'}"]
    if seen.keywords:
        met = seen.by_keywords
        lines.append(f"Keywords: {', '.join(seen.keywords)}: {met.level} ({met.score:g} points)")
    if seen.subjects:
        lines.append(f"About: {', '.join(seen.subjects)}")
    if seen.dropped:
        lines.append("Left out: " + ", ".join(f"{count} {reason}" for reason, count in sorted(seen.dropped.items())))
    return lines


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
