"""What went from memory's files all at once: held back as a loss, or forgotten as a wish, and told in any case.

A folder that a sync tool or a full disk took away looks like hundreds of deletions by hand. So what is lost is written
again and nothing of it forgotten, until the owner says that it was meant; and what many lines taken out at once did
forget is one decision, which one undo takes back. What is to be told is a row of the database: it outlives a crash, and
a look by the command line while no bot ran.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kenobot.cognitive.control.forget import forget_record
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state

_HELD, _FORGOTTEN, _WISHED = "files:lost", "files:forgotten", "files:wished"  # keys of `state`
_MOST = 20_000  # records of a loss that can be forgotten by one word; the rest is forgotten one by one


@dataclass(frozen=True, slots=True)
class MissingFiles:
    """What is gone at once. where: a folder or file that shows it. files: how many files or lines.

    records: whose cards or lines they were, which are held back. event: the decision that forgot them instead, 0 where
    they are held back. told: the owner knows.
    """

    at: str
    where: str
    files: int
    records: tuple[int, ...] = ()
    event: int = 0
    told: bool = False


@dataclass(frozen=True, slots=True)
class PendingForget:
    """What is still to be forgotten of a loss, as part of the decision `event`, within `reach`."""

    event: int
    records: tuple[int, ...]
    reach: tuple[str, ...]
    session: str


def record_loss(connection: Connection, at: datetime, where: str, records: tuple[int, ...]) -> None:
    """Note that these records' files are gone and that nothing of it was forgotten, inside a transaction."""
    before = open_loss(connection)
    both = dict.fromkeys([*(before.records if before is not None else ()), *records])
    _write(connection, _HELD, MissingFiles(store.stamp(at), where, len(both), tuple(both)[:_MOST]))


def record_mass_forget(connection: Connection, at: datetime, where: str, count: int, event: int) -> None:
    """Note that so many files or lines were taken out at once, which the decision `event` forgot."""
    _write(connection, _FORGOTTEN, MissingFiles(store.stamp(at), where, count, event=event))


def open_loss(connection: Connection) -> MissingFiles | None:
    """What is held back until the owner says what it was."""
    return _read(connection, _HELD)


def save_pending_forget(connection: Connection, pending: PendingForget) -> None:
    """Note what is still to be forgotten, inside a transaction; nothing when there is none."""
    said: dict[str, Json] = {
        "event": pending.event,
        "records": [*pending.records],
        "reach": [*pending.reach],
        "session": pending.session,
    }
    write_state(connection, _WISHED, json.dumps(said) if pending.records else "")


def read_pending_forget(connection: Connection) -> PendingForget | None:
    """What is still to be forgotten because its owner said that the loss was meant."""
    told = read_state(connection, _WISHED)
    if not told:
        return None
    said = json.loads(told)
    return PendingForget(said["event"], tuple(said["records"]), tuple(said["reach"]), said["session"])


def resolve_loss(connection: Connection, left: tuple[int, ...] = ()) -> None:
    """The owner has said what it was, inside a transaction; `left` is still held back."""
    before = open_loss(connection)
    if before is None or not left:
        write_state(connection, _HELD, "")
    else:
        _write(connection, _HELD, replace(before, records=left, files=len(left)))


def unannounced(connection: Connection) -> list[MissingFiles]:
    """What the owner does not know yet."""
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
    told = read_state(connection, key)
    if not told:
        return None
    said = json.loads(told)
    return MissingFiles(said["at"], said["where"], said["files"], tuple(said["records"]), said["event"], said["told"])


def _write(connection: Connection, key: str, loss: MissingFiles) -> None:
    said: dict[str, Json] = {
        "at": loss.at,
        "where": loss.where,
        "files": loss.files,
        "records": [*loss.records],
        "event": loss.event,
        "told": loss.told,
    }
    write_state(connection, key, json.dumps(said, ensure_ascii=False))


def forget_batch(connection: Connection, records: Sequence[Record], reach: Scopes, occasion: AdmitContext) -> int:
    """Forget records as one decision, and as part of the one that the occasion is part of; its event, 0 for none."""
    first = 0
    for record in records:
        hidden = forget_record(connection, record.id, reach, occasion, reason="its file was deleted")
        if hidden is not None and not first:
            first = hidden.event
            occasion = replace(occasion, part_of=occasion.part_of or first)
    return occasion.part_of or 0 if first else 0
