"""The services that speak OpenAI's chat API: as data, and before anything is asked of them."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kenobot.core.settings.sources import ENV_ALIASES
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import PluginContext
from kenobot.providers.openai_compatible import PRESETS, OpenAIProvider, services
from kenobot_testing.clock import ManualClock

_CONTEXT = PluginContext(home=Path("unused"), clock=ManualClock(), bot_name="Kenobot")


def _build(name: str, **settings: Any) -> OpenAIProvider:
    plugin = getattr(services, name)
    provider: OpenAIProvider = plugin.build(plugin.settings.model_validate(settings), _CONTEXT)
    return provider


def test_every_service_is_a_provider_with_its_own_variable() -> None:
    """What stands in the data can be named in the settings, and a service that wants a key finds it where others do."""
    found = {entry.name for entry in entry_points(group="kenobot.providers") if "openai_compatible" in entry.value}
    assert found == set(PRESETS)
    for name, preset in PRESETS.items():
        assert ((f"{name.upper()}_API_KEY", ("providers", name, "api_key")) in ENV_ALIASES) == preset.key


def test_the_sdk_is_loaded_when_a_provider_is_built() -> None:
    """It costs more than a second to import: settings and a missing key do without it."""
    program = (
        "import sys; from kenobot.providers.openai_compatible import services\n"
        "try: services.groq.build(services.groq.settings(), None)\n"
        "except Exception as error: print(error)\n"
        "print('openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "There is no Groq API key: run `kenobot setup` or set GROQ_API_KEY.",
        "False",
    ]


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("openai", {}, "There is no OpenAI API key"),
        ("openai", {"api_key": "sk canary"}, "characters that no key has"),
        ("ollama", {}, "`kenobot models ollama` lists"),
        ("compatible", {"model": "x"}, "base_url is missing"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_asked(name: str, settings: dict[str, str], words: str) -> None:
    """One plain line, and never the key."""
    with pytest.raises(ConfigError, match=words) as caught:
        _build(name, **settings)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("settings", [{"modle": "x"}, {"base_url": "somewhere"}, {"effort": "colossal"}])
def test_mistaken_settings_are_refused(settings: dict[str, str]) -> None:
    """They are closed."""
    with pytest.raises(ValidationError):
        services.openai.settings.model_validate(settings)


async def test_a_server_of_ones_own_behind_a_services_name_needs_no_key() -> None:
    """Such as a proxy that holds the key."""
    provider = _build("openai", base_url="http://127.0.0.1:9/v1")
    assert provider.name == "openai"
    await provider.aclose()
