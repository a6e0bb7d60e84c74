"""Commitments: a resolved one is kept for a while and then expires; an open one never goes by itself.

One is resolved when its owner says that it is done or called off, when its day has passed, or when it was marked so.
The day on which that was said is written on the commitment.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.lifecycle import RESOLVED_ATTRIBUTE, resolved_on
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.pass_rows import RecentUtterance
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.edits import expire, unchanged, update
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.prune.completion import completed_commitment, completion_sentences
from kenobot.cognitive.store.records import Record, stamp
from kenobot.cognitive.text.calendar import local_day

_FIRST_NIGHT = timedelta(days=30)  # how far back to look without an earlier night
_OVERLAP = timedelta(days=1)


def plan(view: NightView) -> Iterator[Change]:
    """Resolve commitments that are done, and expire those that were resolved long ago."""
    records = pass_rows.commitments(view.connection)
    days = {record.id: resolved_on(record, view.today, view.zone) for record in records}
    yield from _newly_resolved(view, [record for record in records if days[record.id] is None])
    for record in records:
        day = days[record.id]
        if day is None or record.policy_class == "protected":
            continue
        is_over = (view.now - _end_of(day, view.zone)) >= timedelta(days=view.policy.pruning.keep_resolved_days)
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
            if place is None or pass_rows.was_ever_undone(view.connection, concerned[place].id, utterance.at):
                continue
            record = concerned.pop(place)
            left.remove(record)
            yield _resolve(record, local_day(datetime.fromisoformat(utterance.at), view.zone))


def _may_end(utterance: RecentUtterance, record: Record) -> bool:
    """Whether words can speak of a commitment: later, in its scope, by its owner or whose memory it is."""
    own = utterance.trust == "owner" or record.scope.startswith("user:")
    return own and utterance.scope == record.scope and utterance.at > record.created


def _resolve(record: Record, day: str) -> Change:
    attrs = json.dumps({**json.loads(record.attributes), RESOLVED_ATTRIBUTE: day}, ensure_ascii=False)
    reason = f"on {day} it was said to be done, or called off"
    return update(record, "resolved", reason, {"attributes": attrs}, unchanged(record, "attributes"))


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(days=1)


PASS = Pass("commitments", "prune", "notes which commitments are done, and lets go of those done long ago", plan)
