"""`kenobot proposals`: list, show, approve, reject and undo from outside the bot."""

import json
import sqlite3

import pytest

from kenobot.core.settings.home import Home

from .conftest import Cli


@pytest.fixture
def laid(database: sqlite3.Connection, home: Home) -> Home:
    """Two proposals that wait, and the identity files."""
    home.seed_identity()
    for key, kind, payload in (("a", "rule", '{"instruction": "Ask first."}'), ("b", "setting", "{}")):
        database.execute(
            "INSERT INTO proposal (key, at, kind, title, text, payload) VALUES (?, '2026-02-14', ?, ?, ?, ?)",
            (key, kind, f"title {key}\x1b[2J", "some text", payload),
        )
    return home


def test_a_home_without_proposals_says_so(cli: Cli, database: sqlite3.Connection) -> None:
    """Exit code 2 and a word on stderr, nothing on stdout."""
    assert cli("proposals", "list")[:2] == (2, "")
    assert cli("proposals", "show", "1")[0] == 2
    assert cli("proposals", "approve", "1")[0] == 2


def test_a_home_that_never_ran_says_so(cli: Cli) -> None:
    """Nothing is made by looking."""
    code, out, err = cli("proposals", "list")
    assert (code, out) == (2, "")
    assert "kenobot chat" in err


def test_they_are_listed_and_shown(cli: Cli, laid: Home) -> None:
    """One line each, harmless on a terminal; as JSON without what an approval overwrote."""
    code, out, _ = cli("proposals", "list")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [["1", "pending"], ["2", "pending"]]
    assert "\x1b" not in out
    code, out, _ = cli("proposals", "show", "1", "--json")
    row = json.loads(out)
    assert (row["kind"], row["payload"]) == ("rule", {"instruction": "Ask first."})
    assert "undo" not in row


def test_a_decision_from_outside(cli: Cli, laid: Home) -> None:
    """Approved, undone, and then it can be neither any more; the file is as it was."""
    path = laid.identity / "rules.json"
    before = path.read_bytes()
    assert cli("proposals", "approve", "1")[:2] == (0, "1: approved\n")
    assert b"Ask first." in path.read_bytes()
    assert cli("proposals", "approve", "1")[0] == 1
    assert cli("proposals", "undo", "1")[:2] == (0, "1: undone\n")
    assert path.read_bytes() == before
    assert cli("proposals", "undo", "1")[0] == 1
    code, out, _ = cli("proposals", "reject", "2", "--json")
    assert code == 0
    assert json.loads(out)["state"] == "rejected"
    assert cli("proposals", "list")[0] == 2
    assert cli("proposals", "list", "--state", "all")[0] == 0
