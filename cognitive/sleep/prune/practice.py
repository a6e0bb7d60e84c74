"""Patterns that were hardly believed and never used go: every one of them. What was used stays, and so does a pin."""

from collections.abc import Iterator

from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.sleep.consolidate import watermark_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.scopes import ALL_SCOPES


def plan(view: NightView) -> Iterator[Change]:
    """Let patterns go that nobody used and that are unsure. What somebody brought back is left alone."""
    for record in pattern_rows.iter_patterns(view.connection, ALL_SCOPES):
        if record.policy_class == "protected" or is_kept(record.confidence, record.uses, view.policy.procedural):
            continue
        if watermark_rows.moved_by_sleep(view.connection, [record.id], "expired"):
            continue
        reason = f"its confidence is {record.confidence:.2f}, and it was never used"
        expects: dict[str, ColumnValue] = {
            "confidence": record.confidence,
            "uses": record.uses,
            "policy_class": record.policy_class,
        }
        edit = UpdateRecord(record.id, {"status": "expired", "valid_to": records.stamp(view.now)}, expects)
        yield Change("expired", reason, (edit,), record.id)


def is_kept(confidence: float, uses: int, policy: ProceduralPolicy = DEFAULT) -> bool:
    """Whether a pattern stays: it must be both unsure and unused to go (the seed's rule)."""
    return confidence >= policy.expire_below or uses > 0


PASS = Pass("practice", "prune", "lets go of patterns that are unsure and were never used", plan)
