"""What a sleep pass may ask for. A pass only plans; `kenobot.cognitive.sleep.apply_change` carries out.

One `Change` is one decision: it is explained by one reason, done whole or not at all, and undone whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kenobot.cognitive.policy.graph import LinkType
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Json
from kenobot.ports.memory import Candidate


@dataclass(frozen=True, slots=True)
class UpdateRecord:
    """Set columns of a record.

    expects: what columns must still hold when it is carried out; besides, the record must still have the status it had
    when the pass looked, "active" unless `expects` names another. shown: a prompt or a file shows the difference.
    """

    record: int
    values: Mapping[str, ColumnValue]
    expects: Mapping[str, ColumnValue] = field(default_factory=dict)
    shown: bool = True


@dataclass(frozen=True, slots=True)
class AdmitRecord:
    """Have memory take something in, by the door everybody uses.

    derived_from: the records it was made of; each gets a link. supersedes: live records of its scope whose place it
    takes. day: the day's log it belongs to, YYYY-MM-DD; "" is the night's own day. values: columns of a new record that
    a candidate cannot tell.
    """

    candidate: Candidate
    derived_from: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    day: str = ""
    values: Mapping[str, ColumnValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AddLink:
    """Link two records, or make their link surer."""

    src: int
    dst: int
    type: LinkType
    why: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ProposeChange:
    """Lay something before the owner, who decides. The same `key` is proposed once.

    kind: what approving it does, in the words of `kenobot.cognitive.sleep.proposals`. title, text: for the owner to
    read. payload: what approving needs. evidence: records and events that speak for it, as numbers by name.
    """

    key: str
    kind: str
    title: str
    text: str
    payload: Mapping[str, Json] = field(default_factory=dict)
    evidence: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogEvent:
    """Write down an event that changes no record, such as a gap that was found. data must not hold people's words."""

    data: Mapping[str, Json]


ChangePart = UpdateRecord | AdmitRecord | AddLink | ProposeChange | LogEvent


@dataclass(frozen=True, slots=True)
class Change:
    """One decision of a pass.

    kind: the event's type, a past participle such as "expired" or "merged". reason: one sentence for the owner. record:
    the record it is mainly about, for `kenobot memory why`; None when there is none yet.
    """

    kind: str
    reason: str
    parts: tuple[ChangePart, ...]
    record: int | None = None
