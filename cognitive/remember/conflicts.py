"""Resolve conflicts between a draft and older records.

The weight of a word is decided first: a guess, a guest or a web page ends nothing that the owner said or confirmed.
Then the evidence: a record with fewer than three supporting turns ends; one with more stays with less confidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.cognitive.remember.draft import RecordDraft, attributes_json
from kenobot.cognitive.store import links, records
from kenobot.cognitive.store.change import ChangeContext, ColumnValue, change
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.claims import Claim, mentions_value, remove_claims, remove_values, with_outdated_note
from kenobot.cognitive.text.entity_names import normalize_name
from kenobot.cognitive.text.fingerprint import key_of
from kenobot.cognitive.text.words import detect_language
from kenobot.ports.identity import QUOTED_TRUST
from kenobot.storage.connection import Connection

Resolution = Literal["supersede", "invalidate", "weaken", "differ", "amend"]
"""What is done to the older record: another value took its place; it was wrong; it is less believed; nothing, both are
said; only what changed is taken from it, because it says more."""

_GUESSED = ("extraction", "sleep", "import")


@dataclass(frozen=True, slots=True)
class Conflict:
    """An older record and its resolution.

    outdated_attributes: names of attributes that the draft replaces.
    remaining_text: the record's text without them, "" to keep its text.
    """

    record: Record
    resolution: Resolution
    outdated_attributes: tuple[str, ...] = ()
    remaining_text: str = ""

    @property
    def ends_record(self) -> bool:
        """Whether the older record is no longer remembered."""
        return self.resolution in ("supersede", "invalidate")


def word_weight(trust: str, source: str, confidence: float, scope: str, policy: AdmitPolicy) -> int:
    """Weigh a word: 3 the owner's, 2 others', 1 a guess, 0 a quotation. A guest owns their own scope."""
    if trust in QUOTED_TRUST:
        return 0
    if source in _GUESSED and confidence < policy.stated_from:
        return 1
    own = trust == "owner" or (trust == "guest" and scope.startswith("user:"))
    return 3 if own else 2


def draft_weight(made: RecordDraft, policy: AdmitPolicy) -> int:
    """How much a draft counts."""
    return word_weight(made.trust, made.candidate.source, made.confidence, made.scope, policy)


def may_displace(made: RecordDraft, record: Record, policy: AdmitPolicy) -> bool:
    """Whether a draft may take something away from a record, if it speaks against it."""
    new = draft_weight(made, policy)
    if record.verification == "user_confirmed" or record.policy_class == "protected":
        return new == 3
    return new >= word_weight(record.trust, record.source, record.confidence, record.scope, policy)


def resolve_contradiction(
    made: RecordDraft, record: Record, policy: AdmitPolicy, denied: Sequence[Claim] = ()
) -> Conflict:
    """What a draft that says the opposite of `record` does to it. denied: the claims of the record that it denies."""
    if not may_displace(made, record, policy):
        return Conflict(record, "differ")
    if len(record.source_message_ids) >= policy.min_supporting_turns and not made.is_owner_word:
        return Conflict(record, "weaken")
    left = remove_claims(record.text, denied) if denied else None
    if left is None or left == record.text:
        return Conflict(record, "invalidate")
    gone = [
        name
        for name, value in _said(record).items()
        if mentions_value(record.text, value) and not mentions_value(left, value)
    ]
    return Conflict(record, "amend", tuple(gone), left)


def resolve_new_value(made: RecordDraft, record: Record, outdated: tuple[str, ...], policy: AdmitPolicy) -> Conflict:
    """What a draft does to a record that gives other values to the attributes `outdated`."""
    if not may_displace(made, record, policy):
        return Conflict(record, "differ", outdated)
    told = {normalize_name(name) for name in made.attributes}
    said = _said(record)
    rest = {name: value for name, value in said.items() if normalize_name(name) not in told}
    over = {name: value for name, value in said.items() if normalize_name(name) in told}
    left = remove_values(record.text, list(over.values()), rest.values())
    if left is not None and left != record.text:
        return Conflict(record, "amend", tuple(over), left)
    if not rest:
        return Conflict(record, "supersede", outdated)
    wrong = [
        value
        for name, value in over.items()
        if name in outdated or normalize_name(name) in map(normalize_name, outdated)
    ]
    marked = with_outdated_note(record.text, wrong, record.lang)
    return Conflict(record, "amend", outdated, marked if marked != record.text else "")


def _said(record: Record) -> dict[str, str]:
    return {name: value for name, value in record.attribute_map.items() if name != "by"}


def confidence_loss(record: Record, policy: AdmitPolicy) -> float:
    """What a contradiction takes from the confidence of a record: one voice among those that have spoken."""
    return min(policy.max_confidence_loss, 1 / (len(record.source_message_ids) + 1))


def contested_confidence(made: RecordDraft, disputes: Sequence[Conflict], policy: AdmitPolicy) -> float:
    """The confidence of a draft in the face of what it speaks against: what it cannot take, it lacks itself."""
    short = [
        policy.max_confidence_loss - confidence_loss(dispute.record, policy)
        for dispute in disputes
        if dispute.resolution == "weaken"
    ]
    return max(min(policy.min_confidence, made.confidence), made.confidence - max(short, default=0.0))


def apply_conflict(connection: Connection, dispute: Conflict, winner: int, act: ChangeContext, policy: Policy) -> None:
    """Carry out a dispute that record `winner` is the newer side of, as part of the decision that `act` names."""
    record, newer = dispute.record, f"{winner} says otherwise"
    if dispute.ends_record:
        end_record(
            connection, record, "superseded" if dispute.resolution == "supersede" else "invalidated", act, by=winner
        )
        add_supersedes_link(connection, winner, record.id, act)
    elif dispute.resolution == "weaken":
        known = policy.admit
        confidence = min(
            record.confidence, max(known.min_confidence, record.confidence - confidence_loss(record, known))
        )
        reason = f"{newer}, and {len(record.source_message_ids)} turns support it"
        change(connection, record, "weakened", {"confidence": confidence}, _part(act, reason), shown=False)
        weakened = records.get(connection, record.id, (record.scope,))
        assert weakened is not None
        lifecycle.apply_event(connection, weakened, "contradicted", _part(act, newer), policy.value)
    elif dispute.resolution == "amend":
        _amend(connection, dispute, winner, _part(act, newer))
    if dispute.resolution != "supersede":
        strengthen_link(connection, winner, record.id, "contradicts", act.at, act.reason, policy=policy.graph)


def _amend(connection: Connection, dispute: Conflict, winner: int, act: ChangeContext) -> None:
    """Take from a record what it is no longer right about; what it would say then may be remembered already."""
    record = dispute.record
    gone = {normalize_name(name) for name in dispute.outdated_attributes}
    kept = {name: value for name, value in record.attribute_map.items() if normalize_name(name) not in gone}
    values: dict[str, ColumnValue] = {"attributes": attributes_json(kept, record.by)}
    if dispute.remaining_text:
        key = key_of(dispute.remaining_text)
        if records.by_key(connection, record.scope, record.form, key) is not None:
            end_record(connection, record, "superseded", act, by=winner)
            add_supersedes_link(connection, winner, record.id, act)
            return
        now = records.stamp(act.at)
        values |= {
            "text": dispute.remaining_text,
            "key": key,
            "lang": detect_language(dispute.remaining_text),
            "updated": now,
        }
    change(connection, record, "amended", values, act, shown=bool(dispute.remaining_text))


def end_record(connection: Connection, known: Record, status: str, act: ChangeContext, by: int | None = None) -> int:
    """Take a live record out of what is remembered, as `status`; returns the event. by: what took its place."""
    now = records.stamp(act.at)
    values = {"status": status, "valid_to": now, "updated": now}
    return change(connection, known, status, values, act, data={"from": known.status, "by": by})


def add_supersedes_link(connection: Connection, new: int, old: int, act: ChangeContext) -> None:
    """Link `new` to the record that it has taken the place of."""
    links.add_supersedes_link(connection, new, old, records.stamp(act.at), act.actor)


def _part(act: ChangeContext, reason: str) -> ChangeContext:
    return ChangeContext(act.at, act.actor, reason, act.session, act.part_of)
