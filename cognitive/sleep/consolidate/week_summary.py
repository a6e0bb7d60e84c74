"""The text of a week's summary: its surviving lines by day, shortened; or what a model made of them. Pure."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from kenobot.cognitive.policy.sleep import DecayPolicy
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.passes import ModelQuestion
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text import calendar
from kenobot.cognitive.text.quoting import quote_untrusted

_SUMMARY_TOKENS = 1_200


@dataclass(frozen=True, slots=True)
class CalendarWeek:
    """A week of the calendar. name: YYYY-Www. first, last: Monday and Sunday, YYYY-MM-DD."""

    name: str
    first: str
    last: str


def week_of(day: str) -> CalendarWeek:
    """The week of a day, YYYY-MM-DD."""
    return week_named(calendar.week_of(day))


def week_named(name: str) -> CalendarWeek:
    """The week called YYYY-Www. Raises ValueError."""
    monday = date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
    return CalendarWeek(name, monday.isoformat(), (monday + timedelta(days=6)).isoformat())


def is_own_words(record: Record) -> bool:
    """Whether a record is in the words of the person whose scope it is, or the bot's: others are quoted."""
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope.startswith("user:"))


def facts_digest(facts: Sequence[Record]) -> str:
    """A digest of a week's facts that changes once any of them has."""
    rows = [[record.id, record.text, record.trust] for record in facts]
    return hashlib.sha256(json.dumps(rows).encode("utf-8", "replace")).hexdigest()[:16]


def summary_by_rules(week: CalendarWeek, facts: Sequence[Record], policy: DecayPolicy) -> str:
    """The summary without a model: every fact on a line; of too many the weightiest of each day, and their number."""
    longest = policy.line_chars
    while (text := _text(week, facts, longest)) and len(text) > policy.week_chars and longest > policy.min_line_chars:
        longest = max(policy.min_line_chars, longest * 2 // 3)
    if len(text) <= policy.week_chars:
        return text
    low, high = 0, len(facts)  # the most lines a day that fit
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(_text(week, facts, longest, middle)) <= policy.week_chars
        low, high = (middle, high) if fits else (low, middle - 1)
    return _text(week, facts, longest, low)


def facts_by_day(facts: Sequence[Record], longest: int, most: int | None = None) -> str:
    """Facts below the headings of their days; of each day the weightiest, at most `most`."""
    parts = []
    for day, group in groupby(facts, key=lambda record: record.day):
        records = list(group)
        kept = records if most is None else _weightiest(records, most)
        lines = [fact_line(record, longest) for record in kept]
        if len(kept) < len(records):
            lines.append(f"- (+{len(records) - len(kept)})")
        parts.append("\n".join([f"## {day}", *lines]))
    return "\n\n".join(parts)


def fact_line(record: Record, longest: int) -> str:
    """A fact on one line. Others' words are quoted, so that they cannot pass for the owner's."""
    text = model_answers.one_line(record.text)
    short = text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
    return f"- {quote_untrusted(short, 'owner' if is_own_words(record) else record.trust, record.by)}"


def _text(week: CalendarWeek, facts: Sequence[Record], longest: int, most: int | None = None) -> str:
    return f"# {week.name}\n\n{facts_by_day(facts, longest, most)}"


def _weightiest(records: Sequence[Record], most: int) -> list[Record]:
    ranked = sorted(records, key=lambda record: (-record.importance, -record.mentions, record.id))[:most]
    return sorted(ranked, key=lambda record: record.id)


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────


def summary_question(facts: Sequence[Record], policy: DecayPolicy) -> ModelQuestion | None:
    """Ask for the summary of a week, shown own words only; None when there is too little to sum up."""
    own = [record for record in facts if is_own_words(record)]
    if len(own) < policy.model_from_facts:
        return None
    shown = _weightiest(own, policy.max_facts_shown)
    return model_answers.question_about(shown, "weeks", policy.line_chars, _SUMMARY_TOKENS)


def summary_by_model(week: CalendarWeek, facts: Sequence[Record], answer: str, policy: DecayPolicy) -> str | None:
    """A model's summary, and below it others' words, quoted; None when the answer is unusable."""
    read = model_answers.parse_object(answer)
    summary = read["summary"] if read is not None and set(read) == {"summary"} else None
    if not isinstance(summary, str) or not summary.strip() or len(summary.strip()) > policy.max_summary_chars:
        return None
    summary = summary.strip()
    quoted = [record for record in facts if not is_own_words(record)]
    room, most = policy.week_chars - len(summary), len(quoted)
    while (below := facts_by_day(quoted, policy.min_line_chars, most)) and len(below) > room and most:
        most //= 2
    return "\n\n".join(part for part in (f"# {week.name}", summary, below if len(below) <= room else "") if part)
