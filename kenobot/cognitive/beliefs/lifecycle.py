"""Move records through their lifecycle by events, as the tables below say; tell when a commitment was resolved.

A person's word weighs most: repeating or approving lifts a record, objecting disputes it, pinning protects it. Use
warms, silence cools.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.value import DEFAULT, ValueFeatures, decay, features, has_faded, is_consolidated
from kenobot.cognitive.policy.beliefs import ValuePolicy
from kenobot.cognitive.store import feedback
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.language.calendar import parse_time
from kenobot.language.lexicon import word_set
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.json_value import Json
from kenobot.ports.memory import Source
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

LifecycleStage = Literal["candidate", "validated", "active", "stale", "archived"]
Verification = Literal["unverified", "user_confirmed", "system_inferred", "disputed"]
PolicyClass = Literal["ephemeral", "durable", "protected"]
LifecycleEvent = Literal[
    "reinforced", "restated", "confirmed", "contradicted", "disputed", "pinned", "unpinned", "warmed", "trusted",
    "cooled", "faded",
]  # fmt: skip
"""What can happen to a record.

reinforced: it came up again, from somebody else or by inference. restated: its owner said it again. confirmed,
disputed: its owner said yes, or no, to it. contradicted: something else speaks against it. pinned, unpinned: its owner
wants it kept, or no longer. warmed, trusted: heat passed the limit, of a record nobody vouched for and of one somebody
did. cooled, faded: decay passed the limits.
"""

LIFECYCLE_STAGES: tuple[LifecycleStage, ...] = get_args(LifecycleStage)
VERIFICATIONS: tuple[Verification, ...] = get_args(Verification)
POLICY_CLASSES: tuple[PolicyClass, ...] = get_args(PolicyClass)

STAGE_TRANSITIONS: Mapping[LifecycleEvent, Mapping[LifecycleStage, LifecycleStage]] = {
    "reinforced": {"candidate": "validated", "stale": "validated"},
    "restated": {"candidate": "validated", "validated": "active", "stale": "validated", "archived": "validated"},
    "confirmed": {"candidate": "active", "validated": "active", "stale": "active", "archived": "active"},
    "contradicted": {"active": "validated", "validated": "candidate"},
    "disputed": {"candidate": "stale", "validated": "stale", "active": "stale"},
    "pinned": {"candidate": "active", "validated": "active", "stale": "active", "archived": "active"},
    "warmed": {"candidate": "validated", "validated": "active", "stale": "validated"},
    "trusted": {"candidate": "active", "validated": "active", "stale": "active"},
    "cooled": {"candidate": "stale", "validated": "stale", "active": "stale"},
    "faded": {"candidate": "archived", "validated": "archived", "active": "archived", "stale": "archived"},
}
"""From where to where each happening moves a record; where nothing is said, it stays."""

VERIFICATION_TRANSITIONS: Mapping[LifecycleEvent, Mapping[Verification, Verification]] = {
    "reinforced": {"unverified": "system_inferred"},
    "restated": {"unverified": "user_confirmed", "system_inferred": "user_confirmed", "disputed": "user_confirmed"},
    "confirmed": {"unverified": "user_confirmed", "system_inferred": "user_confirmed", "disputed": "user_confirmed"},
    "pinned": {"unverified": "user_confirmed", "system_inferred": "user_confirmed", "disputed": "user_confirmed"},
    "contradicted": {"unverified": "disputed", "system_inferred": "disputed"},
    "disputed": {"unverified": "disputed", "system_inferred": "disputed", "user_confirmed": "disputed"},
}
"""What each happening makes of a record's verification. What the owner confirmed yields to the owner alone."""

POLICY_CLASS_TRANSITIONS: Mapping[LifecycleEvent, Mapping[PolicyClass, PolicyClass]] = {
    "reinforced": {"ephemeral": "durable"},
    "restated": {"ephemeral": "durable"},
    "confirmed": {"ephemeral": "durable"},
    "pinned": {"ephemeral": "protected", "durable": "protected"},
    "unpinned": {"protected": "durable"},
    "disputed": {"protected": "durable"},
}
"""What each happening makes of a record's policy class."""

RESOLVED_ATTRIBUTE = "resolved"
"""The attribute that tells on which day a commitment was resolved."""

_RESOLVED_MARKS = word_set("resolved_marks")
_VOUCHED = frozenset({"restated", "confirmed", "pinned"})
_BY_A_PERSON = frozenset({"confirmed", "disputed", "pinned", "unpinned"})


@dataclass(frozen=True, slots=True)
class LifecycleState:
    """Lifecycle stage, verification and policy class of a record."""

    state: LifecycleStage
    verification: Verification
    policy_class: PolicyClass


def initial_state(source: Source, trust: Trust, confidence: float, policy: ValuePolicy = DEFAULT) -> LifecycleState:
    """Return how a new record is regarded: a guess is not meant to last.

    An order or an edit is its owner's own word.
    """
    lasting: PolicyClass = "ephemeral" if confidence < policy.ephemeral_below else "durable"
    if source in ("command", "edit") and trust == "owner":
        return LifecycleState("validated", "user_confirmed", lasting)
    if source in ("extraction", "sleep"):
        return LifecycleState("candidate", "system_inferred", lasting)
    return LifecycleState("candidate", "unverified", lasting)


def state_of(record: Record) -> LifecycleState:
    """Return how a record is regarded; what an older version or another system wrote and nobody knows counts as new."""
    state: LifecycleStage = next((known for known in LIFECYCLE_STAGES if known == record.lifecycle), "candidate")
    verification: Verification = next((v for v in VERIFICATIONS if v == record.verification), "unverified")
    policy_class: PolicyClass = next((c for c in POLICY_CLASSES if c == record.policy_class), "durable")
    return LifecycleState("archived" if record.status == "archived" else state, verification, policy_class)


def next_state(now: LifecycleState, happening: LifecycleEvent) -> LifecycleState:
    """Return how a record is regarded once something has happened to it. Pure; every pair has an answer."""
    return LifecycleState(
        STAGE_TRANSITIONS.get(happening, {}).get(now.state, now.state),
        VERIFICATION_TRANSITIONS.get(happening, {}).get(now.verification, now.verification),
        POLICY_CLASS_TRANSITIONS.get(happening, {}).get(now.policy_class, now.policy_class),
    )


def apply_event(
    connection: Connection, record: Record, happening: LifecycleEvent, act: ChangeContext, policy: ValuePolicy = DEFAULT
) -> int | None:
    """Apply a lifecycle event to a record, inside a transaction; returns the event's id, None when nothing changes.

    Only live and archived records change; an archived one is restored by its owner's word, unless it was learned anew.
    """
    if record.status not in ("active", "archived"):
        return None
    changed = event_changes(record, happening, act.at, policy)
    restored = changed.get("status") == "active"
    if not changed or (restored and store.by_key(connection, record.scope, record.form, record.key)):
        return None
    kind = happening if happening in _BY_A_PERSON else "lifecycle"
    data: Mapping[str, Json] = {"because": happening}
    # A prompt tells that something is disputed; that its owner said it again changes nothing that is shown.
    shown = "status" in changed or "disputed" in (record.verification, changed.get("verification"))
    return change(connection, record, kind, changed, act, shown=shown, data=data)


def event_changes(
    record: Record, happening: LifecycleEvent, at: datetime, policy: ValuePolicy = DEFAULT
) -> dict[str, ColumnValue]:
    """Compute the columns that an event changes of a record. Pure."""
    before = state_of(record)
    then = next_state(before, happening)
    values: dict[str, ColumnValue] = {
        "lifecycle": then.state,
        "verification": then.verification,
        "policy_class": then.policy_class,
    }
    if happening in _VOUCHED:
        values["confirmed"] = stamp(at)
        values["expires"] = None
    if happening == "confirmed":
        values["confidence"] = min(1.0, record.confidence + policy.approval_gain)
    if happening == "disputed" and before.verification != "disputed":
        values["confidence"] = min(
            record.confidence, max(policy.min_disputed_confidence, record.confidence - policy.objection_loss)
        )
    if then.state == "archived" and record.status == "active":
        values["status"] = "archived"
    if then.state != "archived" and record.status == "archived":
        values["status"] = "active"
    return {name: held for name, held in values.items() if getattr(record, name) != held}


def apply_use(
    connection: Connection, records: Sequence[int], reach: Scopes, act: ChangeContext, policy: ValuePolicy = DEFAULT
) -> list[int]:
    """Lift those of `records` that being used has made warm, once their use is recorded; returns which."""
    known = store.by_ids(connection, records, reach)
    opinions = feedback.feedback_counts(connection, list(known))
    lifted: list[int] = []
    for number, record in known.items():
        happening = due_event(record, features(record, act.at, opinions[number], policy), act.at, policy)
        rises = happening in ("warmed", "trusted", "disputed")
        if happening and rises and apply_event(connection, record, happening, act, policy) is not None:
            lifted.append(number)
    return lifted


def due_event(
    record: Record, known: ValueFeatures, now: datetime, policy: ValuePolicy = DEFAULT
) -> LifecycleEvent | None:
    """Decide which event a record's own value calls for. Pure.

    Only its owner lifts a disputed record. Protected and explicit records stay; an explicit episode may cool.
    """
    state, worn = state_of(record).state, decay(known, policy)
    heat, disputed = known.shares["heat"], known.shares["disputed"]
    if state == "archived":
        return None
    if disputed and heat >= policy.promote_from_heat and state != "stale":
        return "disputed"
    keeps = known.protected or known.explicit or record.category in policy.protected_categories
    keeps = keeps or is_consolidated(record)
    gone = worn >= policy.archive_from_decay or has_faded(record, now, policy)
    if gone and not keeps and known.idle_days >= policy.archive_days:
        return "faded"
    if worn >= policy.stale_from_decay:
        return None if known.protected or (known.explicit and record.form != "episode") else "cooled"
    if heat >= policy.promote_from_heat and not disputed:
        return "trusted" if state_of(record).verification in ("user_confirmed", "system_inferred") else "warmed"
    return None


def plan_due_events(
    connection: Connection, now: datetime, reach: Scopes, policy: ValuePolicy = DEFAULT
) -> Iterator[tuple[Record, LifecycleEvent, str]]:
    """Iterate over the events that silence has made due, with their reasons, by record id, in pages."""
    after_id, quiet_since = 0, stamp(now - timedelta(days=policy.quiet_days))
    while page := feedback.quiet_page(connection, reach, after_id, quiet_since):
        opinions = feedback.feedback_counts(connection, [record.id for record in page])
        for record in page:
            known = features(record, now, opinions[record.id], policy)
            happening = due_event(record, known, now, policy)
            cools = happening == "cooled" and state_of(record).state != "stale"
            if happening == "faded" or (happening and cools):
                yield record, happening, Sentence("reasons.idle", days=known.idle_days)
        after_id = page[-1].id


def find_resolution_day(record: Record, today: date, zone: ZoneInfo) -> date | None:
    """Return the day on which a commitment was resolved, up to `today`.

    None while it is open, also when it is overdue.
    """
    if record.attributes == "{}" and record.tags == "[]":
        return None
    attributes = record.attribute_map
    said = _day(attributes.get(RESOLVED_ATTRIBUTE, ""))
    if said is not None:
        return min(said, today)
    marked = {fold(tag) for tag in json.loads(record.tags)} | {fold(attributes.get("status", ""))}
    if marked & _RESOLVED_MARKS:
        touched = parse_time(record.updated)
        return touched.astimezone(zone).date() if touched is not None else today
    return None


def note_resolved(record: Record, day: str) -> str:
    """Return the attributes of a commitment with the day, YYYY-MM-DD, on which it was resolved."""
    return json.dumps({**json.loads(record.attributes), RESOLVED_ATTRIBUTE: day}, ensure_ascii=False)


def due_on(record: Record) -> date | None:
    """Return the day by which a commitment was to be kept; None where none was said."""
    return _day(record.attribute_map.get("due", ""))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
