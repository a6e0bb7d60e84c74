"""Store a planned change as JSON, so that a crash between planning and carrying out does not plan again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kenobot.cognitive.sleep.plan import changes
from kenobot.cognitive.sleep.plan.changes import Change, ChangePart
from kenobot.ports.memory import Candidate, RelationVerdict

# The names in stored plans: a night that an upgrade cuts short goes on with them.
_PARTS: Mapping[str, type[ChangePart]] = {
    "Edit": changes.UpdateRecord,
    "Learn": changes.AdmitRecord,
    "Tie": changes.AddLink,
    "Propose": changes.ProposeChange,
    "Note": changes.LogEvent,
}
_WIRE_NAMES = {kind: name for name, kind in _PARTS.items()}


def change_to_json(change: Change) -> str:
    """Write a change as ASCII JSON. Raises TypeError for what JSON cannot hold."""
    parts = [[_WIRE_NAMES[type(part)], asdict(part)] for part in change.parts]
    fields = {"kind": change.kind, "reason": change.reason, "record": change.record, "parts": parts}
    return json.dumps(fields, default=_encode)


def change_from_json(text: str) -> Change:
    """Read what `change_to_json` wrote."""
    fields = json.loads(text)
    parts = tuple(_part(name, values) for name, values in fields["parts"])
    return Change(fields["kind"], fields["reason"], parts, fields["record"])


def _encode(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a plan cannot hold a {type(value).__name__}")


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
