"""`kenobot config` shows what is in force, where it comes from, and no secret."""

import json

import pytest

from kenobot.core.settings.home import Home

from .conftest import Cli

KEY = "sk-ant-a-key-that-nobody-sees"
TOKEN = "123456789:" + "B" * 35


def test_values_and_where_they_come_from(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key has a line with its value and its origin; looking creates nothing."""
    monkeypatch.setenv("KENOBOT_BOT__NAME", "Ana")
    code, out, _ = cli("config")
    assert code == 0
    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert lines["bot.name"] == ["environment", "KENOBOT_BOT__NAME", "Ana"]
    assert lines["media.keep_days"] == ["default", "90"]
    assert not home.path.exists()


def test_secrets_are_only_said_to_be_set(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is "(set)", a missing one "(not set)", in both forms."""
    monkeypatch.setenv("KENOBOT_PROVIDER__NAME", "anthropic")
    assert json.loads(cli("config", "--json")[1])["providers.anthropic.api_key"] == {
        "value": "(not set)",
        "origin": "default",
    }
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    for form in ((), ("--json",)):
        code, out, _ = cli("config", *form)
        assert code == 0
        assert KEY not in out
        assert TOKEN not in out
        assert out.count("(set)") == 2


def test_secrets_in_a_table_are_only_said_to_be_set(cli: Cli, home: Home) -> None:
    """Whatever they are called, and whether or not their plugin is switched on."""
    home.prepare()
    home.config_file.write_text(f'[providers.claude-cli]\nenvironment = {{ SIGNED_IN = "{KEY}" }}\n')
    code, out, _ = cli("config")
    assert (code, KEY in out) == (0, False)
    assert json.loads(cli("config", "get", "providers.claude-cli.environment")[1]) == {"SIGNED_IN": "(set)"}


def test_the_plugins_own_settings_are_shown(cli: Cli, home: Home) -> None:
    """A table of a plugin, switched on or not, stands there with its defaults."""
    home.prepare()
    home.config_file.write_text("[channels.irc]\nport = 7000\n")
    rows = json.loads(cli("config", "--json")[1])
    assert rows["channels.irc.port"] == {"value": 7000, "origin": f"file {home.config_file}"}
    assert rows["channels.irc.nick"] == {"value": "kenobot", "origin": "default"}


def test_mistakes_are_listed(cli: Cli, home: Home) -> None:
    """`config` is also the check: exit 78 and a line a mistake."""
    home.prepare()
    home.config_file.write_text("[backup]\nkeeep = 3\nkeep = 0\n")
    code, out, err = cli("config")
    assert (code, out) == (78, "")
    assert len(err.splitlines()) == 2


def test_one_setting_is_read_and_written(cli: Cli, home: Home) -> None:
    """The file keeps its comments, a text needs no quotes, and what would not start is not written."""
    assert cli("config", "get", "media.keep_days") == (0, "90\n", "")
    code, out, _ = cli("config", "set", "bot.name", "Ana", "la", "Roja")
    assert (code, out.splitlines()[0]) == (0, "bot.name = Ana la Roja")
    assert cli("config", "set", "media.keep_days", "5")[0] == 0
    assert cli("config", "set", "bot.name", "7")[0] == 0
    assert cli("config", "get", "bot.name")[1] == "7\n"
    assert cli("config", "get", "media.keep_days")[1] == "5\n"
    text = home.config_file.read_text("utf-8")
    assert text.count("#") > 50
    for key, value, code in (("media.keep_days", "many", 78), ("media.keep_dayz", "3", 78), ("name", "Ana", 2)):
        assert cli("config", "set", key, value)[0] == code
    assert home.config_file.read_text("utf-8") == text


def test_a_secret_is_not_written_into_the_settings(cli: Cli, home: Home) -> None:
    """Nor shown."""
    code, out, err = cli("config", "set", "providers.anthropic.api_key", "sk-ant-0123456789abcdef")
    assert (code, out) == (78, "")
    assert "has no place in kenobot.toml" in err
    assert "0123456789" not in err
    assert not home.config_file.exists()


def test_an_unknown_setting_and_half_a_command_are_explained(cli: Cli) -> None:
    """With the nearest name, or with what to write."""
    assert cli("config", "get", "bot.nam") == (2, "", 'There is no setting bot.nam; did you mean "bot.name"?\n')
    for words in (["get"], ["set", "bot.name"], ["get", "bot.name", "x"]):
        code, _, err = cli("config", *words)
        assert (code, "config set KEY VALUE" in err) == (2, True)


def test_an_older_name_answers_with_the_new_one(cli: Cli, home: Home) -> None:
    """Of a setting that is none any more, what holds in its place."""
    assert cli("config", "get", "sleep.daily_tokens") == (0, "100000\n", "")
    assert cli("config", "set", "sleep.daily_tokens", "5")[1].startswith("budget.purposes.sleep.daily_tokens = 5\n")
    assert cli("config", "get", "budget.purposes.sleep.daily_tokens")[1] == "5\n"
    said = "loop.attempts is no setting any more; what holds now: always 5.\n"
    assert cli("config", "get", "loop.attempts") == (2, "", said)
    assert cli("config", "set", "loop.attempts", "3") == (2, "", said)


_OLDER = """\
# mine
[memory]
recall = "full"  # all of it
rerank_tokens = 7
[loop]
attempts = 2
backlog = 9
[tools]
web_fetch = { most_mb = 3 }
"""
_RENEWED = """\
# mine
[memory]
# recall = "full"  # all of it
# rerank_tokens = 7
[loop]
# attempts = 2
# backlog = 9
[tools]
web_fetch = { most_mb = 3 }

[budget.purposes.rerank]
daily_tokens = 7
"""


def test_older_names_are_listed_and_brought_up_to_date(cli: Cli, home: Home) -> None:
    """All other lines stay as their owner wrote them, and so do names in a table on one line."""
    home.prepare()
    home.config_file.write_text(_OLDER, "utf-8")
    listed = cli("config")[1].split("name of an older release")[1]
    assert [line.split()[0] for line in listed.splitlines()[1:-1]] == [
        "memory.recall", "memory.rerank_tokens", "loop.attempts", "loop.backlog", "tools.web_fetch.most_mb"
    ]  # fmt: skip
    before = cli("config", "--json")[1]
    assert "5 settings have names of older releases; 4 of them" in cli("doctor", "--offline")[1]
    assert "Brought 4 of 5 names" in cli("doctor", "--offline", "--fix")[1]
    assert home.config_file.read_text("utf-8") == _RENEWED
    assert cli("config", "--json")[1] == before
