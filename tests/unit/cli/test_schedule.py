"""`kenobot schedule`: reminders are added, listed, shown and changed, with or without a running bot."""

import json
from typing import Any

import pytest

from .conftest import Cli


def added(cli: Cli, *words: str) -> dict[str, Any]:
    code, out, err = cli("schedule", "add", "--json", *words)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def shown(cli: Cli, number: int) -> dict[str, Any]:
    code, out, err = cli("schedule", "show", str(number), "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_reminder_is_added_by_words_and_listed(cli: Cli) -> None:
    """It is the owner's, for the console where they have written nowhere yet."""
    job = added(cli, "tomorrow", "at", "8", "am", "call", "Luis")
    assert (job["text"], job["state"], job["channel"], job["scope"]) == ("call Luis", "active", "console", "owner")
    code, out, _ = cli("schedule", "list")
    assert code == 0
    assert out.splitlines()[0].split() == ["#", "next", "state", "repeats", "chat", "text"]
    assert out.splitlines()[1].endswith("call Luis")
    assert cli("schedule", "list", "--scope", "user:somebody")[0] == 2


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--at", "2999-12-24T20:00"], None),
        (["--cron", "0 9 * * 1-5"], "cron:0 9 * * 1-5"),
        (["--rule", "FREQ=MONTHLY;BYDAY=-1FR", "--start", "2026-12-01T09:00"], "FREQ=MONTHLY;BYDAY=-1FR"),
    ],
)
def test_a_reminder_is_added_by_an_option(cli: Cli, options: list[str], rule: str | None) -> None:
    """Then its words are all to be said."""
    job = added(cli, "dinner", "at", "8", *options)
    assert (job["text"], job["rule"]) == ("dinner at 8", rule)
    assert job["next_due"] is not None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["water", "plants"], "That names no time"),
        (["tomorrow", "at", "5", "dentist"], "several things"),
        (["x", "--at", "2020-01-01T00:00"], "has passed"),
        (["x", "--cron", "0 0 31 2 *"], "cannot use the recurrence"),
        (["x", "--rule", "FREQ=NEVER"], "Give an RRULE such as"),
        (["x", "--at", "2999-01-01T00:00", "--zone", "Mars"], "no time zone"),
        (["x", "--at", "2999-01-01T00:00", "--chat", "1"], "goes with --channel"),
        (["x", "--at", "2999-01-01T00:00", "--channel", "pigeon"], "channel pigeon is not enabled"),
    ],
)
def test_what_is_no_reminder_is_refused_with_what_to_do(cli: Cli, words: list[str], sentence: str) -> None:
    """And nothing is stored."""
    code, out, err = cli("schedule", "add", *words)
    assert code in (1, 2)
    assert out == ""
    assert sentence in err
    assert cli("schedule", "list")[0] == 2


def test_a_local_time_has_no_offset(cli: Cli) -> None:
    """What has one is refused before anything else."""
    code, _, err = cli("schedule", "add", "x", "--at", "2999-01-01T00:00+01:00")
    assert code == 2
    assert "no local time" in err


def test_a_reminder_goes_through_its_states(cli: Cli) -> None:
    """Each change is shown, and taken back by undo."""
    number = added(cli, "pill", "--cron", "0 9 * * *")["id"]
    first = shown(cli, number)["next_due"]
    for command, state in (("pause", "paused"), ("resume", "active"), ("cancel", "cancelled"), ("undo", "active")):
        code, out, err = cli("schedule", command, str(number))
        assert code == 0, err
        assert shown(cli, number)["state"] == state
    assert cli("schedule", "skip", f"#{number}")[0] == 0
    assert shown(cli, number)["next_due"] > first
    assert cli("schedule", "undo", str(number))[0] == 0
    assert shown(cli, number)["next_due"] == first
    assert cli("schedule", "run", str(number))[0] == 0
    assert shown(cli, number)["next_due"] < first
    code, out, _ = cli("schedule", "show", str(number))
    assert "pill" in out
    assert "cron:0 9 * * *" in out


def test_a_reminder_is_snoozed_by_words(cli: Cli) -> None:
    """One that was not told yet comes later."""
    number = added(cli, "tea", "--at", "2999-01-01T00:00")["id"]
    assert cli("schedule", "snooze", str(number), "in", "2", "hours")[0] == 0
    assert shown(cli, number)["next_due"] < "2999"
    code, _, err = cli("schedule", "snooze", str(number), "every", "day")
    assert (code, "no single moment" in err) == (2, True)


def test_a_reminder_that_is_not_there_is_named(cli: Cli) -> None:
    """With where to look."""
    added(cli, "tea", "--at", "2999-01-01T00:00")
    for words in (["show", "99"], ["cancel", "99"], ["snooze", "99", "in", "1", "hour"]):
        code, _, err = cli("schedule", *words)
        assert (code, "There is no reminder 99" in err) == (2, True)


def test_it_speaks_spanish(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its errors too."""
    monkeypatch.setenv("LC_ALL", "es_ES.UTF-8")
    assert added(cli, "mañana", "a", "las", "8", "llamar", "a", "Luis")["language"] == "es"
    assert "próximo" in cli("schedule", "list")[1]
    assert "Esa hora ya ha pasado" in cli("schedule", "add", "x", "--at", "2020-01-01T00:00")[2]
