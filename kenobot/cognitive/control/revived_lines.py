"""Lines of files that say what was forgotten or erased, until the owner says whether that is to be remembered again.

An older tree that is checked out, or a backup laid over the files, brings back what was forgotten since. Such a line is
no new word of the owner's: nothing is remembered by it, it is taken out of the file, and its owner is asked.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from kenobot.cognitive.control.forget import update_hidden_turns
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.memory_files import RevivedLine, RevivedLines
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state
from kenobot.storage.times import stamp

_KEY = "files:revived"  # key of `state`
_MOST = 5_000  # lines that one answer decides


def hold_line(connection: Connection, at: datetime, where: str, line: RevivedLine) -> None:
    """Hold a line back until its owner answers, inside a transaction; one that is held already is asked about once."""
    held = open_question(connection)
    if held is None:
        _write(connection, RevivedLines(stamp(at), where, (line,)))
    elif line not in held.lines and len(held.lines) < _MOST:
        _write(connection, replace(held, at=stamp(at), lines=(*held.lines, line), told=False))


def open_question(connection: Connection) -> RevivedLines | None:
    """Read what is held back; None when there is nothing to ask."""
    stored = json.loads(read_state(connection, _KEY) or "null")
    return stored and RevivedLines(**stored | {"lines": tuple(RevivedLine(**line) for line in stored["lines"])})


def mark_announced(connection: Connection, held: RevivedLines) -> None:
    """Note that the owner is asked, inside a transaction, unless more has come back since."""
    if open_question(connection) == held:
        _write(connection, replace(held, told=True))


def resolve(connection: Connection, left: Sequence[RevivedLine] = ()) -> None:
    """Note that the owner has answered, inside a transaction; `left` is still held back."""
    held = open_question(connection)
    if held is None or not left:
        write_state(connection, _KEY, "")
    else:
        _write(connection, replace(held, lines=tuple(left)))


def restore(connection: Connection, known: Record, occasion: AdmitContext) -> int:
    """Remember again what was forgotten, with the turns that told it; the event, 0 where it lives already."""
    if known.status == "active" or store.by_key(connection, known.scope, known.form, known.key) is not None:
        return 0
    values: dict[str, ColumnValue] = {"status": "active", "valid_to": None, "updated": stamp(occasion.at)}
    event = change(connection, known, "restored", values, occasion.change_context(Sentence("reasons.wanted_back")))
    update_hidden_turns(connection, store.require(connection, known.id, known.scope), occasion.at)
    return event


def restore_line(connection: Connection, line: RevivedLine, occasion: AdmitContext) -> Record | None:
    """Remember again what a line says; None where that cannot be, such as what has been erased since."""
    number: int | None = line.record
    if line.record:
        known = store.get(connection, line.record, (line.scope,))
        if known is not None:
            restore(connection, known, occasion)
    else:
        form: Form = "episode" if line.scope.startswith("chat:") else "note"
        said = Candidate(form, line.scope, line.text, source="command")
        number = admit(connection, said, occasion).record
    found = store.get(connection, number, (line.scope,)) if number else None
    return found if found is not None and found.status == "active" else None


def _write(connection: Connection, held: RevivedLines) -> None:
    write_state(connection, _KEY, json.dumps(asdict(held), ensure_ascii=False))
