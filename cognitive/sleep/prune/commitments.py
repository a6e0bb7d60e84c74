"""Commitments: what is resolved is kept for a while, then lets go; what is open never goes by itself.

One is resolved when its owner says that it is done or called off, when its day has passed, or when whoever noted it
marked it so. That it was said is written on the commitment, with the day.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.commitments import RESOLVED_ATTRIBUTE, resolved_on
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.prune import completion
from kenobot.cognitive.sleep.upkeep_rows import RecentUtterance
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day

_FIRST_NIGHT = timedelta(days=30)  # how far back it is looked when there was no night yet
_OVERLAP = timedelta(days=1)


def plan(view: NightView) -> Iterator[Change]:
    """Note which ones are done, and let go of those that were done long ago."""
    today = view.now.astimezone(view.zone).date()
    records = list(upkeep_rows.commitments(view.connection))
    open_ones = [record for record in records if resolved_on(record, today, view.zone) is None]
    yield from _noticed(view, open_ones)
    for record in records:
        day = resolved_on(record, today, view.zone)
        if day is None or record.policy_class == "protected":
            continue
        gone = (view.now - _end_of(day, view.zone)) >= timedelta(days=view.policy.pruning.keep_resolved_days)
        if gone and not upkeep_rows.was_reverted(view.connection, record.id, "status", "expired"):
            values = {"status": "expired", "valid_to": record.valid_to or store.stamp(view.now)}
            edit = UpdateRecord(
                record.id, values, {"attrs": record.attrs, "tags": record.tags, "updated": record.updated}
            )
            yield Change("expired", f"it was resolved on {day.isoformat()}", (edit,), record.id)


def _noticed(view: NightView, open_ones: Sequence[Record]) -> Iterator[Change]:
    """Which of the open ones somebody said are done since the last night."""
    since = view.now - _FIRST_NIGHT if view.since is None else view.since - _OVERLAP
    left = list(open_ones)
    if not left:
        return
    for said in upkeep_rows.recent_utterances(view.connection, since, view.now, view.policy.pruning.max_searched):
        theirs = [record for record in left if _may_end(said, record)]
        for sentence in completion.completion_sentences(said.text) if theirs else ():
            place = completion.completed_commitment(sentence, [record.text for record in theirs])
            if place is None or upkeep_rows.was_reopened(view.connection, theirs[place].id, said.at):
                continue
            record = theirs.pop(place)
            left.remove(record)
            yield _resolved(record, local_day(datetime.fromisoformat(said.at), view.zone))


def _may_end(said: RecentUtterance, record: Record) -> bool:
    """Whether these words can speak of this commitment: later, in its scope, by its owner or whose memory it is."""
    own = said.trust == "owner" or record.scope.startswith("user:")
    return own and said.scope == record.scope and said.at > record.created


def _resolved(record: Record, day: str) -> Change:
    attrs = json.dumps({**json.loads(record.attrs), RESOLVED_ATTRIBUTE: day}, ensure_ascii=False)
    edit = UpdateRecord(record.id, {"attrs": attrs}, {"attrs": record.attrs})
    return Change("resolved", f"on {day} it was said to be done, or called off", (edit,), record.id)


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    """When a day is over."""
    return datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(days=1)


PASS = Pass("commitments", "prune", "notes which commitments are done, and lets go of those done long ago", plan)
