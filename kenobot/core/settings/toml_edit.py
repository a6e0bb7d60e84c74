"""Set a key of a TOML file, or remove a table, and leave every other line, comments too, as its owner wrote it."""

import json
import re
import tomllib
from typing import Any

from kenobot.core import lazy
from kenobot.core.toml_text import parse_toml
from kenobot.ports.errors import ConfigError

Value = str | bool | int | float | list[str]

_HEADER = lazy.regex(r"\s*\[\s*([A-Za-z0-9_.-]+)\s*\]\s*(?:#.*)?")
_ANY_HEADER = lazy.regex(r"\s*\[")


def set_value(text: str, section: str, key: str, value: Value) -> str:
    """Return `text` with `key` of `[section]` set to `value`.

    The edit is by line and knows only the common ways to write TOML. So the outcome is parsed and compared: unless
    exactly this one value has changed, ConfigError asks the person to do it by hand.
    """
    edited = _edit(text, section, key, toml_literal(value))
    wanted = parse_toml(text)
    table = wanted
    for part in section.split("."):
        table = table.setdefault(part, {}) if isinstance(table, dict) else {}
    table[key] = value
    if _parse(edited) != wanted:
        raise ConfigError("setup.uneditable_key", section=section, name=key, value=toml_literal(value))
    return edited


def comment_out(text: str, section: str, key: str) -> str:
    """Return `text` with `key` of `[section]` as a comment. Raises ConfigError when that cannot be done safely."""
    lines, inside = text.splitlines(keepends=True), False
    assigned = lazy.regex(rf"\s*{re.escape(key)}\s*=")
    for at, line in enumerate(lines):
        if _ANY_HEADER.match(line):
            header = _HEADER.fullmatch(line.rstrip())
            inside = header is not None and header[1] == section
        elif inside and assigned.match(line):
            lines[at] = f"# {line}"
            break
    edited, wanted = "".join(lines), parse_toml(text)
    table = wanted
    for part in section.split("."):
        table = table.get(part, {})
    table.pop(key, None)
    if _parse(edited) != wanted:
        raise ConfigError("setup.uneditable_section", section=section)
    return edited


def remove_table(text: str, section: str) -> str:
    """Return `text` without the table `[section]` and those within it.

    Raises ConfigError when that cannot be done safely.
    """
    kept, inside = list[str](), False
    for line in text.splitlines(keepends=True):
        if _ANY_HEADER.match(line):
            header = _HEADER.fullmatch(line.rstrip())
            inside = header is not None and f"{header[1]}.".startswith(f"{section}.")
        if not inside:
            kept.append(line)
    edited, wanted = "".join(kept), parse_toml(text)
    table = wanted
    *outer, last = section.split(".")
    for part in outer:
        table = table.get(part, {})
    table.pop(last, None)
    parsed = _parse(edited)
    if parsed is None or _omit_empty(parsed) != _omit_empty(wanted):
        raise ConfigError("setup.uneditable_section", section=section)
    return edited


def _omit_empty(tables: dict[str, Any]) -> dict[str, Any]:
    """Leave out the empty tables at the top."""
    return {name: value for name, value in tables.items() if value != {}}


def toml_literal(value: Value) -> str:
    """Return `value` as TOML writes it; JSON writes texts, switches and lists of texts alike, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _edit(text: str, section: str, key: str, written: str) -> str:
    lines = text.splitlines(keepends=True)
    end_of_line = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end_of_line
    new = f"{key} = {written}{end_of_line}"
    header = next(
        (at for at, line in enumerate(lines) if (m := _HEADER.fullmatch(line.rstrip())) and m[1] == section), None
    )
    if header is None:
        gap = [end_of_line] if lines else []
        return "".join((*lines, *gap, f"[{section}]{end_of_line}", new))
    end = next((at for at in range(header + 1, len(lines)) if _ANY_HEADER.match(lines[at])), len(lines))
    own = range(header + 1, end)
    assigned = lazy.regex(rf"\s*{re.escape(key)}\s*=")
    offered = lazy.regex(rf"\s*#\s*{re.escape(key)}\s*=")
    if (at := next((at for at in own if assigned.match(lines[at])), None)) is not None:
        lines[at] = new.replace(end_of_line, _remark(lines[at]) + end_of_line)
    else:
        at = next((at for at in own if offered.match(lines[at])), header)
        lines.insert(at + 1, new)
    return "".join(lines)


def _remark(line: str) -> str:
    """Return the comment that ends `line` and the blanks before it: the longest tail that TOML can do without."""
    for at, char in enumerate(line):
        if char == "#" and _parse(line[:at]) is not None and _parse(line) == _parse(line[:at]):
            return "  " + line[at:].rstrip()
    return ""


def _parse(text: str) -> dict[str, Any] | None:
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError:
        return None
