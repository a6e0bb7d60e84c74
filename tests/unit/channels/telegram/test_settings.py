"""Settings of the Telegram channel, and building it from them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kenobot.channels.telegram import plugin
from kenobot.channels.telegram.settings import TelegramSettings, is_token
from kenobot.gateway.access import Roster
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import PluginContext
from kenobot_testing.clock import EagerClock
from tests.unit.channels.telegram.cases import conformance

TOKEN = "123456789:" + "A" * 35


@conformance("config.telegram_token_valid")
def test_recognises_the_form_of_a_token(case: dict[str, Any]) -> None:
    """A token is 8 to 10 digits, a colon and 35 characters."""
    assert is_token(case["input"]) is case["expected"]


@pytest.mark.parametrize("text", [TOKEN + "\n", " " + TOKEN, TOKEN[:-1] + "é", "１２３４５６７８:" + "A" * 35])
def test_a_token_with_anything_around_it_is_none(text: str) -> None:
    """White space and look-alike digits are noticed before Telegram would notice them."""
    assert not is_token(text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(" 1 , 2", ["1", "2"]), ("", []), ([1, " 2 "], ["1", "2"]), (-1001234, ["-1001234"]), (["", "3"], ["3"])],
)
def test_lists_of_ids_are_forgiving(given: object, expected: list[str]) -> None:
    """Ids may come as a comma-separated text, as numbers or as a list."""
    assert TelegramSettings.model_validate({"owners": given}).owners == expected


@pytest.mark.parametrize("given", ["@alice", ["1", "bob"], True, 1.5, None])
def test_what_cannot_be_an_id_is_refused(given: object) -> None:
    """A name would never match anybody, so it is refused at once."""
    with pytest.raises(ValidationError, match="whole numbers"):
        TelegramSettings.model_validate({"allowed_users": given})


def test_unknown_keys_are_refused_and_values_are_not_quoted() -> None:
    """A misspelt key is an error, and no error quotes what might be the token."""
    with pytest.raises(ValidationError) as refused:
        TelegramSettings.model_validate({"tokn": TOKEN, "token": {"x": TOKEN}})
    assert TOKEN not in str(refused.value)


def test_a_token_of_the_wrong_form_is_refused_with_an_example() -> None:
    """Without quoting it."""
    with pytest.raises(ValidationError, match="it is like 1234567890:AAEh") as refused:
        TelegramSettings.model_validate({"owners": "1", "token": TOKEN + "x"})
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"owners": "1"}, "has no bot token"),
        ({"token": TOKEN}, "Nobody may talk"),
    ],
)
def test_build_says_what_a_person_must_fix(settings: dict[str, str], sentence: str, tmp_path: Path) -> None:
    """One plain sentence, without the token."""
    with pytest.raises(ConfigError, match=sentence) as refused:
        plugin.build(TelegramSettings.model_validate(settings), PluginContext(tmp_path, EagerClock(), "Keno"))
    assert "A" * 20 not in str(refused.value)


def test_build_makes_a_channel(tmp_path: Path) -> None:
    """With a token and somebody to talk to there is a channel, and no connection yet."""
    settings = TelegramSettings.model_validate({"token": TOKEN, "owners": 1})
    assert plugin.build(settings, PluginContext(tmp_path, EagerClock(), "Keno")).name == "telegram"


def test_importing_the_plugin_does_not_import_the_library() -> None:
    """Somebody who does not use Telegram does not pay for its library."""
    code = "import sys, kenobot.channels.telegram; sys.exit('telegram' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@conformance("telegram.allowlist")
def test_lets_in_who_is_listed(case: dict[str, Any]) -> None:
    """A listed user or a listed chat is let in; an empty list lets nobody in."""
    config = case["input"]["config"]
    users = config.get("allowedUsers", config.get("allowFrom", []))
    roster = Roster.of((), users, config.get("allowedChatIds", []))
    assert roster.allows(case["input"]["userId"], case["input"]["chatId"]) is case["expected"]


def test_owners_are_let_in() -> None:
    """An owner needs no second entry among the users."""
    roster = Roster.from_settings(TelegramSettings.model_validate({"owners": "7"}))
    assert roster.allows("7", "-100")
    assert not roster.allows("8", "7")
