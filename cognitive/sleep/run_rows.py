"""Rows of sleep: the ledger of its nights, what a model said in them, and what it proposes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from kenobot.cognitive.policy.sleep import Phase
from kenobot.cognitive.sleep.plan.changes import ProposeChange
from kenobot.cognitive.store import records
from kenobot.cognitive.store.records import Json
from kenobot.storage.connection import Connection

# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SleepRun:
    """A night as the ledger has it. cause: "hourly" or "command". finished: None while it is under way."""

    id: int
    at: datetime
    cause: str
    phases: tuple[str, ...]
    state: str
    finished: datetime | None
    report: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class PassResult:
    """A finished pass. live_records: live records when it began. changed_records: records it changed.

    trouble: why it failed, or "".
    """

    name: str
    phase: Phase
    live_records: int
    changed_records: int
    done: int
    skipped: int
    trouble: str = ""


_RUN = "id, at, cause, phases, state, finished, report"


def begin_or_resume(connection: Connection, at: datetime, cause: str, phases: tuple[Phase, ...]) -> SleepRun:
    """The night that is to be gone on with: one that was cut short, else a new one, whose moment is `at`."""
    row = connection.execute(f"SELECT {_RUN} FROM sleep_run WHERE state = 'running'").fetchone()
    if row is None:
        connection.execute(
            "INSERT INTO sleep_run (at, cause, phases) VALUES (?, ?, ?)", (records.stamp(at), cause, json.dumps(phases))
        )
        row = connection.execute(f"SELECT {_RUN} FROM sleep_run WHERE state = 'running'").fetchone()
    return _run(row)


def last_run(connection: Connection, state: str = "finished") -> SleepRun | None:
    """The newest night in a state; None when there is none."""
    row = connection.execute(
        f"SELECT {_RUN} FROM sleep_run WHERE state = ? ORDER BY id DESC LIMIT 1", (state,)
    ).fetchone()
    return _run(row) if row else None


def get_run(connection: Connection, run: int) -> SleepRun | None:
    """A night by its number."""
    row = connection.execute(f"SELECT {_RUN} FROM sleep_run WHERE id = ?", (run,)).fetchone()
    return _run(row) if row else None


def finish_run(connection: Connection, run: int, at: datetime, report: Mapping[str, Json]) -> None:
    """Close a night; what a model said in it is no longer needed."""
    connection.execute(
        "UPDATE sleep_run SET state = 'finished', finished = ?, report = ? WHERE id = ?",
        (records.stamp(at), json.dumps(report, ensure_ascii=False), run),
    )
    connection.execute("DELETE FROM sleep_answer WHERE run_id = ?", (run,))


def pass_results(connection: Connection, run: int) -> list[PassResult]:
    """The passes of a night that are finished, in their order."""
    rows = connection.execute(
        "SELECT name, phase, live, touched, done, skipped, trouble FROM sleep_pass WHERE run_id = ? ORDER BY rowid",
        (run,),
    )
    return [PassResult(*row) for row in rows]


def save_pass_result(connection: Connection, run: int, done: PassResult) -> None:
    """Write down that a pass is finished."""
    connection.execute(
        "INSERT OR REPLACE INTO sleep_pass (run_id, name, phase, live, touched, done, skipped, trouble) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (run, done.name, done.phase, done.live_records, done.changed_records, done.done, done.skipped, done.trouble),
    )


def _run(row: tuple[int, str, str, str, str, str | None, str]) -> SleepRun:
    number, at, cause, phases, state, finished, report = row
    ended = datetime.fromisoformat(finished) if finished else None
    return SleepRun(
        number, datetime.fromisoformat(at), cause, tuple(json.loads(phases)), state, ended, json.loads(report)
    )


# ── what a model said ────────────────────────────────────────────────────────────────────────────────────────────


def model_answers(connection: Connection, run: int) -> dict[str, str]:
    """What a model said in a night, by the key of the question."""
    return dict(connection.execute("SELECT key, text FROM sleep_answer WHERE run_id = ?", (run,)).fetchall())


def save_model_answer(connection: Connection, run: int, key: str, text: str) -> None:
    """Write down what a model said."""
    connection.execute("INSERT OR REPLACE INTO sleep_answer (run_id, key, text) VALUES (?, ?, ?)", (run, key, text))


# ── proposals ────────────────────────────────────────────────────────────────────────────────────────────────────


def insert_proposal(connection: Connection, part: ProposeChange, run: int, at: datetime) -> bool:
    """Lay something before the owner; False when that was done before, whatever they decided."""
    made = connection.execute(
        "INSERT INTO proposal (key, run_id, at, kind, title, text, payload, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (key) DO NOTHING",
        (
            part.key,
            run,
            records.stamp(at),
            part.kind,
            part.title,
            part.text,
            json.dumps(dict(part.payload), ensure_ascii=False),
            json.dumps(dict(part.evidence), ensure_ascii=False),
        ),
    )
    return made.rowcount == 1
