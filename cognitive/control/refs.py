"""What a person calls a record: its number, or the beginning of its key."""

import re

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import ControlPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import Scopes
from kenobot.ports.errors import KenobotError
from kenobot.storage.connection import Connection

_NUMBER = re.compile(r"#?([0-9]{1,15})")
_SHOWN = 5


class AmbiguousReference(KenobotError):
    """What was said names no record, or more than one. `records`: those that may be meant."""

    def __init__(self, message: str, records: tuple[Record, ...] = ()) -> None:
        super().__init__(message)
        self.records = records


def parse_number(text: str) -> int | None:
    """The id that `text` spells, as 12 or #12; None when it is something else."""
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1]) if match else None


def resolve_reference(
    connection: Connection, text: str, reach: Scopes, *, live: bool = False, policy: ControlPolicy = DEFAULT.control
) -> Record:
    """The record within `reach` that `text` names: by its number, its whole key, or an unambiguous beginning of that.

    live: only what is remembered now can be meant. Nothing is guessed: raises Unclear, with what may be meant.
    """
    wanted = text.strip()
    if not wanted:
        raise AmbiguousReference("Say which memory: its number, as `kenobot memory list` shows it.")
    number = parse_number(wanted)
    if number is not None:
        record = store.get(connection, number, reach)
        if record is not None and (record.status == "active" or not live):
            return record
        if wanted.startswith("#") or len(wanted) < policy.shortest_prefix:
            raise AmbiguousReference(_missing(wanted, record))
    if len(wanted) < policy.shortest_prefix:
        raise AmbiguousReference(
            f"{wanted!r} is too short to name a memory: give its number or {policy.shortest_prefix} letters."
        )
    found = store.ids_with_key_prefix(connection, wanted, reach, _SHOWN + 1)
    records = [store.by_ids(connection, found, reach)[each] for each in found]
    exact = [record for record in records if record.key == wanted]
    fitting = [record for record in exact or records if record.status == "active"] or ([] if live else exact or records)
    if not fitting:
        raise AmbiguousReference(_missing(wanted, records[0] if len(records) == 1 else None))
    if len(fitting) > 1:
        several = ", ".join(f"#{record.id}" for record in fitting[:_SHOWN])
        raise AmbiguousReference(f"{wanted!r} is ambiguous: it may be {several}. Give the number.", tuple(fitting))
    return fitting[0]


def _missing(wanted: str, record: Record | None) -> str:
    if record is not None:
        return f"No match found for {wanted!r} among what is remembered now: #{record.id} is {record.status}."
    return f"No match found for {wanted!r}: `kenobot memory list` shows what there is."
