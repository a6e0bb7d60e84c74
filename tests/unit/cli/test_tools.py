"""`kenobot tools`: what tools did, and what is allowed for good."""

import json
import sqlite3
from datetime import UTC, datetime

import pytest

from kenobot.storage import tool_grants, tool_runs
from kenobot.storage.tool_runs import ToolRun

from .conftest import Cli

_AT = datetime(2026, 2, 14, 9, tzinfo=UTC)


@pytest.fixture
def used(database: sqlite3.Connection) -> sqlite3.Connection:
    """Two calls in a chat, and one that is allowed for good."""
    for number, tool, outcome in ((1, "shell", "done"), (3, "web_fetch", "refused")):
        call = f'{tool} {{"it": "x\x1b[2J"}}'
        run = ToolRun(7, number, "telegram-1", tool, call, outcome, "42", 0.5, _AT)  # type: ignore[arg-type]
        tool_runs.add_run(database, run)
    tool_grants.add_grant(database, "shell", 'shell {"it": "x"}', "1", _AT)
    return database


def test_nothing_is_said_where_nothing_was_called(cli: Cli, database: sqlite3.Connection) -> None:
    """Exit code 2, and what to do."""
    code, out, err = cli("tools", "log")
    assert (code, out) == (2, "")
    assert "tools.enabled" in err
    assert cli("tools", "allowed")[0] == 2


def test_calls_are_listed_the_newest_first(cli: Cli, used: sqlite3.Connection) -> None:
    """With when, where, outcome and arguments, harmless on a terminal; of one tool alone on request."""
    code, out, _ = cli("tools", "log")
    assert code == 0
    assert "not run" in out.splitlines()[1]
    assert "done" in out.splitlines()[2]
    assert "\x1b" not in out
    rows = [json.loads(line) for line in cli("tools", "log", "--tool", "shell", "--json")[1].splitlines()]
    assert [(row["tool"], row["outcome"], row["session"]) for row in rows] == [("shell", "done", "telegram-1")]


def test_what_is_allowed_can_be_withdrawn(cli: Cli, used: sqlite3.Connection) -> None:
    """Once; then it is not there any more."""
    assert "shell" in cli("tools", "allowed")[1]
    assert cli("tools", "withdraw", "1")[:2] == (0, "1: withdrawn\n")
    assert cli("tools", "withdraw", "1")[0] == 2
    assert tool_grants.list_grants(used) == []
