"""Archive what time has made worthless: old facts that were hardly used, unmentioned records, and faded beliefs."""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.value import is_consolidated, is_explicit, is_protected, never_fades, strength
from kenobot.cognitive.policy.beliefs import ValuePolicy
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.edits import unchanged, update
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import ALL_SCOPES

_JUDGED = ("category", "importance", "tier", "use_count", "verification", "policy_class")
_CYCLE = ("last_seen", "last_used", "confirmed", "verification", "policy_class", "lifecycle")
_BELIEF = ("last_seen", "last_used", "confirmed", "confidence", "stability", "verification", "policy_class")
_ARCHIVED: dict[str, ColumnValue] = {"status": "archived", "lifecycle": "archived"}


def _old_facts(view: NightView) -> Iterator[Change]:
    """Archive facts that are old, matter little and were hardly used."""
    policy = view.policy.pruning
    before = view.now - timedelta(days=policy.archive_days)
    for record in pass_rows.archivable_records(view.connection, before, policy):
        if _may_be_archived(record, view.policy.value) and not _was_reverted(view, record, _ARCHIVED):
            used = f"{record.use_count} use{'' if record.use_count == 1 else 's'}"
            age = f"older than {policy.archive_days:.0f} days"
            reason = f"{age}, of little importance ({record.importance:.2f}), {used}"
            yield update(record, "archived", reason, _ARCHIVED, unchanged(record, *_JUDGED))


def _may_be_archived(record: Record, policy: ValuePolicy) -> bool:
    """Neither protected, nor the owner's explicit word, nor in MEMORY.md."""
    keeps = is_consolidated(record) or is_explicit(record, policy) or is_protected(record, policy)
    return not keeps and record.category not in policy.protected_categories


def _silent_records(view: NightView) -> Iterator[Change]:
    """Cool and archive what is due by `kenobot.cognitive.beliefs.lifecycle`."""
    for move in lifecycle.plan_due_events(view.connection, view.now, ALL_SCOPES, view.policy.value):
        values = lifecycle.event_changes(move.record, move.event, view.now, view.policy.value)
        if values and not _was_reverted(view, move.record, values):
            expects = unchanged(move.record, *_CYCLE)
            yield update(move.record, move.event, move.reason, values, expects, shown="status" in values)


def _faded_beliefs(view: NightView) -> Iterator[Change]:
    """Mark fading beliefs as stale, and archive faded ones.

    Recall, repetition and confirmation stop that. What is protected, explicit or in MEMORY.md does not fade; neither
    do episodes.
    """
    policy = view.policy.value
    quiet_since = view.now - timedelta(days=policy.quiet_days)
    for record in pass_rows.fading_beliefs(view.connection, quiet_since, policy.explicit_from):
        if never_fades(record, policy):
            continue
        belief = strength(record, view.now, policy)
        if belief < policy.faded_below:
            kind, values = "pruned", _ARCHIVED
        elif belief < view.policy.pruning.stale_below and record.lifecycle != "stale":
            kind, values = "cooled", {"lifecycle": "stale"}
        else:
            continue
        if not _was_reverted(view, record, values):
            reason = f"believed at {belief:.2f} after silence, of {record.confidence:.2f} when it was last heard of"
            yield update(record, kind, reason, values, unchanged(record, *_BELIEF), shown="status" in values)


def _was_reverted(view: NightView, record: Record, values: dict[str, ColumnValue]) -> bool:
    column = "status" if "status" in values else "lifecycle"
    return pass_rows.was_reverted(view.connection, record.id, column, values[column])


ARCHIVAL = Pass("archival", "prune", "archives facts that are old, matter little and were hardly used", _old_facts)
LIFECYCLE = Pass("lifecycle", "prune", "cools what nobody speaks of, and archives what has faded", _silent_records)
BELIEFS = Pass(
    "beliefs", "prune", "marks beliefs that faded as stale, and lets go of those that faded away", _faded_beliefs
)
