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
from kenobot.ports.sentences import Sentence, join_sentences

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
        "former": [
            {"record": each.record.id, "text": each.record.text, "ended": each.ended, "held": each.held}
            for each in report.former
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
        lines += [join_sentences(("      ", line), "") for line in _details(memory, why, score)]
    lines += [f"  · {round(each.relevance, DIGITS):.3f}  {_turn(each)}" for each in report.excerpts]
    lines += [f"  {_shorten(each.line)}" for each in report.former]
    return join_sentences([*lines, *_foot(report, extract_keywords(message), _grade(points))])


def as_markdown(report: SearchReport, message: str = "") -> str:
    """Render the search for a message for a chat."""
    points = _points(report, message)
    lines = [join_sentences(("**", _head(report), "**"), ""), ""]
    for memory, score in points:
        why = memory.explain()
        lines.append(f"- **{why.score:.2f}** #{why.record} {_shorten(memory.record.text)}")
        lines += [join_sentences(("  - ", line), "") for line in _details(memory, why, score)]
    lines += [f"- {round(each.relevance, DIGITS):.2f} {_turn(each)}" for each in report.excerpts]
    lines += [_shorten(each.line) for each in report.former]
    blank = [""] if report.memories else []
    return join_sentences([*lines, *blank, *_foot(report, extract_keywords(message), _grade(points))])


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
    about = {"level": report.level, "score": round(report.score, DIGITS), "memories": len(report.memories)}
    key = "recall.head_with_excerpts" if report.excerpts else "recall.head"
    return Sentence(key, **about, excerpts=len(report.excerpts), tokens=report.tokens, budget=report.budget)


def _details(memory: RecalledMemory, why: MatchExplanation, points: KeywordScore) -> list[str]:
    record = memory.record
    words = ", ".join(points.matched)
    keywords = Sentence("recall.keywords", words=words, points=points.score) if words else ""
    origin = Sentence(
        "recall.origin",
        category=record.category,
        subject=record.subject or "owner",
        source=record.source,
        day=record.created[:10],
        confidence=round(record.confidence, DIGITS),
        today=round(memory.current_confidence, DIGITS),
    )
    return [line for line in (why.sentence(), keywords, why.score_parts(), origin) if line]


def _turn(excerpt: Excerpt) -> str:
    return f"turn {excerpt.turn.inbox_id or excerpt.turn.id}, {excerpt.turn.at[:16]}"


def _foot(report: SearchReport, keywords: Sequence[str], grade: KeywordGrade) -> list[str]:
    terms = ", ".join(report.query_terms)
    lines: list[str] = [Sentence("recall.looked_for", terms=terms) if terms else Sentence("recall.looked_for_nothing")]
    if keywords:
        graded = {"words": ", ".join(keywords), "level": grade.level, "points": grade.score}
        lines.append(Sentence("recall.all_keywords", **graded))
    if report.subjects:
        lines.append(Sentence("recall.about", subjects=", ".join(report.subjects)))
    if report.dropped:
        dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(report.dropped.items()))
        lines.append(Sentence("recall.left_out", dropped=dropped))
    return lines


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
