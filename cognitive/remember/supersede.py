"""What becomes of a record when something newer speaks against it: it makes way, or stays with less belief.

Who may say so is decided first: a guess, a guest or a web page takes nothing away that the owner said, and what the
owner confirmed yields to the owner alone. Then the evidence: what fewer than three turns support makes way for the new
one; what more support stays beside it, less believed, and its clock runs on, so that being contradicted never makes
anything surer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.links import reinforce
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.admit import AdmitPolicy
from kenobot.cognitive.remember.draft import Draft, attrs_of
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import Act, Value, change
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.claims import Claim, noted, tells, without, without_claims
from kenobot.cognitive.text.entity_names import name_of
from kenobot.cognitive.text.fingerprint import key_of
from kenobot.cognitive.text.language_id import tongue
from kenobot.storage.connection import Connection

Way = Literal["supersede", "invalidate", "weaken", "differ", "amend"]
"""What is done to the older record: another value took its place; it was wrong; it is less believed; nothing, both are
said; only what changed is taken from it, because it says more."""

_GUESSED = ("extraction", "sleep", "import")


@dataclass(frozen=True, slots=True)
class Dispute:
    """An older record, and what a draft does to it.

    outdated: names of the attributes that the draft speaks of instead. left: what the older record says without them,
    "" when it goes on saying what it says.
    """

    record: Record
    way: Way
    outdated: tuple[str, ...] = ()
    left: str = ""

    @property
    def ends(self) -> bool:
        """Whether the older record is no longer remembered."""
        return self.way in ("supersede", "invalidate")


def standing_of(trust: str, source: str, confidence: float, scope: str, policy: AdmitPolicy) -> int:
    """How much a word counts against another: 3 what the owner said, 2 what others did, 1 a guess, 0 a quotation.

    In a scope of their own a guest is its owner.
    """
    if trust in ("forward", "tool"):
        return 0
    if source in _GUESSED and confidence < policy.sure_word:
        return 1
    own = trust == "owner" or (trust == "guest" and scope.startswith("user:"))
    return 3 if own else 2


def weight_of(made: Draft, policy: AdmitPolicy) -> int:
    """How much a draft counts."""
    return standing_of(made.trust, made.candidate.source, made.confidence, made.scope, policy)


def may_displace(made: Draft, record: Record, policy: AdmitPolicy) -> bool:
    """Whether a draft may take something away from a record, if it speaks against it."""
    new = weight_of(made, policy)
    if record.verification == "user_confirmed" or record.policy_class == "protected":
        return new == 3
    return new >= standing_of(record.trust, record.source, record.confidence, record.scope, policy)


def contradict(made: Draft, record: Record, policy: AdmitPolicy, denied: Sequence[Claim] = ()) -> Dispute:
    """What a draft that says the opposite of `record` does to it. denied: the claims of the record that it denies."""
    if not may_displace(made, record, policy):
        return Dispute(record, "differ")
    if len(record.witnesses) >= policy.enough_support and not made.own_word:
        return Dispute(record, "weaken")
    left = without_claims(record.text, denied) if denied else None
    if left is None or left == record.text:
        return Dispute(record, "invalidate")
    gone = [name for name, value in _said(record).items() if tells(record.text, value) and not tells(left, value)]
    return Dispute(record, "amend", tuple(gone), left)


def replace_value(made: Draft, record: Record, outdated: tuple[str, ...], policy: AdmitPolicy) -> Dispute:
    """What a draft does to a record that gives other values to the attributes `outdated`."""
    if not may_displace(made, record, policy):
        return Dispute(record, "differ", outdated)
    told = {name_of(name) for name in made.attributes}
    said = _said(record)
    rest = {name: value for name, value in said.items() if name_of(name) not in told}
    over = {name: value for name, value in said.items() if name_of(name) in told}
    left = without(record.text, list(over.values()), rest.values())
    if left is not None and left != record.text:
        return Dispute(record, "amend", tuple(over), left)
    if not rest:
        return Dispute(record, "supersede", outdated)
    wrong = [value for name, value in over.items() if name in outdated or name_of(name) in map(name_of, outdated)]
    marked = noted(record.text, wrong, record.lang)
    return Dispute(record, "amend", outdated, marked if marked != record.text else "")


def _said(record: Record) -> dict[str, str]:
    return {name: value for name, value in record.attributes.items() if name != "by"}


def loss(record: Record, policy: AdmitPolicy) -> float:
    """What a contradiction takes from the confidence of a record: one voice among those that have spoken."""
    return min(policy.weakening, 1 / (len(record.witnesses) + 1))


def believed(made: Draft, disputes: Sequence[Dispute], policy: AdmitPolicy) -> float:
    """The confidence of a draft in the face of what it speaks against: what it cannot take, it lacks itself."""
    short = [policy.weakening - loss(dispute.record, policy) for dispute in disputes if dispute.way == "weaken"]
    return max(min(policy.weakest, made.confidence), made.confidence - max(short, default=0.0))


def settle(connection: Connection, dispute: Dispute, winner: int, act: Act, policy: Policy) -> None:
    """Carry out a dispute that record `winner` is the newer side of, as part of the decision that `act` names."""
    record, newer = dispute.record, f"{winner} says otherwise"
    if dispute.ends:
        retire(connection, record, "superseded" if dispute.way == "supersede" else "invalidated", act, by=winner)
        supersedes(connection, winner, record.id, act)
    elif dispute.way == "weaken":
        known = policy.admit
        confidence = min(record.confidence, max(known.weakest, record.confidence - loss(record, known)))
        reason = f"{newer}, and {len(record.witnesses)} turns support it"
        change(connection, record, "weakened", {"confidence": confidence}, _part(act, reason), shown=False)
        weakened = records.get(connection, record.id, (record.scope,))
        assert weakened is not None
        lifecycle.on(connection, weakened, "contradicted", _part(act, newer), policy.value)
    elif dispute.way == "amend":
        _amend(connection, dispute, winner, _part(act, newer))
    if dispute.way != "supersede":
        reinforce(connection, winner, record.id, "contradicts", act.at, act.reason, policy=policy.graph)


def _amend(connection: Connection, dispute: Dispute, winner: int, act: Act) -> None:
    """Take from a record what it is no longer right about; what it would say then may be remembered already."""
    record = dispute.record
    gone = {name_of(name) for name in dispute.outdated}
    kept = {name: value for name, value in record.attributes.items() if name_of(name) not in gone}
    values: dict[str, Value] = {"attrs": attrs_of(kept, record.by)}
    if dispute.left:
        key = key_of(dispute.left)
        if records.by_key(connection, record.scope, record.form, key) is not None:
            retire(connection, record, "superseded", act, by=winner)
            supersedes(connection, winner, record.id, act)
            return
        now = records.stamp(act.at)
        values |= {"text": dispute.left, "key": key, "lang": tongue(dispute.left), "updated": now}
    change(connection, record, "amended", values, act, shown=bool(dispute.left))


def retire(connection: Connection, known: Record, status: str, act: Act, by: int | None = None) -> int:
    """Take a live record out of what is remembered, as `status`; returns the event. by: what took its place."""
    now = records.stamp(act.at)
    values = {"status": status, "valid_to": now, "updated": now}
    return change(connection, known, status, values, act, data={"from": known.status, "by": by})


def supersedes(connection: Connection, new: int, old: int, act: Act) -> None:
    """Note that `new` has taken the place of `old`.

    What has taken a place lives, so nothing has taken its own: a link that says so is from before it came back, and
    would close a circle.
    """
    connection.execute("DELETE FROM link WHERE dst = ? AND type = 'supersedes'", (new,))
    connection.execute(
        "INSERT INTO link (src, dst, type, first_at, last_at, why) VALUES (?, ?, 'supersedes', ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET seen = seen + 1, last_at = excluded.last_at",
        (new, old, records.stamp(act.at), records.stamp(act.at), act.actor),
    )


def _part(act: Act, reason: str) -> Act:
    return Act(act.at, act.actor, reason, act.session, act.part_of)
