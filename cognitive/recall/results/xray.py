"""The X-ray of a recall: of each memory why it was chosen, of what its score is made, and what was left out, and why.

As text for a terminal, as Markdown for a chat, and as JSON, whose form is the dataclasses'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from kenobot.cognitive.recall.question.keywords import (
    KeywordGrade,
    KeywordScore,
    MemoryKind,
    extract_keywords,
    grade_keywords,
    score_keywords,
)
from kenobot.cognitive.recall.results.match_explanation import DIGITS, MatchExplanation
from kenobot.cognitive.recall.results.memory import SearchReport

_LONGEST = 160
_KINDS: Mapping[str, MemoryKind] = {"episode": "episodes", "procedure": "procedures"}


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


def xray(pack: SearchReport, asked: str = "") -> Xray:
    """The X-ray of what a recall found for a message."""
    sought = extract_keywords(asked)
    items = [
        XrayMemory(
            memory.explain(),
            memory.record.text,
            memory.record.subject,
            memory.record.category,
            memory.record.source,
            memory.record.created,
            round(memory.record.confidence, DIGITS),
            round(memory.current_confidence, DIGITS),
            memory.tokens,
            score_keywords(sought, memory.record.text),
        )
        for memory in pack.memories
    ]
    quoted = [
        XrayExcerpt(
            each.turn.id, each.turn.inbox_id, each.turn.at, round(each.relevance, DIGITS), each.matched, each.tokens
        )
        for each in pack.excerpts
    ]
    return Xray(
        pack.level,
        round(pack.score, DIGITS),
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


def _grade(pack: SearchReport, items: Sequence[XrayMemory]) -> KeywordGrade:
    scores: dict[MemoryKind, list[float]] = {"facts": [], "procedures": [], "episodes": []}
    for memory, item in zip(pack.memories, items, strict=True):
        if item.points.score:
            scores[_KINDS.get(memory.record.form, "facts")].append(item.points.score)
    return grade_keywords(scores)


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
