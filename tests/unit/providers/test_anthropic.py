"""The Anthropic provider's pure parts, and what it says before it talks to anybody."""

import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from pydantic import SecretStr, ValidationError

from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Message, Request
from kenobot.providers.anthropic import AnthropicSettings, build, plugin, request_payload
from kenobot.providers.service import retry_after
from kenobot_testing.clock import START, ManualClock

_SURROUNDINGS = PluginContext(home=Path("unused"), clock=ManualClock(), bot_name="Kenobot")


def test_importing_the_module_or_asking_without_a_key_does_not_load_the_sdk() -> None:
    """The SDK costs more than a second to import, so it waits until it is needed."""
    program = (
        "import sys; from kenobot.providers.anthropic import AnthropicSettings, build\n"
        "try: build(AnthropicSettings(), None)\n"
        "except Exception as error: print(error)\n"
        "print('anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "There is no Anthropic API key: run `kenobot setup` or set ANTHROPIC_API_KEY.",
        "False",
    ]


@pytest.mark.parametrize("key", ["", "   ", "\n"])
def test_a_missing_key_is_a_configuration_error(key: str) -> None:
    """A blank key is a missing key."""
    with pytest.raises(ConfigError, match="There is no Anthropic API key"):
        build(AnthropicSettings(api_key=SecretStr(key)), _SURROUNDINGS)


@pytest.mark.parametrize("key", ["sk-ant-canary-ñ", "sk-ant-canary\r\nx: y", "sk-ant canary"])
def test_a_mangled_key_is_refused_without_being_shown(key: str) -> None:
    """What cannot stand in a header is found at the start, and the error does not repeat it."""
    with pytest.raises(ConfigError) as caught:
        build(AnthropicSettings(api_key=SecretStr(key)), _SURROUNDINGS)
    assert "canary" not in str(caught.value)


def test_settings_are_closed_and_hide_the_key() -> None:
    """A mistyped setting is an error, and printing the settings does not print the key."""
    with pytest.raises(ValidationError):
        plugin.settings.model_validate({"modle": "x"})
    assert "canary" not in repr(AnthropicSettings(api_key=SecretStr("canary")))


def test_the_default_model_is_one_the_sdk_knows_and_does_not_deprecate() -> None:
    """A model about to be switched off would break new homes."""
    from typing import get_args

    from anthropic.resources.messages import messages
    from anthropic.types.model import Model

    default = AnthropicSettings().model
    assert default in get_args(get_args(Model)[0])
    assert default not in vars(messages)["DEPRECATED_MODELS"]  # whose module does not export it in every release


def test_blank_blocks_are_left_out_and_neighbours_of_one_role_merged() -> None:
    """The API refuses empty text, and wants the roles to alternate."""
    request = Request(
        system=(Block("be kind"), Block(" \n")),
        messages=(
            Message("user", (Block("one"), Block(""))),
            Message("assistant", (Block("  "),)),
            Message("user", (Block("two"),)),
            Message("assistant", (Block("three"),)),
        ),
    )
    assert request_payload(request) == (
        [{"type": "text", "text": "be kind"}],
        [
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "three"}]},
        ],
    )


def test_only_the_last_four_cache_marks_are_sent() -> None:
    """The API refuses a fifth; the later ones cover the longer prefixes."""
    request = Request(
        system=tuple(Block(f"system {number}", cache=True) for number in range(3)),
        messages=tuple(Message("user", (Block(f"message {number}", cache=number != 1),)) for number in range(4)),
    )
    system, messages = request_payload(request)
    contents = [*system, *(block for message in messages for block in message["content"])]
    marked = [block["text"] for block in cast("list[dict[str, str]]", contents) if "cache_control" in block]
    assert marked == ["system 2", "message 0", "message 2", "message 3"]


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    """JSON on the wire is UTF-8, which cannot carry half a character."""
    system, _ = request_payload(Request(system=(Block("a\ud83d b\ud83d\ude00"),), messages=()))
    assert system[0]["text"] == "a\ufffd b😀"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "Sat, 14 Feb 2026 14:30:20 GMT"}, 20),
        ({"retry-after": "Sat, 14 Feb 2026 14:30:20 -0000"}, 20),
        ({"retry-after": "Sat, 14 Feb 2026 14:29:00 GMT"}, 0),
        ({"retry-after": "in a while"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], expected: float | None) -> None:
    """Seconds, milliseconds or a date; nonsense counts as nothing said."""
    assert retry_after(headers, ManualClock(START)) == expected
