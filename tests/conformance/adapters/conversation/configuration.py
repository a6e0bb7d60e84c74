"""Settings from the environment, and their defaults."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kenobot.agent.prompt.prompt_context import PromptLimits
from kenobot.app.wiring import BREAKER_FAILURES, BREAKER_SECONDS
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, Settings, load_settings
from kenobot.ports.errors import ConfigError
from kenobot_http.settings import HttpSettings
from tests.conformance.cases import Case, Checked, Compared, NotApplicable, Outcome, compare
from tests.scratch import scratch

_STOPS = "a value that cannot be used stops the start with a plain sentence; it never becomes the default in silence"


def _http(loaded: ResolvedSettings) -> HttpSettings:
    return loaded.plugin_settings("kenobot.channels", "http", HttpSettings)


def _telegram(loaded: ResolvedSettings) -> TelegramSettings:
    return loaded.plugin_settings("kenobot.channels", "telegram", TelegramSettings)


OURS: Mapping[str, tuple[str, str, Callable[[ResolvedSettings], Any]]] = {
    "LOG_LEVEL": ("KENOBOT_LOG__LEVEL", "log.level", lambda loaded: loaded.settings.log.level),
    "TELEGRAM_ALLOWED_USERS": (
        "TELEGRAM_ALLOWED_USERS",
        "channels.telegram.allowed_users",
        lambda loaded: _telegram(loaded).allowed_users,
    ),
    "TELEGRAM_DEBOUNCE_MS": (
        "KENOBOT_CHANNELS__TELEGRAM__FRAGMENT_SECONDS",
        "channels.telegram.fragment_seconds",
        lambda loaded: _telegram(loaded).fragment_seconds * 1000,
    ),
    "HTTP_PORT": ("KENOBOT_CHANNELS__HTTP__PORT", "channels.http.port", lambda loaded: _http(loaded).port),
}
"""The original's variables that exist here too: our name, the key, and where its value ends up."""
_MILLISECONDS = ("TELEGRAM_DEBOUNCE_MS",)  # there, where ours has seconds
_OTHERWISE: Mapping[str, str] = {
    "MEMORY_DAYS": "as many days of memory are shown as fit into a prompt here",
    "MAX_TOOL_ITERATIONS": "a turn has eight rounds of tools here",
    "HTTP_ENABLED": "channels are switched on by their names here, in channels.enabled",
    "CONSCIOUSNESS_TIMEOUT": "there is no other program to wait for here: experts are models of this process",
}


def parse(case: Case) -> Outcome:
    name, written = next(iter(case.input.items()), ("", ""))
    if name in _OTHERWISE:
        return NotApplicable(_OTHERWISE[name])
    if len(case.input) != 1 or name not in OURS:
        return NotApplicable(f"not built yet (nothing is set by {', '.join(case.input)})")
    variable, key, value_of = OURS[name]
    if name in _MILLISECONDS:
        written = str(float(written) / 1000)
    with scratch() as folder:
        try:
            value = value_of(load_settings(Home(Path(folder)), {variable: written}))
        except ConfigError as error:
            return _refused(case, written, key, str(error))
    if "no allowlist" in case.quirk:
        return Checked(value, {"a blank is nobody": value == [item for item in case.expected["value"] if item]})
    if case.quirk:
        return Checked(value, {"it stops the start": False})
    return compare(case, {"value": value, "errors": []})


def _refused(case: Case, written: str, key: str, complaint: str) -> Outcome:
    """An error there is an error here; what it was replaced with there does not matter."""
    named = {"it stops the start and names the key": key in complaint}
    if case.expected["errors"] or case.quirk:
        return Checked(complaint, named)
    if str(case.expected["value"]).lower() != written.strip().lower():
        return NotApplicable(_STOPS)
    allowed = re.search(r"must be (.* from .* to .*)\.", complaint)
    if allowed:
        return NotApplicable(f"{key} is {allowed[1]} here, as kenobot.toml says")
    return Checked(complaint, {"it is accepted": False})


def defaults(case: Case) -> Outcome:
    """The keys that stand here under another name and still mean the same."""
    settings, telegram = Settings(), TelegramSettings()
    ours: dict[str, Any] = {
        "logLevel": settings.log.level,
        "sessionHistoryLimit": PromptLimits().history_min,
        "circuitBreaker.threshold": BREAKER_FAILURES,
        "circuitBreaker.cooldown": BREAKER_SECONDS * 1000,
        "telegram.allowedUsers": telegram.allowed_users,
        "telegram.allowedChatIds": telegram.allowed_chats,
    }
    theirs = _flat(case.expected)
    shared = {key: value for key, value in ours.items() if key in theirs}
    return Compared(shared, {key: theirs[key] for key in shared})


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
