"""`kenobot access`: beside a running bot, and without one."""

import json
import sqlite3
from datetime import timedelta

import pytest

from kenobot.core.settings.home import Home
from kenobot.gateway import pairing
from kenobot.storage.connection import connect
from kenobot_testing.clock import START
from tests.unit.cli.conftest import Cli

CONFIG = """\
[channels]
enabled = ["telegram"]
[channels.telegram]
owners = ["1"]
allowed_users = ["2"]
allowed_chats = ["-100"]
"""


@pytest.fixture
def configured(home: Home, database: sqlite3.Connection) -> sqlite3.Connection:
    """A home with an owner, a guest and a group in its configuration, and a database that is open elsewhere."""
    home.config_file.write_text(CONFIG, "utf-8")
    return database


def ask(connection: sqlite3.Connection, user: str = "9", name: str = "Ana") -> str:
    """A stranger asked ten minutes ago; returns their code."""
    ticket = pairing.new_code(lambda bound: int(user) % bound)
    stranger = pairing.Stranger("telegram", user, user, name, "en")
    assert pairing.request_pairing(connection, stranger, ticket, START - timedelta(minutes=10))
    return ticket.formatted


def test_a_stranger_is_approved(cli: Cli, configured: sqlite3.Connection) -> None:
    """They stand in the list, and the running bot finds what they are told in its outbox."""
    code = ask(configured)
    code_, listed, _ = cli("access", "pending")
    assert (code_, listed.splitlines()[-1].split()) == (0, "stranger telegram 9 Ana - 2026-02-14 15:20".split())
    assert cli("access", "approve", code.lower().replace("-", " ")) == (0, "Let in: Ana (telegram 9)\n", "")
    code_, listed, _ = cli("access", "list", "--json")
    assert code_ == 0
    rows = [json.loads(line) for line in listed.splitlines()]
    assert [(row["kind"], row["id"], row["by"]) for row in rows] == [
        ("owner", "1", "configuration"),
        ("guest", "2", "configuration"),
        ("chat", "-100", "configuration"),
        ("guest", "9", "approval"),
    ]
    assert configured.execute("SELECT chat, text, state FROM outbox").fetchall() == [
        ("9", "My owner let you in: we can talk now.", "pending")
    ]
    assert cli("access", "pending")[0] == 2


def test_a_code_may_be_typed_in_two_words(cli: Cli, configured: sqlite3.Connection) -> None:
    """As people read it out."""
    code = ask(configured)
    assert cli("access", "approve", *code.split("-"))[0] == 0


def test_wrong_codes_are_counted_and_shut_pairing(cli: Cli, configured: sqlite3.Connection) -> None:
    """Exit code 1, and after the fifth nothing is open any more."""
    code = ask(configured)
    assert cli("access", "approve", "WRNG-WRNG") == (1, "", "That code is not right. Tries left: 4.\n")
    for _ in range(3):
        cli("access", "approve", "WRNG-WRNG")
    shut = (1, "", "Too many wrong codes: all codes are void, and pairing is shut for an hour.\n")
    assert cli("access", "approve", "WRNG-WRNG") == shut
    assert cli("access", "approve", code) == shut
    assert cli("access", "pending")[0] == 2
    assert configured.execute("SELECT * FROM approved_person").fetchall() == []


def test_somebody_is_put_out(cli: Cli, configured: sqlite3.Connection) -> None:
    """Once; who stands in the configuration is taken out there."""
    cli("access", "approve", ask(configured))
    assert cli("access", "revoke", "telegram", "9") == (0, "Put out: telegram 9\n", "")
    assert cli("access", "revoke", "telegram", "9")[0] == 2
    for user in ("1", "2"):
        code, _, complaint = cli("access", "revoke", "telegram", user)
        assert (code, "take it out of" in complaint) == (2, True)


def test_an_owner_is_not_approved(cli: Cli, home: Home, configured: sqlite3.Connection) -> None:
    """An open code of an account that became the owner's opens nothing."""
    code = ask(configured)
    home.config_file.write_text(CONFIG.replace('["1"]', '["1", "9"]'), "utf-8")
    assert cli("access", "approve", code) == (2, "", "No code is open: a code is good for one hour.\n")


def test_a_name_cannot_paint_the_terminal(cli: Cli, configured: sqlite3.Connection) -> None:
    """Whatever found its way into the table is printed as text."""
    configured.execute(
        "INSERT INTO approved_person VALUES ('telegram', '9', 'A\x1b[2J\nB', '2026-02-14T14:00:00+00:00')"
    )
    last = cli("access", "list")[1].splitlines()[-1]
    assert last.split() == ["guest", "telegram", "9", "A\\x1b[2J", "B", "approval", "2026-02-14", "14:00"]


@pytest.mark.parametrize("command", [("pending",), ("approve", "ABCD-EFGH"), ("revoke", "telegram", "9")])
def test_before_the_first_start_there_is_nothing(cli: Cli, home: Home, command: tuple[str, ...]) -> None:
    """Exit code 2, and no database is made."""
    code, out, complaint = cli("access", *command)
    assert (code, out, "start with `kenobot chat`" in complaint) == (2, "", True)
    assert not home.database.exists()


def test_a_broken_configuration_is_named(cli: Cli, home: Home, configured: sqlite3.Connection) -> None:
    """Who the owners are cannot be known: nobody is approved."""
    code = ask(configured)
    home.config_file.write_text("[channels.telegram]\nowner = 1\n", "utf-8")
    assert cli("access", "approve", code)[0] == 78
    assert configured.execute("SELECT count(*) FROM pairing").fetchone() == (1,)


def test_two_approve_at_the_same_time(cli: Cli, home: Home, configured: sqlite3.Connection) -> None:
    """A transaction of the bot's own is waited for, not overrun."""
    code = ask(configured)
    other = connect(home.database)
    other.execute("BEGIN IMMEDIATE")
    assert pairing.approve(other, code, START, lambda channel, user: False).kind == "approved"
    other.execute("COMMIT")
    other.close()
    assert cli("access", "approve", code)[0] == 2
    assert configured.execute("SELECT count(*) FROM outbox").fetchone() == (1,)
