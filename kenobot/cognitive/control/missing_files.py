"""Record files that went missing all at once, until the owner says whether that was meant.

A folder that a sync tool or a full disk took away looks like hundreds of deletions by hand, so nothing of it is
forgotten at first. What many lines taken out at once did forget is one decision, which one undo takes back.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory_files import MissingFiles
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.state import read_state, write_state
from kenobot.storage.times import stamp

_HELD, _FORGOTTEN, _WISHED = "files:lost", "files:forgotten", "files:wished"  # keys of `state`
_MOST = 20_000  # records of a loss that can be forgotten by one word; the rest is forgotten one by one


@dataclass(frozen=True, slots=True)
class PendingForget:
    """Records that are still to be forgotten of a loss, as part of the decision `event`, within `reach`."""

    event: int
    records: tuple[int, ...]
    reach: tuple[str, ...]
    session: str


def record_loss(connection: Connection, at: datetime, where: str, records: tuple[int, ...]) -> None:
    """Note that these records' files are gone and that nothing of it was forgotten, inside a transaction."""
    before = open_loss(connection)
    both = dict.fromkeys([*(before.records if before is not None else ()), *records])
    _write(connection, _HELD, MissingFiles(stamp(at), where, len(both), tuple(both)[:_MOST]))


def record_mass_forget(connection: Connection, at: datetime, where: str, count: int, event: int) -> None:
    """Note that so many files or lines were taken out at once, which the decision `event` forgot."""
    _write(connection, _FORGOTTEN, MissingFiles(stamp(at), where, count, event=event))


def open_loss(connection: Connection) -> MissingFiles | None:
    """Read what is held back until the owner says what it was."""
    return _read(connection, _HELD)


def save_pending_forget(connection: Connection, pending: PendingForget) -> None:
    """Note what is still to be forgotten, inside a transaction; nothing when there is none."""
    write_state(connection, _WISHED, json.dumps(asdict(pending)) if pending.records else "")


def read_pending_forget(connection: Connection) -> PendingForget | None:
    """Read what is still to be forgotten because its owner said that the loss was meant."""
    stored = json.loads(read_state(connection, _WISHED) or "null")
    return stored and PendingForget(**stored | {name: tuple(stored[name]) for name in ("records", "reach")})


def resolve_loss(connection: Connection, left: tuple[int, ...] = ()) -> None:
    """Note that the owner has said what it was, inside a transaction; `left` is still held back."""
    before = open_loss(connection)
    if before is None or not left:
        write_state(connection, _HELD, "")
    else:
        _write(connection, _HELD, replace(before, records=left, files=len(left)))


def list_unannounced(connection: Connection) -> list[MissingFiles]:
    """List what the owner does not know yet."""
    found = (_read(connection, key) for key in (_HELD, _FORGOTTEN))
    return [loss for loss in found if loss is not None and not loss.told]


def mark_announced(connection: Connection, loss: MissingFiles) -> bool:
    """Note that the owner is told of it, inside a transaction; False when it is no longer the newest."""
    key = _FORGOTTEN if loss.event else _HELD
    if _read(connection, key) != loss:
        return False
    _write(connection, key, replace(loss, told=True))
    return True


def _read(connection: Connection, key: str) -> MissingFiles | None:
    stored = json.loads(read_state(connection, key) or "null")
    return stored and MissingFiles(**stored | {"records": tuple(stored["records"])})


def _write(connection: Connection, key: str, loss: MissingFiles) -> None:
    write_state(connection, key, json.dumps(asdict(loss), ensure_ascii=False))


def forget_batch(connection: Connection, records: Sequence[Record], reach: Scopes, occasion: AdmitContext) -> int:
    """Forget records as one decision, and as part of the one that the occasion is part of; its event, 0 for none."""
    first = 0
    for record in records:
        hidden = forget(connection, record.id, reach, occasion, reason=Sentence("reasons.file_deleted"))
        if hidden is not None and not first:
            first = hidden.event
            occasion = replace(occasion, part_of=occasion.part_of or first)
    return occasion.part_of or 0 if first else 0
