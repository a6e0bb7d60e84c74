"""What a week's summary says: its surviving lines by day, shortened; or what a model made of them. Pure."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from kenobot.cognitive.policy.decay import DecayPolicy
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.passes import ModelQuestion
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text import calendar
from kenobot.cognitive.text.quoting import quote_untrusted

_SYSTEM = (
    "You sum up one week of a personal assistant's notes for its owner. Keep names, numbers, decisions, what was "
    "learned and what is still open; leave out what leads to nothing. Write in the language of the notes, and add "
    f"nothing of your own. {model_answers.QUOTED_DATA_NOTICE} Answer with one JSON object and nothing else: "
    '{"summary": "- one short line a point\\n- …"}.'
)
_SUMMARY_TOKENS = 1_200


@dataclass(frozen=True, slots=True)
class CalendarWeek:
    """A week of the calendar. name: YYYY-Www. first, last: Monday and Sunday, YYYY-MM-DD."""

    name: str
    first: str
    last: str


def week_of(day: str) -> CalendarWeek:
    """The week that a day, YYYY-MM-DD, belongs to."""
    return week_named(calendar.week_of(day))


def week_named(name: str) -> CalendarWeek:
    """The week called YYYY-Www. Raises ValueError."""
    monday = date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
    return CalendarWeek(name, monday.isoformat(), (monday + timedelta(days=6)).isoformat())


def is_own_words(record: Record) -> bool:
    """Whether a record is in the words of the one whose scope it is, or the bot's: what others said is quoted."""
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope.startswith("user:"))


def facts_digest(told: Sequence[Record]) -> str:
    """What tells one week's facts from the same week's when any of them has changed."""
    said = [[record.id, record.text, record.trust] for record in told]
    return hashlib.sha256(json.dumps(said).encode("utf-8", "replace")).hexdigest()[:16]


def summary_by_rules(week: CalendarWeek, told: Sequence[Record], policy: DecayPolicy) -> str:
    """The summary as it is without a model: every fact of the week on a line, and where there are too many of them for
    that, the weightiest of each day and how many there are more.
    """
    longest = policy.line_chars
    while (text := _text(week, told, longest)) and len(text) > policy.week_chars and longest > policy.min_line_chars:
        longest = max(policy.min_line_chars, longest * 2 // 3)
    if len(text) <= policy.week_chars:
        return text
    low, high = 0, len(told)  # the most lines a day that fit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if len(_text(week, told, longest, middle)) <= policy.week_chars else (low, middle - 1)
        )
    return _text(week, told, longest, low)


def facts_by_day(told: Sequence[Record], longest: int, most: int | None = None) -> str:
    """Facts below the headings of their days; of each day the weightiest, at most `most`."""
    parts = []
    for day, group in groupby(told, key=lambda record: record.day):
        records = list(group)
        kept = records if most is None else _weightiest(records, most)
        lines = [fact_line(record, longest) for record in kept]
        if len(kept) < len(records):
            lines.append(f"- (+{len(records) - len(kept)})")
        parts.append("\n".join([f"## {day}", *lines]))
    return "\n\n".join(parts)


def fact_line(record: Record, longest: int) -> str:
    """A fact on one line. What others said is quoted, so that it cannot pass for the owner's word."""
    said = " ".join(record.text.split())
    short = said if len(said) <= longest else said[: longest - 1].rstrip() + "…"
    return f"- {quote_untrusted(short, 'owner' if is_own_words(record) else record.trust, record.by)}"


def _text(week: CalendarWeek, told: Sequence[Record], longest: int, most: int | None = None) -> str:
    return f"# {week.name}\n\n{facts_by_day(told, longest, most)}"


def _weightiest(records: Sequence[Record], most: int) -> list[Record]:
    ranked = sorted(records, key=lambda record: (-record.importance, -record.seen, record.id))[:most]
    return sorted(ranked, key=lambda record: record.id)


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────


def summary_question(told: Sequence[Record], policy: DecayPolicy) -> ModelQuestion | None:
    """What to ask a model about a week; None when there is too little to sum up. Only what is the owner's own."""
    own = [record for record in told if is_own_words(record)]
    if len(own) < policy.model_from_facts:
        return None
    return ModelQuestion(
        _SYSTEM,
        model_answers.quote_records(_weightiest(own, policy.max_facts_shown), policy.line_chars),
        _SUMMARY_TOKENS,
    )


def summary_by_model(week: CalendarWeek, told: Sequence[Record], answer: str, policy: DecayPolicy) -> str | None:
    """The summary that a model wrote, and below it what others said, quoted; None when the answer is none."""
    summary = _summary(answer)
    if summary is None or len(summary) > policy.max_summary_chars:
        return None
    quoted = [record for record in told if not is_own_words(record)]
    room = policy.week_chars - len(summary)
    most = len(quoted)
    while (below := facts_by_day(quoted, policy.min_line_chars, most)) and len(below) > room and most:
        most //= 2
    return "\n\n".join(part for part in (f"# {week.name}", summary, below if len(below) <= room else "") if part)


def _summary(answer: str) -> str | None:
    found = model_answers.parse_object(answer)
    said = found.get("summary") if found is not None and set(found) == {"summary"} else None
    return said.strip() or None if isinstance(said, str) else None
