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
    assert lines["bot.name"] == ["Ana", "environment", "KENOBOT_BOT__NAME"]
    assert lines["memory.days"] == ["3", "default"]
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
    home.config_file.write_text("[loop]\nattemps = 3\nbacklog = 0\n")
    code, out, err = cli("config")
    assert (code, out) == (78, "")
    assert len(err.splitlines()) == 2
