"""`kenobot signals` and `kenobot memory`: what the database says, read-only, harmless to the terminal."""

import json
import re
import sqlite3

import pytest

from kenobot.core.settings.home import Home
from kenobot.ports.signals import MESSAGE_IN

from .conftest import Cli


def signal(
    database: sqlite3.Connection, at: str, name: str = "message:in", trace: str = "t1", **payload: object
) -> None:
    database.execute(
        "insert into signal (at, name, source, trace, payload) values (?, ?, 'loop', ?, ?)",
        (f"2026-02-{at}.000000+00:00", name, trace, json.dumps(payload)),
    )


def record(
    database: sqlite3.Connection, text: str, scope: str = "owner", status: str = "active", seen: int = 1
) -> None:
    at = "2026-02-14T14:30:00.000000+00:00"
    values = {
        "form": "note",
        "category": "fact",
        "scope": scope,
        "text": text,
        "source": "tag",
        "trust": "owner",
        "confidence": 0.9,
        "importance": 0.5,
        "stability": 1.0,
        "mentions": seen,
        "status": status,
        "valid_from": at,
        "created": at,
        "updated": at,
        "last_seen": at,
        "day": "2026-02-14",
        "key": text,
        "changed_event": 1,
    }
    database.execute(
        f"insert into record ({', '.join(values)}) values ({', '.join('?' * len(values))})", tuple(values.values())
    )


def event(database: sqlite3.Connection, at: str, kind: str = "admit", record: int = 1, **data: object) -> None:
    database.execute(
        "insert into event (at, session, actor, type, record_id, data) values (?, 'console-local', 'model', ?, ?, ?)",
        (f"2026-02-{at}.000000+00:00", kind, record, json.dumps(data)),
    )


@pytest.mark.parametrize("command", [["signals"], ["memory", "show"], ["memory", "log"], ["memory", "log", "--json"]])
def test_a_home_without_a_database(cli: Cli, home: Home, command: list[str]) -> None:
    """Before the first run there is a sentence, exit 2, and still no database."""
    code, out, err = cli(*command)
    assert (code, out) == (2, "")
    assert "kenobot chat" in err
    assert not home.path.exists()


@pytest.mark.parametrize("command", [["signals"], ["memory", "show", "--json"], ["memory", "log"]])
def test_nothing_found_is_2(cli: Cli, database: sqlite3.Connection, command: list[str]) -> None:
    """An empty answer is a sentence on stderr and exit 2."""
    code, out, err = cli(*command)
    assert (code, out) == (2, "")
    assert err.endswith(".\n")


def test_a_mistyped_signal_name_gets_a_hint(cli: Cli, database: sqlite3.Connection) -> None:
    """The nearest name is offered."""
    assert 'did you mean "message:in"?' in cli("signals", "--type", "mesage:in")[2]


def test_signals_by_type_trace_time_and_number(cli: Cli, database: sqlite3.Connection) -> None:
    """Every filter narrows, the last ones are kept, and the oldest of them comes first."""
    signal(database, "12T10:00:00", n=1)
    signal(database, "14T13:30:00", n=2)
    signal(database, "14T14:00:00", "message:out", n=3)
    signal(database, "14T14:29:00", trace="t2", n=4)

    def found(*arguments: str) -> list[int]:
        code, out, _ = cli("signals", "--json", *arguments)
        assert code == 0
        return [json.loads(line)["payload"]["n"] for line in out.splitlines()]

    assert found() == [1, 2, 3, 4]
    assert found("--limit", "2") == [3, 4]
    assert found("--type", "message:in") == [1, 2, 4]
    assert found("--trace", "t2") == [4]
    assert found("--since", "1h") == [2, 3, 4]
    assert found("--since", "30m") == [3, 4]
    assert found("--since", "1w") == [1, 2, 3, 4]
    assert found("--since", "2026-02-14") == [2, 3, 4]
    assert found("--since", "2026-02-14T16:00:00+02:00") == [3, 4]
    head, line = cli("signals", "--trace", "t2")[1].splitlines()
    assert head.split() == ["time", "signal", "meaning"]
    assert re.split(" {2,}", line) == ["2026-02-14 14:29", "message:in", f"{MESSAGE_IN.meaning}: n 4 [t2]"]


def test_live_memory_by_scope(cli: Cli, database: sqlite3.Connection) -> None:
    """Only live records are shown, with the scope they belong to, those of a scope together."""
    record(database, "likes tea", seen=3)
    record(database, "liked coffee", status="superseded")
    record(database, "the plan", scope="chat:console-local")
    code, out, _ = cli("memory", "show")
    assert code == 0
    assert out.splitlines() == [
        "#  since       scope               kind  memory",
        "3  2026-02-14  chat:console-local  fact  the plan",
        "1  2026-02-14  owner               fact  likes tea",
    ]
    assert "the plan" not in cli("memory", "show", "--scope", "owner")[1]
    rows = [json.loads(line) for line in cli("memory", "show", "--json")[1].splitlines()]
    assert [row["text"] for row in rows] == ["the plan", "likes tea"]


def test_the_log_of_memory(cli: Cli, database: sqlite3.Connection) -> None:
    """What changed memory is told in order, with its number, by which it can be undone, and its reason.

    What only read it stands in JSON, and the words of what was forgotten nowhere.
    """
    record(database, "likes tea")
    record(database, "liked coffee", status="forgotten")
    event(database, "12T10:00:00", reason="old")
    event(database, "12T11:00:00", "recalled")
    event(database, "12T12:00:00", "forgotten", record=2)
    event(database, "14T14:00:00", reason="new")
    assert json.loads(cli("memory", "log", "--json", "--since", "1d")[1])["data"] == {"reason": "new"}
    head, *lines = (re.split(" {2,}", line) for line in cli("memory", "log")[1].splitlines())
    assert head == ["#", "time", "what", "by", "memory"]
    assert lines == [
        ["1", "2026-02-12 10:00", "admit", "model", "#1 “likes tea” (old)"],
        ["3", "2026-02-12 12:00", "forgotten", "model", "#2"],
        ["4", "2026-02-14 14:00", "admit", "model", "#1 “likes tea” (new)"],
    ]
    assert [json.loads(line)["id"] for line in cli("memory", "log", "--json")[1].splitlines()] == [1, 2, 3, 4]


def test_what_is_remembered_cannot_drive_the_terminal(cli: Cli, database: sqlite3.Connection) -> None:
    """Escape sequences and line breaks in a memory are shown, not obeyed."""
    record(database, "x\x1b[2J\x9b31m\ny\u202ez")
    event(database, "14T14:00:00", reason="\x1b]0;owned\x07\nnext")
    signal(database, "14T14:00:00", note="\x1b[31m\rover")
    text = r"x\x1b[2J\x9b31m y\u202ez"
    shown = {"show": text, "log": rf"#1 “{text}” (\x1b]0;owned\x07 next)", "signals": r": note \x1b[31m over ["}
    for command in (["memory", "show"], ["memory", "log"], ["signals"]):
        out = cli(*command)[1]
        assert not set(out) & set("\x1b\x9b\x07\r\u202e")
        assert len(out.splitlines()) == 2
        assert shown[command[-1]] in out
        out = cli(*command, "--json")[1]
        assert not set(out) & set("\x1b\x9b\x07\r\u202e")
        assert len(out.splitlines()) == 1
    assert "x\\x1b[2J\\x9b31m\ny\\u202ez\n" in cli("memory", "show", "1")[1]


def test_a_damaged_database_is_said_to_be_one(cli: Cli, home: Home) -> None:
    """Garbage in place of the database is one plain line and exit 1."""
    home.prepare()
    home.database.write_bytes(b"garbage" * 1000)
    code, out, err = cli("signals")
    assert (code, out) == (1, "")
    assert "is damaged" in err
    assert len(err.splitlines()) == 1


def test_reading_does_not_write(cli: Cli, home: Home, database: sqlite3.Connection) -> None:
    """A database of another shape is read without being touched, and what is missing is said."""
    database.execute("drop table signal")
    code, _, err = cli("signals")
    assert code == 1
    assert "cannot be read" in err
