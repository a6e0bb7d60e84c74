"""`kenobot deadletter`: what went wrong is listed, shown, retried and dropped."""

import json
import sqlite3

import pytest

from kenobot.core.settings.home import Home

from .conftest import Cli


@pytest.fixture
def mail(database: sqlite3.Connection) -> sqlite3.Connection:
    """in-1 answered, 2 dead, 3 failed, 4 expired, 5 unreadable, 6 waiting; out-1 sent, 2 undelivered, 3 waiting."""
    rows = [
        ("answered", "s", "fine", ""),
        ("dead", "s", "poison\x1b[2J\nsecond line", "ValueError: it broke"),
        ("failed", "s", "refused words", "Rejected: no"),
        ("expired", "s", "old words", "it was 50 hours old"),
        ("dead", "", "{broken", "the message has no date"),
        ("pending", "s", "new words", ""),
    ]
    for number, (state, session, text, reason) in enumerate(rows, 1):
        at = f"2026-02-14T{number + 6:02}:00:00.000001+00:00"
        database.execute(
            "insert into inbox (channel, external_id, chat, session, sender, sender_name, text, sent_at, received_at, "
            "trace, state, reason, done_at, attempts) values ('telegram', ?, ?, ?, ?, ?, ?, ?, ?, 'trace', ?, ?, ?, 5)",
            (
                str(number),
                "42" if session else "",
                session,
                "42" if session else "",
                "Ana" if session else "",
                text,
                at,
                at,
                state,
                reason,
                None if state == "pending" else at,
            ),
        )
    for number, state in enumerate(("sent", "dead", "pending"), 1):
        at = f"2026-02-14T{number + 12:02}:00:00.000001+00:00"
        database.execute(
            "insert into outbox (inbox_id, part, channel, chat, text, trace, state, reason, created_at, done_at) "
            "values (?, 0, 'telegram', '42', 'an answer', 'trace', ?, 'Rejected: blocked', ?, ?)",
            (number, state, at, None if state == "pending" else at),
        )
    return database


def ids(out: str) -> list[str]:
    """The ids of a list, below its heads, or of what was done."""
    return [line.split()[0] for line in out.splitlines() if not line.startswith("id ")]


def states(database: sqlite3.Connection) -> dict[str, str]:
    rows = database.execute("select 'in-' || id, state from inbox union all select 'out-' || id, state from outbox")
    return dict(rows.fetchall())


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["show", "in-1"], ["retry", "--all"], ["drop", "out-1"]]
)
def test_a_home_without_a_database(cli: Cli, home: Home, command: list[str]) -> None:
    """Before the first run there is a sentence, exit 2, and still no database."""
    code, out, err = cli("deadletter", *command)
    assert (code, out, home.database.exists()) == (2, "", False)
    assert "start with `kenobot chat`" in err


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], ["in-2", "in-3", "in-4", "in-5", "out-2"]),
        (["--state", "dead"], ["in-2", "in-5"]),
        (["--state", "failed"], ["in-3"]),
        (["--state", "expired"], ["in-4"]),
        (["--state", "undelivered"], ["out-2"]),
        (["--state", "waiting"], ["in-6", "out-3"]),
        (["--state", "all"], ["in-2", "in-3", "in-4", "in-5", "in-6", "out-2", "out-3"]),
        (["--limit", "2"], ["in-5", "out-2"]),
        (["--since", "4h"], ["in-5", "out-2"]),
        (["--since", "2026-02-14T13:30", "--state", "all"], ["out-2", "out-3"]),
    ],
)
def test_the_list_shows_what_was_asked_for(
    cli: Cli, mail: sqlite3.Connection, arguments: list[str], found: list[str]
) -> None:
    """Oldest first, by state, time and number; as lines and as JSON alike."""
    code, out, err = cli("deadletter", "list", *arguments)
    assert (code, ids(out), err) == (0, found, "")
    code, out, err = cli("deadletter", "list", "--json", *arguments)
    assert (code, [json.loads(line)["id"] for line in out.splitlines()], err) == (0, found, "")


def test_the_list_says_why_without_peoples_words(cli: Cli, mail: sqlite3.Connection) -> None:
    """Who and where, how often it was tried, and the reason."""
    _, out, _ = cli("deadletter", "list")
    line = out.splitlines()[1]
    for word in ("in-2", "dead", "2026-02-14 08:00", "telegram 42", "Ana", "  5  ", "ValueError: it broke"):
        assert word in line
    assert "words" not in out and "poison" not in out
    assert "text" not in json.loads(cli("deadletter", "list", "--json")[1].splitlines()[0])


def test_one_letter_is_shown_whole_and_harmless(cli: Cli, mail: sqlite3.Connection) -> None:
    """With its text; what a terminal would obey is spelled out."""
    code, out, err = cli("deadletter", "show", "in-2")
    assert (code, err) == (0, "")
    assert "reason:    ValueError: it broke" in out
    assert out.endswith("\n\npoison\\x1b[2J\nsecond line\n")
    assert json.loads(cli("deadletter", "show", "in-2", "--json")[1])["text"] == "poison\x1b[2J\nsecond line"
    assert "an answer" in cli("deadletter", "show", "out-2")[1]
    assert "{broken" in cli("deadletter", "show", "in-5")[1]


@pytest.mark.parametrize("number", ["in-1", "out-1", "in-99"])
@pytest.mark.parametrize("command", ["show", "retry", "drop"])
def test_what_went_well_is_no_letter(cli: Cli, mail: sqlite3.Connection, command: str, number: str) -> None:
    """Nor is a number that never was: exit 2, and nothing is changed."""
    before = states(mail)
    assert cli("deadletter", command, number) == (2, "", f"{number}: there is no such message.\n")
    assert states(mail) == before


def test_named_letters_are_retried(cli: Cli, mail: sqlite3.Connection) -> None:
    """And only these; naming one twice does no harm."""
    assert cli("deadletter", "retry", "in-3", "out-2", "in-3") == (0, "in-3: retried\nout-2: retried\n", "")
    now = states(mail)
    assert (now["in-3"], now["out-2"], now["in-2"]) == ("pending", "pending", "dead")
    assert mail.execute("select attempts, patience_sent, done_at, retried_at from inbox where id = 3").fetchone() == (
        0,
        0,
        None,
        "2026-02-14T14:30:00+00:00",
    )


def test_everything_that_can_be_is_retried(cli: Cli, mail: sqlite3.Connection) -> None:
    """But not what could not be understood; then there is nothing left to retry."""
    code, out, err = cli("deadletter", "retry", "--all")
    assert (code, ids(out), err) == (0, ["in-2:", "in-3:", "in-4:", "out-2:"], "")
    assert states(mail)["in-5"] == "dead"
    assert cli("deadletter", "retry", "--all") == (2, "", "No message can be retried.\n")


def test_all_of_one_state(cli: Cli, mail: sqlite3.Connection) -> None:
    """--state narrows --all."""
    assert cli("deadletter", "drop", "--all", "--state", "failed") == (0, "in-3: dropped\n", "")
    assert states(mail)["in-2"] == "dead"


def test_everything_can_be_dropped(cli: Cli, mail: sqlite3.Connection) -> None:
    """Also what could not be understood; not what is still on its way. Words are deleted."""
    code, out, _ = cli("deadletter", "drop", "--all")
    assert (code, ids(out)) == (0, ["in-2:", "in-3:", "in-4:", "in-5:", "out-2:"])
    assert cli("deadletter", "list")[0] == 2
    assert ids(cli("deadletter", "list", "--state", "all")[1]) == ["in-6", "out-3"]
    assert mail.execute("select group_concat(text, '') from inbox where id between 2 and 5").fetchone() == ("",)


def test_what_cannot_be_done_is_said_and_the_rest_is_done(cli: Cli, mail: sqlite3.Connection) -> None:
    """Exit 1, with a reason for each."""
    code, out, err = cli("deadletter", "retry", "in-2", "in-5", "in-6")
    assert (code, out) == (1, "in-2: retried\n")
    assert err.splitlines() == [
        "in-5: it could not be read when it came in; it can only be shown and dropped.",
        "in-6: it is still on its way and needs nothing.",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "12"],
        ["show"],
        ["retry"],
        ["drop", "in-x"],
        ["retry", "--all", "in-2"],
        ["list", "--state", "lost"],
        ["retry", "in-2", "--state", "dead"],
    ],
)
def test_wrong_usage_is_refused(cli: Cli, mail: sqlite3.Connection, arguments: list[str]) -> None:
    """With exit 2 and a word on stderr; nothing is changed."""
    before = states(mail)
    code, out, err = cli("deadletter", *arguments)
    assert (code, out, bool(err)) == (2, "", True)
    assert states(mail) == before


def test_an_older_database_is_left_to_the_bot(cli: Cli, mail: sqlite3.Connection) -> None:
    """It makes a backup before it changes anything; looking is possible all the same."""
    mail.execute("pragma user_version = 1")
    code, _, err = cli("deadletter", "retry", "in-2")
    assert (code, "start the bot once" in err) == (78, True)
    assert cli("deadletter", "list")[0] == 0
    assert states(mail)["in-2"] == "dead"
