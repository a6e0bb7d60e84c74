"""End what is over, and archive what has faded.

Guesses that were not confirmed, what held until a day, quiet scratchpads and unused unsure patterns expire. Old facts
that were hardly used, unmentioned records and faded beliefs are archived.
"""

from collections.abc import Iterator
from datetime import timedelta

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.value import (
    days_since,
    is_consolidated,
    is_explicit,
    is_protected,
    never_fades,
    strength,
)
from kenobot.cognitive.policy.beliefs import ValuePolicy
from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.remember.confidence import tier_of_confidence
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change, expect, expire, update
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.language.calendar import parse_time
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp

_JUDGED = ("category", "importance", "tier", "use_count", "verification", "policy_class")
_CYCLE = ("last_seen", "last_used", "confirmed", "verification", "policy_class", "lifecycle")
_BELIEF = ("last_seen", "last_used", "confirmed", "confidence", "stability", "verification", "policy_class")
_ARCHIVED: dict[str, ColumnValue] = {"status": "archived", "lifecycle": "archived"}


# ── what is over ─────────────────────────────────────────────────────────────────────────────────────────────────


def _expire_ended(view: NightView) -> Iterator[Change]:
    """Expire records at the end they were given. A guess that is protected, or matters too much, loses its end."""
    for record in pass_rows.iterate_expired(view.connection, view.now):
        end = parse_time(record.expires or "")
        if end is None or pass_rows.was_reverted(view.connection, record.id, "status", "expired"):
            continue
        is_guess = tier_of_confidence(record.confidence, view.policy.admit) == "speculative"
        if is_guess and is_protected(record, view.policy.value):
            reason = Sentence("reasons.guess_matters")
            yield update(record, "kept", reason, {"expires": None}, expect(record, "expires"), shown=False)
            continue
        day = stamp(end)[:10]
        reason = Sentence("reasons.guess_unconfirmed", day=day) if is_guess else Sentence("reasons.held_until", day=day)
        yield expire(record, reason, record.valid_to or stamp(end), expect(record, "expires", "confirmed"))


def _quiet_scratchpads(view: NightView) -> Iterator[Change]:
    """Expire scratchpads older than the policy's days. Undoing that counts as touching one."""
    before = view.now - timedelta(days=view.policy.sleep.scratchpad_days)
    for record in pass_rows.stale_scratchpads(view.connection, before):
        reason = Sentence("reasons.unwritten", days=days_since(view.now, record.updated, record.last_seen))
        yield expire(record, reason, stamp(view.now), expect(record, "updated", "last_seen"))


def _expire_unused_patterns(view: NightView) -> Iterator[Change]:
    """Expire patterns that are unsure and were never used, but for pinned and restored ones."""
    for record in pattern_rows.iter_patterns(view.connection, ALL_SCOPES):
        if record.policy_class == "protected" or is_kept(record.confidence, record.use_count, view.policy.procedural):
            continue
        if not pass_rows.select_moved_by_sleep(view.connection, [record.id], "expired"):
            reason = Sentence("reasons.unsure_unused", confidence=record.confidence)
            yield expire(record, reason, stamp(view.now), expect(record, "confidence", "use_count", "policy_class"))


def is_kept(confidence: float, uses: int, policy: ProceduralPolicy = DEFAULT) -> bool:
    """Return whether a pattern stays: only one that is both unsure and unused goes."""
    return confidence >= policy.expire_below or uses > 0


# ── what has faded ───────────────────────────────────────────────────────────────────────────────────────────────


def _old_facts(view: NightView) -> Iterator[Change]:
    """Archive facts that are old, matter little and were hardly used."""
    policy = view.policy.pruning
    before = view.now - timedelta(days=policy.archive_days)
    for record in pass_rows.archivable_records(view.connection, before, policy):
        if _may_be_archived(record, view.policy.value) and not _was_reverted(view, record, _ARCHIVED):
            age = Sentence("reasons.older", days=policy.archive_days)
            reason = Sentence("reasons.unimportant", age=age, importance=record.importance, uses=record.use_count)
            yield update(record, "archived", reason, _ARCHIVED, expect(record, *_JUDGED))


def _may_be_archived(record: Record, policy: ValuePolicy) -> bool:
    """Return whether a fact is neither protected, nor the owner's explicit word, nor in MEMORY.md."""
    keeps = is_consolidated(record) or is_explicit(record, policy) or is_protected(record, policy)
    return not keeps and record.category not in policy.protected_categories


def _silent_records(view: NightView) -> Iterator[Change]:
    """Cool and archive what is due by `kenobot.cognitive.beliefs.lifecycle`."""
    for record, event, reason in lifecycle.plan_due_events(view.connection, view.now, ALL_SCOPES, view.policy.value):
        values = lifecycle.event_changes(record, event, view.now, view.policy.value)
        if values and not _was_reverted(view, record, values):
            expects = expect(record, *_CYCLE)
            yield update(record, event, reason, values, expects, shown="status" in values)


def _fade_beliefs(view: NightView) -> Iterator[Change]:
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
            reason = Sentence("reasons.faded", belief=belief, confidence=record.confidence)
            yield update(record, kind, reason, values, expect(record, *_BELIEF), shown="status" in values)


def _was_reverted(view: NightView, record: Record, values: dict[str, ColumnValue]) -> bool:
    column = "status" if "status" in values else "lifecycle"
    return pass_rows.was_reverted(view.connection, record.id, column, values[column])


EXPIRY = Pass(
    "expiry", "prune", "lets go of guesses that nobody confirmed, and of what held until a day", _expire_ended
)
SCRATCHPADS = Pass("scratchpads", "prune", "clears scratchpads that nobody has touched for days", _quiet_scratchpads)
PATTERNS = Pass("practice", "prune", "lets go of patterns that are unsure and were never used", _expire_unused_patterns)
ARCHIVAL = Pass("archival", "prune", "archives facts that are old, matter little and were hardly used", _old_facts)
LIFECYCLE = Pass("lifecycle", "prune", "cools what nobody speaks of, and archives what has faded", _silent_records)
BELIEFS = Pass(
    "beliefs", "prune", "marks beliefs that faded as stale, and lets go of those that faded away", _fade_beliefs
)
