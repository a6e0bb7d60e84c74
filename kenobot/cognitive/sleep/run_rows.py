"""Rows of sleep: its nights and their passes, answers of the model, and proposals."""

import json
from collections.abc import Mapping
from dataclasses import astuple
from datetime import datetime
from typing import TYPE_CHECKING

from kenobot.ports.json_value import Json
from kenobot.ports.nights import PassResult, Phase, SleepRun
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state
from kenobot.storage.times import stamp

if TYPE_CHECKING:
    from kenobot.cognitive.sleep.plan.changes import ProposeChange

_ASKED = "sleep:asked"  # a key of the table `key_value`
_RUN = "SELECT id, at, cause, phases, state, finished, report FROM sleep_run"
_RESULT = "name, phase, live, touched, done, skipped, trouble"


def begin_or_resume(connection: Connection, at: datetime, cause: str, phases: tuple[Phase, ...]) -> SleepRun:
    """Resume the night that was cut short, or else begin one."""
    run = last_run(connection, "running")
    if is_asked_for(connection):
        write_state(connection, _ASKED, "")
    if run is None:
        connection.execute(
            "INSERT INTO sleep_run (at, cause, phases) VALUES (?, ?, ?)", (stamp(at), cause, json.dumps(phases))
        )
        run = last_run(connection, "running")
    assert run is not None
    return run


def ask_for_night(connection: Connection) -> None:
    """Note that the owner wants a night as soon as may be."""
    write_state(connection, _ASKED, "1")


def is_asked_for(connection: Connection) -> bool:
    """Return whether the owner wants a night that has not begun."""
    return read_state(connection, _ASKED) == "1"


def last_run(connection: Connection, state: str = "finished") -> SleepRun | None:
    """Return the newest night in a state."""
    return _run(connection.execute(f"{_RUN} WHERE state = ? ORDER BY id DESC LIMIT 1", (state,)).fetchone())


def get_run(connection: Connection, run: int) -> SleepRun | None:
    """Return a night by its number."""
    return _run(connection.execute(f"{_RUN} WHERE id = ?", (run,)).fetchone())


def finish_run(connection: Connection, run: int, at: datetime, report: Mapping[str, Json]) -> None:
    """Finish a night, and drop the model's answers in it."""
    connection.execute(
        "UPDATE sleep_run SET state = 'finished', finished = ?, report = ? WHERE id = ?",
        (stamp(at), json.dumps(report, ensure_ascii=False), run),
    )
    connection.execute("DELETE FROM sleep_answer WHERE run_id = ?", (run,))


def pass_results(connection: Connection, run: int) -> list[PassResult]:
    """Return the finished passes of a night, in their order."""
    rows = connection.execute(f"SELECT {_RESULT} FROM sleep_pass WHERE run_id = ? ORDER BY rowid", (run,))
    return [PassResult(*row) for row in rows]


def save_pass_result(connection: Connection, run: int, result: PassResult) -> None:
    """Save that a pass is finished."""
    connection.execute(
        f"INSERT OR REPLACE INTO sleep_pass (run_id, {_RESULT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (run, *astuple(result)),
    )


def model_answers(connection: Connection, run: int) -> dict[str, str]:
    """Return the model's answers in a night, by the key of the question."""
    return dict(connection.execute("SELECT key, text FROM sleep_answer WHERE run_id = ?", (run,)).fetchall())


def save_model_answer(connection: Connection, run: int, key: str, text: str) -> None:
    """Save an answer of the model."""
    connection.execute("INSERT OR REPLACE INTO sleep_answer (run_id, key, text) VALUES (?, ?, ?)", (run, key, text))


def insert_proposal(connection: Connection, part: "ProposeChange", run: int, at: datetime) -> bool:
    """Save a proposal; False when it was made before, whatever the owner decided."""
    payload, evidence = (json.dumps(dict(value), ensure_ascii=False) for value in (part.payload, part.evidence))
    row = (part.key, run, stamp(at), part.kind, part.title, part.text, payload, evidence)
    cursor = connection.execute(
        "INSERT INTO proposal (key, run_id, at, kind, title, text, payload, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (key) DO NOTHING",
        row,
    )
    return cursor.rowcount == 1


def _run(row: tuple[int, str, str, str, str, str | None, str] | None) -> SleepRun | None:
    if row is None:
        return None
    number, at, cause, phases, state, finished, report = row
    ended = datetime.fromisoformat(finished) if finished else None
    return SleepRun(
        number, datetime.fromisoformat(at), cause, tuple(json.loads(phases)), state, ended, json.loads(report)
    )
