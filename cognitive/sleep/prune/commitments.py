"""Commitments: a resolved one is kept for a while and then expires; an open one never goes by itself.

One is resolved when its owner says that it is done or called off, or when it was marked so. The day on which that was
said is written on the commitment. When its day has passed it is overdue, and asked about once.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta

from kenobot.cognitive.beliefs.lifecycle import RESOLVED_ATTRIBUTE, due_on, resolved_on
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.pass_rows import RecentUtterance
from kenobot.cognitive.sleep.plan.changes import Change, expire, question_about, unchanged, update
from kenobot.cognitive.sleep.plan.model_answers import one_line
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import tiers
from kenobot.cognitive.store.records import Record, stamp
from kenobot.cognitive.text.calendar import local_day
from kenobot.cognitive.text.completions import completed_commitment, completion_sentences, names_part

OVERDUE = "overdue"
_FIRST_NIGHT = timedelta(days=30)  # how far back to look without an earlier night
_OVERLAP = timedelta(days=1)


def plan(view: NightView) -> Iterator[Change]:
    """Resolve commitments that are done, and expire those that were resolved long ago."""
    records = pass_rows.commitments(view.connection)
    days = {record.id: resolved_on(record, view.today, view.zone) for record in records}
    left_open = [record for record in records if days[record.id] is None]
    resolved = list(_newly_resolved(view, left_open))
    yield from resolved
    done = {change.record for change in resolved}
    yield from _questions(view, [record for record in left_open if record.id not in done])
    for record in records:
        day = days[record.id]
        if day is None or record.policy_class == "protected":
            continue
        end_of_day = datetime.combine(day, time(), view.zone) + timedelta(days=1)
        is_over = view.now - end_of_day >= timedelta(days=view.policy.pruning.keep_resolved_days)
        if is_over and not pass_rows.was_reverted(view.connection, record.id, "status", "expired"):
            reason, end = f"it was resolved on {day.isoformat()}", record.valid_to or stamp(view.now)
            yield expire(record, reason, end, unchanged(record, "attributes", "tags", "updated"))


def _newly_resolved(view: NightView, records: Sequence[Record]) -> Iterator[Change]:
    """Resolve the open commitments that people said are done since the last night."""
    since = view.now - _FIRST_NIGHT if view.since is None else view.since - _OVERLAP
    left = list(records)
    if not left:
        return
    for utterance in pass_rows.recent_utterances(view.connection, since, view.now, view.policy.pruning.max_searched):
        concerned = [record for record in left if _may_end(utterance, record)]
        for sentence in completion_sentences(utterance.text) if concerned else ():
            place = completed_commitment(sentence, [record.text for record in concerned])
            if place is None or names_part(sentence, concerned[place].text):
                continue
            if pass_rows.was_ever_undone(view.connection, concerned[place].id, utterance.at):
                continue
            record = concerned.pop(place)
            left.remove(record)
            yield _resolve(record, local_day(datetime.fromisoformat(utterance.at), view.zone))


def _questions(view: NightView, left_open: Sequence[Record]) -> Iterator[Change]:
    """Ask once about each commitment that is overdue; close the questions about those that no longer are."""
    overdue = {record.id: record for record in left_open if (due := due_on(record)) is not None and due < view.today}
    for question in pass_rows.records_of_form(view.connection, "question", OVERDUE):
        about = tiers.derived_from_ids(view.connection, question.id)
        if question.status == "active" and about.isdisjoint(overdue):
            yield expire(question, "it is open no longer", stamp(view.now), touch=True)
        for number in about:
            overdue.pop(number, None)
    for record in overdue.values():
        yield _question(view, record)


def _question(view: NightView, record: Record) -> Change:
    day, language = due_on(record), "es" if record.lang == "es" else "en"
    [question] = texts("overdue", language, text=one_line(record.text), day=day)
    expires = view.now + timedelta(days=view.policy.pruning.ask_overdue_days)
    ask = question_about(question, OVERDUE, record, expires=expires)
    return Change("asked", f"its day, {day}, has passed, and nothing said that it is done", (ask,), record.id)


def _may_end(utterance: RecentUtterance, record: Record) -> bool:
    """Return whether words can speak of a commitment: later, in its scope, by its owner or whose memory it is."""
    own = utterance.trust == "owner" or record.scope.startswith("user:")
    return own and utterance.scope == record.scope and utterance.at > record.created


def _resolve(record: Record, day: str) -> Change:
    attrs = json.dumps({**json.loads(record.attributes), RESOLVED_ATTRIBUTE: day}, ensure_ascii=False)
    reason = f"on {day} it was said to be done, or called off"
    return update(record, "resolved", reason, {"attributes": attrs}, unchanged(record, "attributes"))


PASS = Pass("commitments", "prune", "notes which commitments are done, and lets go of those done long ago", plan)
