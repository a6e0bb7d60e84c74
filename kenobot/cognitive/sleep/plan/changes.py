"""The changes that a sleep pass plans, and their JSON; `kenobot.cognitive.sleep.apply_change` carries them out.

One `Change` is one decision: explained by one reason, carried out whole or not at all, and undone whole.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime
from typing import Any

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import QUOTED_TRUST, least_trusted, parse_trust
from kenobot.ports.json_value import Json
from kenobot.ports.memory import Candidate, RelationVerdict
from kenobot.ports.records import ColumnValue, LinkType, Record
from kenobot.ports.sentences import pack, unpack

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


def question_about(text: str, category: str, *records: Record, expires: datetime | None = None) -> AdmitRecord:
    """Ask the owner about records of one scope; the question is as trusted as the least of the words it quotes."""
    said_by = {parse_trust(record.trust, "tool") for record in records}
    candidate = Candidate(
        form="question",
        scope=records[0].scope,
        text=text,
        category=category,
        source="sleep",
        trust=least_trusted(said_by & (QUOTED_TRUST | {"guest"}), "model"),
        subject="" if records[0].subject == "owner" else records[0].subject,
        importance=max(record.importance for record in records),
        expires=expires,
    )
    return AdmitRecord(candidate, derived_from=tuple(record.id for record in records))


def expect(record: Record, *columns: str) -> dict[str, ColumnValue]:
    """Expect columns of a record to hold what the pass read."""
    return {name: getattr(record, name) for name in columns}


def update(
    record: Record,
    kind: str,
    reason: str,
    values: ColumnValues,
    expects: ColumnValues | None = None,
    *,
    shown: bool = True,
) -> Change:
    """Set columns of one record."""
    return Change(kind, reason, (UpdateRecord(record.id, values, expects or {}, shown),), record.id)


def expire(
    record: Record,
    reason: str,
    valid_to: str,
    expects: ColumnValues | None = None,
    *,
    touch: bool = False,
) -> Change:
    """End a record at a moment. touch: the moment also counts as its last update."""
    values = {"status": "expired", "valid_to": valid_to} | ({"updated": valid_to} if touch else {})
    return update(record, "expired", reason, values, expects)


# ── stored, so that a crash between planning and carrying out does not plan again ────────────────────────────────

# The names in stored plans: a night that an upgrade cuts short goes on with them.
_PARTS: Mapping[str, type[ChangePart]] = {
    "Edit": UpdateRecord,
    "Learn": AdmitRecord,
    "Tie": AddLink,
    "Propose": ProposeChange,
    "Note": LogEvent,
}
_WIRE_NAMES = {kind: name for name, kind in _PARTS.items()}


def change_to_json(change: Change) -> str:
    """Write a change as ASCII JSON. Raises TypeError for what JSON cannot hold."""
    parts = [[_WIRE_NAMES[type(part)], asdict(part)] for part in change.parts]
    fields = {"kind": change.kind, "reason": pack(change.reason), "record": change.record, "parts": parts}
    return json.dumps(fields, default=datetime.isoformat)


def change_from_json(text: str) -> Change:
    """Read what `change_to_json` wrote."""
    fields = json.loads(text)
    parts = tuple(_part(name, values) for name, values in fields["parts"])
    return Change(fields["kind"], unpack(fields["reason"]), parts, fields["record"])


def _part(name: str, fields: dict[str, Any]) -> ChangePart:
    if name == "Learn":
        lists = {key: tuple(fields[key]) for key in ("derived_from", "supersedes")}
        fields |= lists | {"candidate": _candidate(fields["candidate"])}
    return _PARTS[name](**fields)


def _candidate(fields: dict[str, Any]) -> Candidate:
    """Restore the tuples and times that JSON has no types for."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    fields["attributes"] = tuple((name, value) for name, value in fields["attributes"])
    fields["verdicts"] = tuple(RelationVerdict(**verdict) for verdict in fields["verdicts"])
    if fields["expires"] is not None:
        fields["expires"] = datetime.fromisoformat(fields["expires"])
    return Candidate(**fields)
