"""Facts that are old, matter little and were hardly ever used leave what is recalled. They are not gone: see `undo`."""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs.value import is_consolidated, is_explicit, is_protected
from kenobot.cognitive.policy.pruning import PruningPolicy
from kenobot.cognitive.policy.value import ValuePolicy
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record

_JUDGED = ("category", "importance", "tier", "uses", "verification", "policy_class")


def is_archivable(record: Record, age_days: float, policy: PruningPolicy, value: ValuePolicy) -> bool:
    """Whether a record of that age is one that nobody will miss. Pure; Engram's rule of archival.

    What its owner said in so many words, what is protected, and what stands in MEMORY.md is none.
    """
    return (
        record.status == "active"
        and record.form in ("note", "episode")
        and age_days > policy.archive_days
        and record.importance < policy.archive_importance
        and record.uses <= policy.archive_uses
        and record.category not in value.protected_categories | {"correction"}
        and not is_consolidated(record)
        and not is_explicit(record, value)
        and not is_protected(record, value)
    )


def plan(view: NightView) -> Iterator[Change]:
    """Archive what nobody will miss."""
    policy, value = view.policy.pruning, view.policy.value
    before = view.now - timedelta(days=policy.archive_days)
    for record in upkeep_rows.archivable_records(view.connection, before, policy):
        if not is_archivable(record, float("inf"), policy, value):  # it is old enough, or it would not have been found
            continue
        if upkeep_rows.was_reverted(view.connection, record.id, "status", "archived"):
            continue
        used = f"{record.uses} use{'' if record.uses == 1 else 's'}"
        reason = f"older than {policy.archive_days:.0f} days, of little importance ({record.importance:.2f}), {used}"
        expects: dict[str, ColumnValue] = {name: getattr(record, name) for name in _JUDGED}
        edit = UpdateRecord(record.id, {"status": "archived", "lifecycle": "archived"}, expects)
        yield Change("archived", reason, (edit,), record.id)


PASS = Pass("archival", "prune", "archives facts that are old, matter little and were hardly used", plan)
