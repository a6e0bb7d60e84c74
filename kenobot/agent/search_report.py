"""Render a recall in full: why each memory was chosen, what its score is made of, what was left out, and why.

As text for a terminal, as Markdown for a chat, and as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kenobot.cognitive.memory import Excerpt, RecalledMemory, SearchReport
from kenobot.language.question.keywords import (
    KeywordGrade,
    KeywordScore,
    MemoryKind,
    extract_keywords,
    grade_keywords,
    score_keywords,
)
from kenobot.ports.recall import DIGITS, MatchExplanation

_LONGEST = 160
_KINDS: Mapping[str, MemoryKind] = {"episode": "episodes", "procedure": "procedures"}


def as_json(report: SearchReport, message: str = "") -> dict[str, object]:
    """Render the search for a message for programs."""
    points = _points(report, message)
    return {
        "level": report.level,
        "score": round(report.score, DIGITS),
        "need": report.need,
        "looked_for": report.query_terms,
        "subjects": report.subjects,
        "items": [
            {
                "why": asdict(memory.explain()),
                "text": memory.record.text,
                "subject": memory.record.subject,
                "category": memory.record.category,
                "source": memory.record.source,
                "created": memory.record.created,
                "confidence": round(memory.record.confidence, DIGITS),
                "effective": round(memory.current_confidence, DIGITS),
                "tokens": memory.tokens,
                "points": asdict(score),
            }
            for memory, score in points
        ],
        "quoted": [
            {
                "message": each.turn.id,
                "inbox": each.turn.inbox_id,
                "at": each.turn.at,
                "relevance": round(each.relevance, DIGITS),
                "matched": each.matched,
                "tokens": each.tokens,
            }
            for each in report.excerpts
        ],
        "dropped": dict(report.dropped),
        "budget": report.budget,
        "tokens": report.tokens,
        "keywords": extract_keywords(message),
        "by_keywords": asdict(_grade(points)),
    }


def as_text(report: SearchReport, message: str = "") -> str:
    """Render the search for a message for a terminal."""
    points = _points(report, message)
    lines = [_head(report)]
    for place, (memory, score) in enumerate(points, 1):
        why = memory.explain()
        lines.append(f"{place:>2}. {why.score:.3f}  #{why.record}  {_shorten(memory.record.text)}")
        lines += [f"      {line}" for line in _details(memory, why, score)]
    lines += [f"  · {round(each.relevance, DIGITS):.3f}  {_turn(each)}" for each in report.excerpts]
    return "\n".join([*lines, *_foot(report, extract_keywords(message), _grade(points))])


def as_markdown(report: SearchReport, message: str = "") -> str:
    """Render the search for a message for a chat."""
    points = _points(report, message)
    lines = [f"**{_head(report)}**", ""]
    for memory, score in points:
        why = memory.explain()
        lines.append(f"- **{why.score:.2f}** #{why.record} {_shorten(memory.record.text)}")
        lines += [f"  - {line}" for line in _details(memory, why, score)]
    lines += [f"- {round(each.relevance, DIGITS):.2f} {_turn(each)}" for each in report.excerpts]
    blank = [""] if report.memories else []
    return "\n".join([*lines, *blank, *_foot(report, extract_keywords(message), _grade(points))])


def _points(report: SearchReport, message: str) -> list[tuple[RecalledMemory, KeywordScore]]:
    """Score each memory by the keywords of the message, which explain and decide nothing."""
    keywords = extract_keywords(message)
    return [(memory, score_keywords(keywords, memory.record.text)) for memory in report.memories]


def _grade(points: Sequence[tuple[RecalledMemory, KeywordScore]]) -> KeywordGrade:
    scores: dict[MemoryKind, list[float]] = {"facts": [], "procedures": [], "episodes": []}
    for memory, each in points:
        if each.score:
            scores[_KINDS.get(memory.record.form, "facts")].append(each.score)
    return grade_keywords(scores)


def _head(report: SearchReport) -> str:
    found = f"{len(report.memories)} memories" + (f" and {len(report.excerpts)} excerpts" if report.excerpts else "")
    score = round(report.score, DIGITS)
    return f"Confidence {report.level} ({score:.2f}): {found}, {report.tokens} of {report.budget} tokens"


def _details(memory: RecalledMemory, why: MatchExplanation, points: KeywordScore) -> list[str]:
    record = memory.record
    keywords = f"keywords: {', '.join(points.matched)}, {points.score} points" if points.matched else ""
    source = f"{record.category} about {record.subject or 'owner'}, by {record.source}, {record.created[:10]}"
    before, now = round(record.confidence, DIGITS), round(memory.current_confidence, DIGITS)
    confidence = f"confidence {before:.2f}, today {now:.2f}"
    return [line for line in (why.sentence(), keywords, why.score_parts(), f"{source}; {confidence}") if line]


def _turn(excerpt: Excerpt) -> str:
    return f"turn {excerpt.turn.inbox_id or excerpt.turn.id}, {excerpt.turn.at[:16]}"


def _foot(report: SearchReport, keywords: Sequence[str], grade: KeywordGrade) -> list[str]:
    lines = [f"Looked for: {', '.join(report.query_terms) or 'nothing'}"]
    if keywords:
        lines.append(f"Keywords: {', '.join(keywords)}: {grade.level} ({grade.score:g} points)")
    if report.subjects:
        lines.append(f"About: {', '.join(report.subjects)}")
    if report.dropped:
        lines.append("Left out: " + ", ".join(f"{count} {reason}" for reason, count in sorted(report.dropped.items())))
    return lines


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
