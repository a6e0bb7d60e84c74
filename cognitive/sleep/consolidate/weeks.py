"""Sum up days that are no longer hot, one summary a scope and week of the calendar.

A summary grows as the days of its week turn warm, also after missed nights, and loses what was superseded since. It is
made of the facts, which stay as they are: what it leaves out is still remembered. A model is asked once a week is
whole. What a person wrote into a week's file stays; new days are added below it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kenobot.cognitive.remember.admit_context import sanitize
from kenobot.cognitive.sleep.consolidate import week_summary
from kenobot.cognitive.sleep.consolidate.week_summary import CalendarWeek
from kenobot.cognitive.sleep.plan.changes import AddLink, AdmitRecord, Change, UpdateRecord, expire
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records, tiers
from kenobot.cognitive.store.records import Record, stamp
from kenobot.core import redaction
from kenobot.ports.memory import Candidate

_DIGEST = "of"  # attribute of a summary: the digest of the facts it was written of
_WRITER = "hand"  # another: who wrote it


@dataclass(frozen=True, slots=True)
class _Week:
    """A week of a scope: its facts so far, and its summary. new: the facts that the summary was not made of."""

    calendar: CalendarWeek
    last_warm: str
    facts: list[Record]
    summary: Record | None
    new: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        return self.calendar.last <= self.last_warm

    @property
    def is_by_person(self) -> bool:
        return self.summary is not None and self.summary.trust == "owner"

    @property
    def is_by_model(self) -> bool:
        """Whether a model has summed up just these facts."""
        attributes = self.summary.attribute_map if self.summary is not None else {}
        digest = week_summary.facts_digest(self.facts)
        return attributes.get(_WRITER) == "model" and attributes.get(_DIGEST) == digest


def plan(view: NightView) -> Iterator[Change]:
    """Write the summaries that are missing, or no longer say what their days say."""
    for week in _warm_weeks(view):
        change = _extend(week, view) if week.is_by_person else _sum_up(week, view)
        if change is not None:
            yield change


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask for the summary of each whole week that no model has summed up as it stands: the newest first."""
    open_weeks = [w for w in _warm_weeks(view) if not w.is_by_person and w.is_whole and not w.is_by_model]
    asked = (week_summary.summary_question(week.facts, view.policy.decay) for week in reversed(open_weeks))
    return [question for question in asked if question is not None]


def _warm_weeks(view: NightView) -> Iterator[_Week]:
    """The weeks that may need a change. A summary that its owner forgot, and not a fact in it, is not made again."""
    last_warm = view.days_ago(view.policy.sleep.hot_days + 1)
    for scope in tiers.all_scopes(view.connection):
        names = {week_summary.week_of(day).name for day in tiers.daily_log_days(view.connection, scope, last_warm)}
        names |= {record.key.rpartition(":")[2] for record in tiers.week_summaries(view.connection, scope)}
        lost, unwanted = tiers.forgotten_weeks(view.connection, scope)
        for name in sorted((names | lost) - unwanted):
            calendar = week_summary.week_named(name)
            summary = records.slot_record(view.connection, scope, "summary", f"{tiers.WEEK}{name}")
            facts = tiers.logged_between(view.connection, scope, calendar.first, min(calendar.last, last_warm))
            linked = tiers.derived_from_ids(view.connection, summary.id) if summary is not None else set()
            new = tuple(record.id for record in facts if record.id not in linked)
            yield _Week(calendar, last_warm, facts, summary, new)


def _sum_up(week: _Week, view: NightView) -> Change | None:
    summary, policy = week.summary, view.policy.decay
    if not week.facts:
        reason = f"nothing is left of {week.calendar.name} that its summary could say"
        return expire(summary, reason, stamp(view.now)) if summary is not None else None
    if summary is not None and not week.new and (summary.tier == tiers.ARCHIVE or week.is_by_model):
        return None
    question = week_summary.summary_question(week.facts, policy) if week.is_whole else None
    answer = view.answer(question) if question is not None else None
    written = week_summary.summary_by_model(week.calendar, week.facts, answer, policy) if answer is not None else None
    text = written or week_summary.summary_by_rules(week.calendar, week.facts, policy)
    return _change(week, sanitize(text, view.policy.max_text_chars), "model" if written else "rules")


def _extend(week: _Week, view: NightView) -> Change | None:
    """Add new days below what a person wrote."""
    if not week.new:
        return None
    assert week.summary is not None
    added = [record for record in week.facts if record.id in week.new]
    below = week_summary.facts_by_day(added, view.policy.decay.line_chars)
    longest = view.policy.max_text_chars
    text = sanitize(f"{week.summary.text}\n\n{below}", longest + 1)
    return _change(week, text if len(text) <= longest else week.summary.text, "")


def _change(week: _Week, text: str, writer: str) -> Change | None:
    """writer: "" for a person, whose words it then still is."""
    if redaction.find_secret(text) is not None:
        return None  # memory refuses it, in this night and in every other
    calendar, summary = week.calendar, week.summary
    reason = f"the days of {calendar.name} until {min(calendar.last, week.last_warm)} are summed up"
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
        slot=f"{tiers.WEEK}{calendar.name}",
        attributes=((_WRITER, writer), (_DIGEST, week_summary.facts_digest(week.facts))) if writer else (),
        importance=0.3,
    )
    learn = AdmitRecord(candidate, derived_from=week.new, day=calendar.first)
    if summary is None:
        return Change("summed up", reason, (learn,))
    reopened = (UpdateRecord(summary.id, {"tier": tiers.DAILY}),) if summary.tier == tiers.ARCHIVE else ()
    return Change("summed up", reason, (*reopened, learn), summary.id)


PASS = Pass("weeks", "consolidate", "sums up days that are over as weeks", plan, questions)
