"""Weeks: days that are no longer hot are summed up, one summary a scope and week of the calendar.

A summary grows as the days of its week turn warm, also after nights that were missed, and loses what was superseded
since. It is made of the facts, which stay as they are: what it leaves out is still remembered. A model is asked once a
week is whole. What a person wrote into a week's file stays; new days are added below it.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from kenobot.cognitive.remember.admit_context import sanitize
from kenobot.cognitive.sleep.consolidate import week_summary
from kenobot.cognitive.sleep.consolidate.week_summary import CalendarWeek
from kenobot.cognitive.sleep.plan.changes import AddLink, AdmitRecord, Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records, tiers
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day
from kenobot.core import redaction
from kenobot.ports.memory import Candidate

_WORDS_OF = "of"  # an attribute of a summary: the digest of the facts it was written of
_HAND = "hand"  # another: who wrote it


def plan(view: NightView) -> Iterator[Change]:
    """The summaries that are missing, or no longer say what their days say."""
    for week, told, known in _warm(view):
        change = _by_hand(week, told, known, view) if _is_persons(known) else _summed_up(week, told, known, view)
        if change is not None:
            yield change


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """For each week that is whole and not yet summed up by a model as it stands: the newest first."""
    found = [
        asked
        for week, told, known in _warm(view)
        if not _is_persons(known) and _is_whole(week, view) and not _is_written(told, known)
        if (asked := week_summary.summary_question(told, view.policy.decay)) is not None
    ]
    return found[::-1]


def _warm(view: NightView) -> Iterator[tuple[CalendarWeek, list[Record], Record | None]]:
    """The weeks that something may have to be done about, their facts so far, and their summaries if there are any.

    A summary that its owner forgot, and not a fact in it, is not made again.
    """
    for scope in tiers.all_scopes(view.connection):
        days = tiers.daily_log_days(view.connection, scope, _last_warm(view))
        names = {week_summary.week_of(day).name for day in days}
        names |= {record.key.rpartition(":")[2] for record in tiers.week_summaries(view.connection, scope)}
        lost, unwanted = tiers.forgotten_weeks(view.connection, scope)
        names = (names | lost) - unwanted
        for name in sorted(names):
            week = week_summary.week_named(name)
            known = records.slot_record(view.connection, scope, "summary", f"{tiers.WEEK}{name}")
            told = tiers.logged_between(view.connection, scope, week.first, min(week.last, _last_warm(view)))
            yield week, told, known


def _last_warm(view: NightView) -> str:
    today = date.fromisoformat(local_day(view.now, view.zone))
    return (today - timedelta(days=view.policy.sleep.hot_days + 1)).isoformat()


def _is_whole(week: CalendarWeek, view: NightView) -> bool:
    return week.last <= _last_warm(view)


def _is_persons(known: Record | None) -> bool:
    return known is not None and known.trust == "owner"


def _is_written(told: Sequence[Record], known: Record | None) -> bool:
    """Whether a model has summed up just these facts."""
    if known is None:
        return False
    said = known.attributes
    return said.get(_HAND) == "model" and said.get(_WORDS_OF) == week_summary.facts_digest(told)


def _unlinked(view: NightView, told: Sequence[Record], known: Record | None) -> tuple[int, ...]:
    held = tiers.derived_from_ids(view.connection, known.id) if known is not None else set()
    return tuple(record.id for record in told if record.id not in held)


def _summed_up(week: CalendarWeek, told: Sequence[Record], known: Record | None, view: NightView) -> Change | None:
    if not told:
        return _emptied(week, known, view)
    new = _unlinked(view, told, known)
    if known is not None and not new and (known.tier == tiers.ARCHIVE or _is_written(told, known)):
        return None
    policy = view.policy.decay
    asked = week_summary.summary_question(told, policy) if _is_whole(week, view) else None
    answer = view.answer(asked) if asked is not None else None
    written = week_summary.summary_by_model(week, told, answer, policy) if answer is not None else None
    text = sanitize(written or week_summary.summary_by_rules(week, told, policy), view.policy.max_text_chars)
    hand = "model" if written else "rules"
    return _change(week, told[0].scope, text, known, new, hand, week_summary.facts_digest(told), view)


def _by_hand(week: CalendarWeek, told: Sequence[Record], known: Record | None, view: NightView) -> Change | None:
    """What a person wrote stays as it is; days that it was not yet made of are added below."""
    assert known is not None
    new = _unlinked(view, told, known)
    if not new:
        return None
    fresh = [record for record in told if record.id in set(new)]
    text = sanitize(
        f"{known.text}\n\n{week_summary.facts_by_day(fresh, view.policy.decay.line_chars)}",
        view.policy.max_text_chars + 1,
    )
    if len(text) > view.policy.max_text_chars:
        text = known.text
    return _change(week, known.scope, text, known, new, "", "", view)


def _change(
    week: CalendarWeek,
    scope: str,
    text: str,
    known: Record | None,
    new: tuple[int, ...],
    hand: str,
    words: str,
    view: NightView,
) -> Change | None:
    """hand: who wrote it; "" for a person, whose words it then still is."""
    if redaction.find_secret(text) is not None:
        return None  # memory refuses it, in this night and in every other
    reason = f"the days of {week.name} until {min(week.last, _last_warm(view))} are summed up"
    reopened = known is not None and known.tier == tiers.ARCHIVE
    if known is not None and known.text == text:
        ties = tuple(AddLink(known.id, number, "derived", reason) for number in new)
        return Change("summed up", reason, ties, record=known.id) if ties else None
    said = Candidate(
        form="summary",
        scope=scope,
        text=text,
        category="week",
        source="sleep",
        trust="model" if hand else "owner",
        slot=f"{tiers.WEEK}{week.name}",
        attributes=((_HAND, hand), (_WORDS_OF, words)) if hand else (),
        importance=0.3,
    )
    learn = AdmitRecord(said, derived_from=new, day=week.first)
    back = (UpdateRecord(known.id, {"tier": tiers.DAILY}),) if known is not None and reopened else ()
    return Change("summed up", reason, (*back, learn), record=known.id if known is not None else None)


def _emptied(week: CalendarWeek, known: Record | None, view: NightView) -> Change | None:
    """A summary of which nothing is left: its facts were promoted, or are no longer believed."""
    if known is None:
        return None
    reason = f"nothing is left of {week.name} that its summary could say"
    return Change(
        "expired",
        reason,
        (UpdateRecord(known.id, {"status": "expired", "valid_to": records.stamp(view.now)}),),
        record=known.id,
    )


PASS = Pass(
    name="weeks",
    phase="consolidate",
    description="sums up days that are over as weeks",
    plan=plan,
    questions=questions,
)
