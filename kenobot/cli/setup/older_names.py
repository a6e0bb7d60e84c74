"""Bring the names of settings in kenobot.toml up to date: renamed ones move, retired ones become comments."""

from typing import Any

from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core.settings import toml_edit
from kenobot.core.settings.config_text import current_text
from kenobot.core.settings.older import RENAMED_VALUES, KeyPath, OlderKey
from kenobot.core.toml_text import parse_toml
from kenobot.ports.errors import ConfigError
from kenobot.storage import disk


def renew_names(context: CommandContext) -> str:
    """Rewrite the older names in kenobot.toml, but for inline tables, and return a line that counts them."""
    text = current_text(context.home)
    inside = [each for each in context.loaded.older if each.origin == f"file {context.home.config_file}"]
    renewed = 0
    for each in inside:
        try:
            text, renewed = _renew(text, each), renewed + 1
        except ConfigError:
            continue
    disk.replace_text(context.home.config_file, text)
    context.reload()
    return say("Brought {count} of {of} names of settings in kenobot.toml up to date.", count=renewed, of=len(inside))


def _renew(text: str, older: OlderKey) -> str:
    """Return the text with one name brought up to date. Raises ConfigError where that cannot be done safely."""
    path, tables = tuple(older.key.split(".")), parse_toml(text)
    if not older.retired:
        value = _find(tables, path)
        *section, key = older.now.split(".")
        if _find(tables, (*section, key)) is None:
            value = RENAMED_VALUES.get(path, {}).get(str(value).lower(), value)
            text = toml_edit.set_value(text, ".".join(section), key, value)
    return toml_edit.comment_out(text, ".".join(path[:-1]), path[-1])


def _find(tables: dict[str, Any], path: KeyPath) -> Any:
    """Return a value in nested tables; None where there is none."""
    found: Any = tables
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found
