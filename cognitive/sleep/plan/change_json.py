"""Plans as text: a change as it is kept between planning and carrying out, so that a crash does not plan again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kenobot.cognitive.sleep.plan.changes import (
    AddLink,
    AdmitRecord,
    Change,
    ChangePart,
    LogEvent,
    ProposeChange,
    UpdateRecord,
)
from kenobot.ports.memory import Candidate, RelationVerdict

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
    """A change as JSON, in ASCII. Raises TypeError for what JSON cannot hold."""
    parts = [[_WIRE_NAMES[type(part)], asdict(part)] for part in change.parts]
    told = {"kind": change.kind, "reason": change.reason, "record": change.record, "parts": parts}
    return json.dumps(told, default=_moment)


def change_from_json(text: str) -> Change:
    """The change that `change_to_json` wrote."""
    told = json.loads(text)
    parts = tuple(_part(name, fields) for name, fields in told["parts"])
    return Change(told["kind"], told["reason"], parts, told["record"])


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a plan cannot hold a {type(value).__name__}")


def _part(name: str, fields: dict[str, Any]) -> ChangePart:
    if name == "Learn":
        fields["candidate"] = _candidate(fields["candidate"])
        fields["derived_from"] = tuple(fields["derived_from"])
        fields["supersedes"] = tuple(fields["supersedes"])
    return _PARTS[name](**fields)


def _candidate(fields: dict[str, Any]) -> Candidate:
    """JSON knows neither tuples nor moments."""
    expires = fields["expires"]
    return Candidate(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
        | {
            "attributes": tuple((name, value) for name, value in fields["attributes"]),
            "verdicts": tuple(RelationVerdict(**verdict) for verdict in fields["verdicts"]),
            "expires": datetime.fromisoformat(expires) if expires is not None else None,
        }
    )
