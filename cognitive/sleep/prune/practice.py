"""Patterns that were hardly believed and never used go: every one of them. What was used stays, and so does a pin."""

from collections.abc import Iterator

from kenobot.cognitive.policy.practice import DEFAULT, PracticePolicy
from kenobot.cognitive.procedural import practice_store
from kenobot.cognitive.sleep.consolidate import judged_store
from kenobot.cognitive.sleep.plan.changes import Change, Edit
from kenobot.cognitive.sleep.plan.passes import Pass, View
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import Value
from kenobot.cognitive.store.scopes import WHOLE_HOME


def plan(view: View) -> Iterator[Change]:
    """Let patterns go that nobody used and that are unsure. What somebody brought back is left alone."""
    for record in practice_store.pages(view.connection, WHOLE_HOME):
        if record.policy_class == "protected" or is_kept(record.confidence, record.uses, view.policy.practice):
            continue
        if judged_store.moved_by_sleep(view.connection, [record.id], "expired"):
            continue
        reason = f"its confidence is {record.confidence:.2f}, and it was never used"
        expects: dict[str, Value] = {
            "confidence": record.confidence,
            "uses": record.uses,
            "policy_class": record.policy_class,
        }
        edit = Edit(record.id, {"status": "expired", "valid_to": records.stamp(view.now)}, expects)
        yield Change("expired", reason, (edit,), record.id)


def is_kept(confidence: float, uses: int, policy: PracticePolicy = DEFAULT) -> bool:
    """Whether a pattern stays: it must be both unsure and unused to go (the seed's rule)."""
    return confidence >= policy.unsure or uses > 0


PASS = Pass("practice", "prune", "lets go of patterns that are unsure and were never used", plan)
