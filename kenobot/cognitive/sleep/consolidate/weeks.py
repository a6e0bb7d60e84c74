"""Sum up days that are no longer hot, one summary a scope and week of the calendar.

A summary holds the surviving lines of its days, shortened, or what a model made of them. It grows as the days of its
week turn warm, also after missed nights, and loses what was superseded since. It is made of the facts, which stay as
they are: what it leaves out is still remembered. A model is asked once a week is whole. What a person wrote into a
week's file stays; new days are added below it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby

from kenobot.cognitive.policy.sleep import DecayPolicy
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import AddLink, AdmitRecord, Change, UpdateRecord, expire
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records, tiers
from kenobot.core import redaction
from kenobot.language import calendar
from kenobot.language.quoting import IMPORTED, quote_untrusted
from kenobot.language.sanitize import sanitize
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

_DIGEST = "of"  # attribute of a summary: the digest of the facts it was written of
_WRITER = "hand"  # another: who wrote it
_SUMMARY_TOKENS = 1_200


@dataclass(frozen=True, slots=True)
class _Week:
    """A week of a scope: its facts so far, and its summary.

    name: YYYY-Www. first, until: its first day, and its last that is warm. new: facts the summary was not made of.
    """

    name: str
    first: str
    until: str
    is_whole: bool
    facts: list[Record]
    summary: Record | None
    new: tuple[int, ...]

    @property
    def is_by_person(self) -> bool:
        return self.summary is not None and self.summary.trust == "owner"

    @property
    def is_by_model(self) -> bool:
        """Return whether a model has summed up just these facts."""
        attributes = self.summary.attribute_map if self.summary is not None else {}
        return attributes.get(_WRITER) == "model" and attributes.get(_DIGEST) == _facts_digest(self.facts)


def plan(view: NightView) -> Iterator[Change]:
    """Write the summaries that are missing, or no longer say what their days say."""
    for week in _warm_weeks(view):
        change = _extend(week, view) if week.is_by_person else _sum_up(week, view)
        if change is not None:
            yield change


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask for the summary of each whole week that no model has summed up as it stands: the newest first."""
    open_weeks = [w for w in _warm_weeks(view) if not w.is_by_person and w.is_whole and not w.is_by_model]
    asked = (_summary_question(week.facts, view.policy.decay) for week in reversed(open_weeks))
    return [question for question in asked if question is not None]


def days_of_week(name: str) -> tuple[str, str]:
    """Return Monday and Sunday, YYYY-MM-DD, of the week called YYYY-Www. Raises ValueError."""
    monday = date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
    return monday.isoformat(), (monday + timedelta(days=6)).isoformat()


def _warm_weeks(view: NightView) -> Iterator[_Week]:
    """Yield the weeks that may need a change.

    A summary that its owner forgot, and not a fact in it, is not made again.
    """
    last_warm = view.days_ago(view.policy.sleep.hot_days + 1)
    for scope in tiers.all_scopes(view.connection):
        names = {calendar.week_of(day) for day in tiers.daily_log_days(view.connection, scope, last_warm)}
        names |= {record.key.rpartition(":")[2] for record in tiers.week_summaries(view.connection, scope)}
        lost, unwanted = tiers.list_forgotten_weeks(view.connection, scope)
        for name in sorted((names | lost) - unwanted):
            first, last = days_of_week(name)
            until = min(last, last_warm)
            summary = records.slot_record(view.connection, scope, "summary", f"{tiers.WEEK}{name}")
            facts = tiers.list_logged_between(view.connection, scope, first, until)
            linked = tiers.list_derived_from(view.connection, summary.id) if summary is not None else set()
            new = tuple(record.id for record in facts if record.id not in linked)
            yield _Week(name, first, until, last <= last_warm, facts, summary, new)


def _sum_up(week: _Week, view: NightView) -> Change | None:
    summary, policy = week.summary, view.policy.decay
    if not week.facts:
        reason = Sentence("reasons.week_empty", week=week.name)
        return expire(summary, reason, stamp(view.now)) if summary is not None else None
    if summary is not None and not week.new and (summary.tier == tiers.ARCHIVE or week.is_by_model):
        return None
    question = _summary_question(week.facts, policy) if week.is_whole else None
    answer = view.answer(question) if question is not None else None
    written = _summary_by_model(week.name, week.facts, answer, policy) if answer is not None else None
    text = written or summary_by_rules(week.name, week.facts, policy)
    return _change(week, sanitize(text, view.policy.max_text_chars), "model" if written else "rules")


def _extend(week: _Week, view: NightView) -> Change | None:
    """Add new days below what a person wrote."""
    if not week.new:
        return None
    assert week.summary is not None
    added = [record for record in week.facts if record.id in week.new]
    below = _facts_by_day(added, view.policy.decay.line_chars)
    longest = view.policy.max_text_chars
    text = sanitize(f"{week.summary.text}\n\n{below}", longest + 1)
    return _change(week, text if len(text) <= longest else week.summary.text, "")


def _change(week: _Week, text: str, writer: str) -> Change | None:
    """Write a summary, or link its new facts. writer: "" for a person, whose words it then still is."""
    if redaction.find_secret(text) is not None:
        return None  # memory refuses it, in this night and in every other
    summary, reason = week.summary, Sentence("reasons.days_summed_up", week=week.name, until=week.until)
    if summary is not None and summary.text == text:
        links = tuple(AddLink(summary.id, number, "derived", reason) for number in week.new)
        return Change("summed up", reason, links, summary.id) if links else None
    candidate = Candidate(
        form="summary",
        scope=week.facts[0].scope,
        text=text,
        category="week",
        source="sleep",
        trust="model" if writer else "owner",
        slot=f"{tiers.WEEK}{week.name}",
        attributes=((_WRITER, writer), (_DIGEST, _facts_digest(week.facts))) if writer else (),
        importance=0.3,
    )
    learn = AdmitRecord(candidate, derived_from=week.new, day=week.first)
    if summary is None:
        return Change("summed up", reason, (learn,))
    reopened = (UpdateRecord(summary.id, {"tier": tiers.DAILY}),) if summary.tier == tiers.ARCHIVE else ()
    return Change("summed up", reason, (*reopened, learn), summary.id)


# ── the text by rules ────────────────────────────────────────────────────────────────────────────────────────────


def is_own_words(record: Record) -> bool:
    """Return whether a record is in the words of the person whose scope it is, or the bot's: others are quoted."""
    if record.is_hearsay:
        return False
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope.startswith("user:"))


def summary_by_rules(name: str, facts: Sequence[Record], policy: DecayPolicy) -> str:
    """Sum up without a model: every fact on a line; of too many the weightiest of each day, and their number."""

    def text(longest: int, most: int | None = None) -> str:
        return f"# {name}\n\n{_facts_by_day(facts, longest, most)}"

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
    text = model_answers.one_line(record.text)
    short = text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
    trust = "owner" if is_own_words(record) else IMPORTED if record.is_hearsay else record.trust
    return f"- {quote_untrusted(short, trust, record.by)}"


def _facts_by_day(facts: Sequence[Record], longest: int, most: int | None = None) -> str:
    """Return facts below the headings of their days; of each day the weightiest, at most `most`."""
    parts = []
    for day, group in groupby(facts, key=lambda record: record.day):
        records = list(group)
        kept = records if most is None else _weightiest(records, most)
        lines = [fact_line(record, longest) for record in kept]
        if len(kept) < len(records):
            lines.append(f"- (+{len(records) - len(kept)})")
        parts.append("\n".join([f"## {day}", *lines]))
    return "\n\n".join(parts)


def _weightiest(records: Sequence[Record], most: int) -> list[Record]:
    ranked = sorted(records, key=lambda record: (-record.importance, -record.mentions, record.id))[:most]
    return sorted(ranked, key=lambda record: record.id)


def _facts_digest(facts: Sequence[Record]) -> str:
    """Return a digest of a week's facts that changes once any of them has."""
    rows = [[record.id, record.text, record.trust] for record in facts]
    return hashlib.sha256(json.dumps(rows).encode("utf-8", "replace")).hexdigest()[:16]


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────


def _summary_question(facts: Sequence[Record], policy: DecayPolicy) -> ModelQuestion | None:
    """Ask for the summary of a week, shown own words only; None when there is too little to sum up."""
    own = [record for record in facts if is_own_words(record)]
    if len(own) < policy.model_from_facts:
        return None
    shown = _weightiest(own, policy.max_facts_shown)
    return model_answers.question_about(shown, "weeks", policy.line_chars, _SUMMARY_TOKENS)


def _summary_by_model(name: str, facts: Sequence[Record], answer: str, policy: DecayPolicy) -> str | None:
    """Return a model's summary, and below it others' words, quoted; None when the answer is unusable."""
    read = model_answers.find_object(answer)
    summary = read["summary"] if read is not None and set(read) == {"summary"} else None
    if not isinstance(summary, str) or not summary.strip() or len(summary.strip()) > policy.max_summary_chars:
        return None
    summary = summary.strip()
    quoted = [record for record in facts if not is_own_words(record)]
    room, most = policy.week_chars - len(summary), len(quoted)
    while (below := _facts_by_day(quoted, policy.min_line_chars, most)) and len(below) > room and most:
        most //= 2
    return "\n\n".join(part for part in (f"# {name}", summary, below if len(below) <= room else "") if part)


PASS = Pass("weeks", "consolidate", "sums up days that are over as weeks", plan, questions)
