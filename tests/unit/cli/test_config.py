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
    assert lines["memory.days"] == ["default", "3"]
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
    home.config_file.write_text("[channels.console]\ncolour = false\n")
    rows = json.loads(cli("config", "--json")[1])
    assert rows["channels.console.colour"] == {"value": False, "origin": f"file {home.config_file}"}
    assert rows["channels.console.user"] == {"value": "owner", "origin": "default"}


def test_mistakes_are_listed(cli: Cli, home: Home) -> None:
    """`config` is also the check: exit 78 and a line a mistake."""
    home.prepare()
    home.config_file.write_text("[loop]\nattemps = 3\nchat_backlog = 0\n")
    code, out, err = cli("config")
    assert (code, out) == (78, "")
    assert len(err.splitlines()) == 2


def test_one_setting_is_read_and_written(cli: Cli, home: Home) -> None:
    """The file keeps its comments, a text needs no quotes, and what would not start is not written."""
    assert cli("config", "get", "memory.days") == (0, "3\n", "")
    code, out, _ = cli("config", "set", "bot.name", "Ana", "la", "Roja")
    assert (code, out.splitlines()[0]) == (0, "bot.name = Ana la Roja")
    assert cli("config", "set", "memory.days", "5")[0] == 0
    assert cli("config", "set", "bot.name", "7")[0] == 0
    assert cli("config", "get", "bot.name")[1] == "7\n"
    assert cli("config", "get", "memory.days")[1] == "5\n"
    text = home.config_file.read_text("utf-8")
    assert text.count("#") > 50
    for key, value, code in (("memory.days", "many", 78), ("memory.dayz", "3", 78), ("name", "Ana", 2)):
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
