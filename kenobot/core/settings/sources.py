"""The sources of settings: a file, the environment, credential files. Each remembers the origin of its values."""

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kenobot.core import lazy, plugins
from kenobot.core.disk_fault import name_fault
from kenobot.core.settings.older import RENAMED_KEYS, RENAMED_VALUES, RETIRED, KeyPath
from kenobot.core.toml_text import parse_toml
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass

ENV_PREFIX = "KENOBOT_"
PLUGIN_SECTIONS: Mapping[str, plugins.PluginGroup] = {
    "channels": "kenobot.channels",
    "providers": "kenobot.providers",
    "postprocessors": "kenobot.postprocessors",
    "embedders": "kenobot.embedders",
    "transcribers": "kenobot.transcribers",
    "observers": "kenobot.observers",
    "tools": "kenobot.tools",
}

_KEYED_SERVICES = ("anthropic", "openai", "gemini", "mistral", "groq", "cerebras", "deepseek", "openrouter")
ENV_ALIASES: tuple[tuple[str, KeyPath], ...] = (
    ("TELEGRAM_BOT_TOKEN", ("channels", "telegram", "token")),
    ("TELEGRAM_ALLOWED_USERS", ("channels", "telegram", "allowed_users")),
    *((f"{name.upper()}_API_KEY", ("providers", name, "api_key")) for name in _KEYED_SERVICES),
    ("ANTHROPIC_BASE_URL", ("providers", "anthropic", "base_url")),
    ("OPENAI_BASE_URL", ("providers", "openai", "base_url")),
    ("OPENAI_API_KEY", ("embedders", "openai", "api_key")),
    ("OPENAI_BASE_URL", ("embedders", "openai", "base_url")),
    ("OPENAI_API_KEY", ("transcribers", "openai", "api_key")),
    ("OPENAI_BASE_URL", ("transcribers", "openai", "base_url")),
)
CREDENTIAL_FILES: Mapping[str, KeyPath] = {
    "telegram_token": ("channels", "telegram", "token"),
    "anthropic_api_key": ("providers", "anthropic", "api_key"),
}

_NOT_SETTINGS = frozenset(
    {"KENOBOT_HOME", "KENOBOT_HOST_DATABASE", "KENOBOT_HOST_KEY_FILE", "KENOBOT_TEST_POSTGRES"}
)  # the latter three name where the homes of a host are, not how one is
_SECRET_ENDINGS = ("token", "api_key", "secret", "password")
_PLACE = lazy.regex(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class EnvValue(str):
    """A value from an environment variable, where a list is written with commas."""


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """Values as nested tables. origins: of each dotted key, as "file PATH" and the like. older: of each older key.

    An empty table has an origin too, under its name with a dot at the end: it may be unknown.
    """

    values: dict[str, Any] = field(default_factory=dict)  # bounded: the settings; start
    origins: dict[str, str] = field(default_factory=dict)  # bounded: the settings; start
    older: dict[KeyPath, str] = field(default_factory=dict)  # bounded: the settings; start

    def put(self, key: KeyPath, value: object, origin: str) -> None:
        """Set one value. A value that cannot be nested is dropped here and reported by validation."""
        if key in RETIRED or key in RENAMED_KEYS:
            if value != {}:
                self.older[key] = origin
            if key in RETIRED or ".".join(RENAMED_KEYS[key]) in self.origins:
                return
            value = RENAMED_VALUES.get(key, {}).get(str(value).lower(), value)
            key = RENAMED_KEYS[key]
        table = self.values
        for part in key[:-1]:
            inner = table.setdefault(part, {})
            if not isinstance(inner, dict):
                return
            table = inner
        if value == {} and key[-1] in table:
            return
        table[key[-1]] = SecretStr(value) if isinstance(value, str) and _holds_secret(key, origin) else value
        self.origins[".".join(key) + ("." if value == {} else "")] = origin


def is_secret(name: str) -> bool:
    """Return whether a key of this name holds a secret."""
    return name.endswith(_SECRET_ENDINGS)


def from_file(path: Path, text: str | None = None) -> SettingsSource:
    """Read settings from `path`, or from `text` in its place; none when there is no such file. Raises ConfigError."""
    if text is None:
        text = _read(path) if path.exists() else ""
    try:
        tables = parse_toml(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = (place and place[1]) or len(text.splitlines())
        raise ConfigError("settings.bad_toml", path=path, line=line, problem=_PLACE.sub("", str(error))) from error
    layer = SettingsSource()
    for key, value in _leaves(tables):
        layer.put(key, value, f"file {path}")
    return layer


def from_environment(environ: Mapping[str, str]) -> SettingsSource:
    """Read KENOBOT_SECTION__KEY variables and the short names. An empty variable counts as not set."""
    layer = SettingsSource()
    for name, key in ENV_ALIASES:
        if environ.get(name):
            layer.put(key, EnvValue(environ[name]), f"environment {name}")
    for name in sorted(environ):
        if name.startswith(ENV_PREFIX) and name not in _NOT_SETTINGS and environ[name]:
            layer.put(_key(name), EnvValue(environ[name]), f"environment {name}")
    return layer


def from_credentials(own: Path, given: Mapping[str, str | None], systemd: Path | None) -> SettingsSource:
    """Read credential files, one secret each: of the home, about to be written or left out there, then of systemd.

    A file is named as in CREDENTIAL_FILES, by a dotted key: `channels.chat.token`, or as a secret of an MCP server:
    `mcp.NAME.SECRET`. Raises ConfigError for one that
    others can read; the service manager answers for the permissions of its own folder.
    """
    layer = SettingsSource()
    for path in _files(own):
        if path.name.startswith(".") or path.name in given:
            continue
        key = _credential(path.name)
        if key is None:
            near = plugins.find_near(path.name, CREDENTIAL_FILES)
            known = "settings.unknown_credential_near" if near else "settings.unknown_credential"
            raise ConfigError(known, path=path, near=near)
        if path.is_file() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError("settings.open_secret", path=path)
        layer.put(key, _secret(path), f"credential {path}")
    for name, value in given.items():
        if value is not None and (key := _credential(name)):
            layer.put(key, value, f"credential {own / name}")
    for path in _files(systemd) if systemd else ():
        if key := _credential(path.name):
            layer.put(key, _secret(path), f"credential {path}")
    return layer


def _key(variable: str) -> KeyPath:
    """Return the key of a variable: KENOBOT_POSTPROCESSORS__CHAT_MEMORY__DAYS → postprocessors, chat-memory, days."""
    parts = variable.removeprefix(ENV_PREFIX).lower().split("__")
    if len(parts) > 2 and parts[0] in PLUGIN_SECTIONS:
        names = {name.lower().replace("-", "_"): name for name in plugins.names(PLUGIN_SECTIONS[parts[0]])}
        parts[1] = names.get(parts[1], parts[1])
    return tuple(parts)


def _holds_secret(key: KeyPath, origin: str) -> bool:
    """Return whether a value is a secret. Those of MCP servers have names of the owner's, and no place in the file."""
    if key[0] == "mcp":
        return key[2:3] == ("secrets",) and not origin.startswith("file ")
    return is_secret(key[-1])


def _credential(name: str) -> KeyPath | None:
    parts = tuple(name.split("."))
    if len(parts) == 3 and parts[0] == "mcp":
        return ("mcp", parts[1], "secrets", parts[2])
    return CREDENTIAL_FILES.get(name) or (parts if len(parts) == 3 and parts[0] in PLUGIN_SECTIONS else None)


def _secret(path: Path) -> str:
    value = _read(path).removeprefix("\ufeff").strip()
    if not value:
        raise ConfigError("settings.empty_secret", path=path)
    if "\n" in value:
        raise ConfigError("settings.long_secret", path=path)
    return value


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise name_fault(folder, error, "files.unreadable") from error


def _read(path: Path) -> str:
    try:
        # Not blocking: a pipe that nobody writes to would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, encoding="utf-8") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ConfigError("settings.not_a_file", path=path)
            return file.read()
    except UnicodeDecodeError as error:
        raise ConfigError("settings.not_utf8", path=path, byte=error.start + 1) from error
    except OSError as error:
        raise name_fault(path, error, "files.unreadable") from error


def _leaves(table: Mapping[str, Any], at: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*at, name))
        else:
            yield (*at, name), value
