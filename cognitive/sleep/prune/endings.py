"""Expire what is over: unconfirmed guesses, what held until a day, quiet scratchpads, and unused unsure patterns."""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs.value import days_since, is_protected
from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.remember.classify import tier_of_confidence
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.edits import expire, unchanged, update
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store.records import stamp
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.cognitive.text.calendar import parse_time


def _ended(view: NightView) -> Iterator[Change]:
    """Expire records at the end they were given. A guess that is protected, or matters too much, loses its end."""
    for record in pass_rows.expired_records(view.connection, view.now):
        end = parse_time(record.expires or "")
        if end is None or pass_rows.was_reverted(view.connection, record.id, "status", "expired"):
            continue
        is_guess = tier_of_confidence(record.confidence, view.policy.admit) == "speculative"
        if is_guess and is_protected(record, view.policy.value):
            reason = "it is a guess, and matters too much to go by itself"
            yield update(record, "kept", reason, {"expires": None}, unchanged(record, "expires"), shown=False)
            continue
        day = stamp(end)[:10]
        reason = f"it was a guess, and nobody confirmed it by {day}" if is_guess else f"it held until {day}"
        yield expire(record, reason, record.valid_to or stamp(end), unchanged(record, "expires", "confirmed"))


def _quiet_scratchpads(view: NightView) -> Iterator[Change]:
    """Expire scratchpads older than the policy's days. Undoing that counts as touching one."""
    before = view.now - timedelta(days=view.policy.sleep.scratchpad_days)
    for record in pass_rows.stale_scratchpads(view.connection, before):
        reason = f"nobody has written it for {days_since(view.now, record.updated, record.last_seen):.1f} days"
        yield expire(record, reason, stamp(view.now), unchanged(record, "updated", "last_seen"))


def _unused_patterns(view: NightView) -> Iterator[Change]:
    """Expire patterns that are unsure and were never used, but for pinned and restored ones."""
    for record in pattern_rows.iter_patterns(view.connection, ALL_SCOPES):
        if record.policy_class == "protected" or is_kept(record.confidence, record.use_count, view.policy.procedural):
            continue
        if not pass_rows.moved_by_sleep(view.connection, [record.id], "expired"):
            reason = f"its confidence is {record.confidence:.2f}, and it was never used"
            yield expire(record, reason, stamp(view.now), unchanged(record, "confidence", "use_count", "policy_class"))


def is_kept(confidence: float, uses: int, policy: ProceduralPolicy = DEFAULT) -> bool:
    """Whether a pattern stays: only one that is both unsure and unused goes."""
    return confidence >= policy.expire_below or uses > 0


EXPIRY = Pass("expiry", "prune", "lets go of guesses that nobody confirmed, and of what held until a day", _ended)
SCRATCHPADS = Pass("scratchpads", "prune", "clears scratchpads that nobody has touched for days", _quiet_scratchpads)
PATTERNS = Pass("practice", "prune", "lets go of patterns that are unsure and were never used", _unused_patterns)
