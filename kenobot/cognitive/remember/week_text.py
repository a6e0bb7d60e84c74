"""Write the summary of a week by rules: its facts by day, shortened, others' words quoted."""

import hashlib
import json
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import groupby

from kenobot.cognitive.policy.sleep import DecayPolicy
from kenobot.language.quoting import IMPORTED, quote_untrusted
from kenobot.ports.records import Record

DIGEST = "of"
"""Attribute of a summary: the digest of the facts it was written of."""

WRITER = "hand"
"""Another: who wrote it, "rules" or "model"."""


def days_of_week(name: str) -> tuple[str, str]:
    """Return Monday and Sunday, YYYY-MM-DD, of the week called YYYY-Www. Raises ValueError."""
    monday = date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
    return monday.isoformat(), (monday + timedelta(days=6)).isoformat()


def is_own_words(record: Record) -> bool:
    """Return whether a record is in the words of the person whose scope it is, or the bot's: others are quoted."""
    if record.is_hearsay:
        return False
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope.startswith("user:"))


def summary_by_rules(name: str, facts: Sequence[Record], policy: DecayPolicy) -> str:
    """Sum up without a model: every fact on a line; of too many the weightiest of each day, and their number."""

    def text(longest: int, most: int | None = None) -> str:
        return f"# {name}\n\n{list_by_day(facts, longest, most)}"

    longest = policy.line_chars
    while len(text(longest)) > policy.week_chars and longest > policy.min_line_chars:
        longest = max(policy.min_line_chars, longest * 2 // 3)
    if len(whole := text(longest)) <= policy.week_chars:
        return whole
    low, high = 0, len(facts)  # the most lines a day that fit
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(text(longest, middle)) <= policy.week_chars
        low, high = (middle, high) if fits else (low, middle - 1)
    return text(longest, low)


def fact_line(record: Record, longest: int) -> str:
    """Return a fact on one line. Others' words are quoted, so that they cannot pass for the owner's."""
    text = " ".join(record.text.split())
    short = text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
    trust = "owner" if is_own_words(record) else IMPORTED if record.is_hearsay else record.trust
    return f"- {quote_untrusted(short, trust, record.by)}"


def list_by_day(facts: Sequence[Record], longest: int, most: int | None = None) -> str:
    """List facts below the headings of their days; of each day the weightiest, at most `most`."""
    parts = []
    for day, group in groupby(facts, key=lambda record: record.day):
        records = list(group)
        kept = records if most is None else select_weightiest(records, most)
        lines = [fact_line(record, longest) for record in kept]
        if len(kept) < len(records):
            lines.append(f"- (+{len(records) - len(kept)})")
        parts.append("\n".join([f"## {day}", *lines]))
    return "\n\n".join(parts)


def select_weightiest(records: Sequence[Record], most: int) -> list[Record]:
    """Select the weightiest records, in the order they came."""
    ranked = sorted(records, key=lambda record: (-record.importance, -record.mentions, record.id))[:most]
    return sorted(ranked, key=lambda record: record.id)


def hash_facts(facts: Sequence[Record]) -> str:
    """Return a digest of a week's facts that changes once any of them has."""
    rows = [[record.id, record.text, record.trust] for record in facts]
    return hashlib.sha256(json.dumps(rows).encode("utf-8", "replace")).hexdigest()[:16]
