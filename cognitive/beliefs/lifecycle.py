"""The life of a record: where it stands, and what moves it there.

Events move records, and the tables below say from where to where; nothing else does. A person's word weighs most:
saying it again or saying yes lifts a record, saying no makes it doubtful, pinning protects it. Use warms, silence
cools. What leaves does so reversibly, as everything goes through `kenobot.cognitive.store.change`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from kenobot.cognitive.beliefs.value import DEFAULT, Features, decay, features, has_faded, is_consolidated
from kenobot.cognitive.policy.value import ValuePolicy
from kenobot.cognitive.store import feedback
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import Act, Value, change
from kenobot.cognitive.store.feedback import Opinions
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import Reach
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Source
from kenobot.storage.connection import Connection

State = Literal["candidate", "validated", "active", "stale", "archived"]
Verification = Literal["unverified", "user_confirmed", "system_inferred", "disputed"]
PolicyClass = Literal["ephemeral", "durable", "protected"]
Happening = Literal[
    "reinforced",
    "restated",
    "confirmed",
    "contradicted",
    "disputed",
    "pinned",
    "unpinned",
    "used",
    "warmed",
    "trusted",
    "cooled",
    "faded",
]
"""What can happen to a record.

reinforced: it came up again, from somebody else or by inference. restated: its owner said it again. confirmed,
disputed: its owner said yes, or no, to it. contradicted: something else speaks against it. pinned, unpinned: its owner
wants it kept, or no longer. used: it was shown for an answer. warmed, trusted: heat passed the limit, of a record
nobody vouched for and of one somebody did. cooled, faded: decay passed the limits.
"""

STATES: tuple[State, ...] = get_args(State)
VERIFICATIONS: tuple[Verification, ...] = get_args(Verification)
CLASSES: tuple[PolicyClass, ...] = get_args(PolicyClass)
HAPPENINGS: tuple[Happening, ...] = get_args(Happening)

MOVES: Mapping[Happening, Mapping[State, State]] = {
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

VERIFIES: Mapping[Happening, Mapping[Verification, Verification]] = {
    "reinforced": {"unverified": "system_inferred"},
    "restated": {"unverified": "user_confirmed", "system_inferred": "user_confirmed", "disputed": "user_confirmed"},
    "confirmed": {"unverified": "user_confirmed", "system_inferred": "user_confirmed", "disputed": "user_confirmed"},
    "pinned": {"unverified": "user_confirmed", "system_inferred": "user_confirmed", "disputed": "user_confirmed"},
    "contradicted": {"unverified": "disputed", "system_inferred": "disputed"},
    "disputed": {"unverified": "disputed", "system_inferred": "disputed", "user_confirmed": "disputed"},
}
"""What each happening makes of a record's verification. What the owner confirmed yields to the owner alone."""

CLASSIFIES: Mapping[Happening, Mapping[PolicyClass, PolicyClass]] = {
    "reinforced": {"ephemeral": "durable"},
    "restated": {"ephemeral": "durable"},
    "confirmed": {"ephemeral": "durable"},
    "pinned": {"ephemeral": "protected", "durable": "protected"},
    "unpinned": {"protected": "durable"},
    "disputed": {"protected": "durable"},
}
"""What each happening makes of a record's policy class."""

_VOUCHED = frozenset({"restated", "confirmed", "pinned"})
_BY_A_PERSON = frozenset({"confirmed", "disputed", "pinned", "unpinned"})


@dataclass(frozen=True, slots=True)
class Standing:
    """How a record is regarded."""

    state: State
    verification: Verification
    policy_class: PolicyClass


def at_birth(source: Source, trust: Trust, confidence: float, policy: ValuePolicy = DEFAULT) -> Standing:
    """How a new record is regarded: a guess is not meant to last; an order or an edit is its owner's own word."""
    lasting: PolicyClass = "ephemeral" if confidence < policy.ephemeral else "durable"
    if source in ("command", "edit") and trust == "owner":
        return Standing("validated", "user_confirmed", lasting)
    if source in ("extraction", "sleep"):
        return Standing("candidate", "system_inferred", lasting)
    return Standing("candidate", "unverified", lasting)


def standing(record: Record) -> Standing:
    """How a record is regarded; what an older version or another system wrote and nobody knows counts as new."""
    state: State = next((known for known in STATES if known == record.lifecycle), "candidate")
    verification: Verification = next((v for v in VERIFICATIONS if v == record.verification), "unverified")
    policy_class: PolicyClass = next((c for c in CLASSES if c == record.policy_class), "durable")
    return Standing("archived" if record.status == "archived" else state, verification, policy_class)


def after(now: Standing, happening: Happening) -> Standing:
    """How a record is regarded once something has happened to it. Pure; every pair has an answer."""
    return Standing(
        MOVES.get(happening, {}).get(now.state, now.state),
        VERIFIES.get(happening, {}).get(now.verification, now.verification),
        CLASSIFIES.get(happening, {}).get(now.policy_class, now.policy_class),
    )


def on(
    connection: Connection,
    record: Record,
    happening: Happening,
    act: Act,
    policy: ValuePolicy = DEFAULT,
) -> int | None:
    """Let something happen to a record, inside a transaction; returns the event, None when it changes nothing.

    A record that is no longer remembered (superseded, forgotten, expired) stays as it is; one that was only archived
    comes back when its owner speaks of it, unless the same words were learned anew since.
    """
    if record.status not in ("active", "archived"):
        return None
    if happening == "used":
        return _lifted(connection, record, feedback.opinions(connection, [record.id])[record.id], act, policy)
    changed = effect(record, happening, act.at, policy)
    if changed.get("status") == "active" and store.by_key(connection, record.scope, record.form, record.key):
        return None
    if not changed:
        return None
    kind = happening if happening in _BY_A_PERSON else "lifecycle"
    data: Mapping[str, store.Json] = {"because": happening}
    # A prompt tells that something is disputed; that its owner said it again changes nothing that is shown.
    shown = "status" in changed or "disputed" in (record.verification, changed.get("verification"))
    return change(connection, record, kind, changed, act, shown=shown, data=data)


def effect(record: Record, happening: Happening, at: datetime, policy: ValuePolicy = DEFAULT) -> dict[str, Value]:
    """What a happening changes of a record, by column; nothing when it stays as it is. Pure."""
    before = standing(record)
    then = after(before, happening)
    values: dict[str, Value] = {
        "lifecycle": then.state,
        "verification": then.verification,
        "policy_class": then.policy_class,
    }
    if happening in _VOUCHED:
        values["confirmed"] = store.stamp(at)
        values["expires"] = None
    if happening == "confirmed":
        values["confidence"] = min(1.0, record.confidence + policy.approval)
    if happening == "disputed" and before.verification != "disputed":
        values["confidence"] = min(record.confidence, max(policy.doubted, record.confidence - policy.objection))
    if then.state == "archived" and record.status == "active":
        values["status"] = "archived"
    if then.state != "archived" and record.status == "archived":
        values["status"] = "active"
    return {name: held for name, held in values.items() if getattr(record, name) != held}


def used(
    connection: Connection, records: Sequence[int], reach: Reach, act: Act, policy: ValuePolicy = DEFAULT
) -> list[int]:
    """Lift those of `records` that being used has made warm, once their use is recorded; returns which."""
    known = store.by_ids(connection, records, reach)
    opinions = feedback.opinions(connection, list(known))
    lifted = (id for id, record in known.items() if _lifted(connection, record, opinions[id], act, policy) is not None)
    return list(lifted)


def due(record: Record, known: Features, now: datetime, policy: ValuePolicy = DEFAULT) -> Happening | None:
    """What its own value makes happen to a record; None when it may stay where it is. Pure.

    Nobody lifts what is disputed but its owner. What is protected, or was said by its owner in so many words, does not
    go: an episode may cool, a fact does not even that.
    """
    state, worn = standing(record).state, decay(known, policy)
    if state == "archived":
        return None
    if known.disputed and known.heat >= policy.promote and state != "stale":
        return "disputed"
    keeps = known.protected or known.explicit or record.category in policy.protected_categories
    keeps = keeps or is_consolidated(record)
    gone = worn >= policy.archive or has_faded(record, now, policy)
    if gone and not keeps and known.idle_days >= policy.archive_days:
        return "faded"
    if worn >= policy.stale:
        return None if known.protected or (known.explicit and record.form != "episode") else "cooled"
    if known.heat >= policy.promote and not known.disputed:
        return "trusted" if standing(record).verification in ("user_confirmed", "system_inferred") else "warmed"
    return None


@dataclass(frozen=True, slots=True)
class Move:
    """That something is due to happen to a record, and why."""

    record: Record
    happening: Happening
    reason: str


def plan(connection: Connection, now: datetime, reach: Reach, policy: ValuePolicy = DEFAULT) -> Iterator[Move]:
    """What silence has made due, record by record, oldest first. Reads in pages; changes nothing."""
    after_id, quiet_since = 0, store.stamp(now - timedelta(days=policy.quiet_days))
    while page := feedback.page(connection, reach, after_id, quiet_since):
        opinions = feedback.opinions(connection, [record.id for record in page])
        for record in page:
            known = features(record, now, opinions[record.id], policy)
            if (happening := _cooling(record, known, now, policy)) is not None:
                yield Move(record, happening, f"nobody spoke of it for {known.idle_days:.0f} days")
        after_id = page[-1].id


def _cooling(record: Record, known: Features, now: datetime, policy: ValuePolicy) -> Happening | None:
    happening = due(record, known, now, policy)
    if happening == "cooled" and standing(record).state == "stale":
        return None
    return happening if happening in ("cooled", "faded") else None


def _lifted(connection: Connection, record: Record, opinions: Opinions, act: Act, policy: ValuePolicy) -> int | None:
    happening = due(record, features(record, act.at, opinions, policy), act.at, policy)
    return on(connection, record, happening, act, policy) if happening in ("warmed", "trusted", "disputed") else None
