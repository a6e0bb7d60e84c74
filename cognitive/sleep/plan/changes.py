"""The changes that a sleep pass plans; `kenobot.cognitive.sleep.apply_change` carries them out.

One `Change` is one decision: explained by one reason, carried out whole or not at all, and undone whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kenobot.cognitive.policy.beliefs import LinkType
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Json
from kenobot.ports.memory import Candidate

ColumnValues = Mapping[str, ColumnValue]


@dataclass(frozen=True, slots=True)
class UpdateRecord:
    """Set columns of a record.

    expects: columns that must still hold these values; the status must be "active" unless named here.
    shown: a prompt or a file shows the difference.
    """

    record: int
    values: ColumnValues
    expects: ColumnValues = field(default_factory=dict)  # bounded: one change; night
    shown: bool = True


@dataclass(frozen=True, slots=True)
class AdmitRecord:
    """Admit a candidate.

    derived_from: records that it was made of; each gets a link.
    supersedes: live records of its scope that it replaces.
    day: the daily log it belongs to, YYYY-MM-DD; "" is the night's day.
    values: columns of a new record that a candidate does not have.
    """

    candidate: Candidate
    derived_from: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    day: str = ""
    values: ColumnValues = field(default_factory=dict)  # bounded: one change; night


@dataclass(frozen=True, slots=True)
class AddLink:
    """Link two records, or strengthen their link."""

    src: int
    dst: int
    type: LinkType
    why: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ProposeChange:
    """Propose something to the owner, once for each `key`. kind: see `kenobot.cognitive.sleep.proposals`.

    evidence: numbers of records and events, by name.
    """

    key: str
    kind: str
    title: str
    text: str
    payload: Mapping[str, Json] = field(default_factory=dict)  # bounded: one change; night
    evidence: Mapping[str, Json] = field(default_factory=dict)  # bounded: one change; night


@dataclass(frozen=True, slots=True)
class LogEvent:
    """Log an event that changes no record. `data` must not hold people's words."""

    data: Mapping[str, Json]


ChangePart = UpdateRecord | AdmitRecord | AddLink | ProposeChange | LogEvent


@dataclass(frozen=True, slots=True)
class Change:
    """One decision of a pass.

    kind: the event's type, a past participle.
    reason: one sentence for the owner.
    record: the record it is mainly about, for `kenobot memory why`.
    """

    kind: str
    reason: str
    parts: tuple[ChangePart, ...]
    record: int | None = None
