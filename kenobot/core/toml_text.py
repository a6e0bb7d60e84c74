"""Parse TOML that people write: nesting deeper than anything meant is as wrong as text that is no TOML at all."""

import tomllib
from typing import Any

_DEEPEST = 50


def parse_toml(text: str) -> dict[str, Any]:
    """Parse `text`. Raises tomllib.TOMLDecodeError, whose message ends with the place."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(text) from None
    level: list[object] = [tables]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _list_within(each)]
    if level:
        raise _too_deep(text)
    return tables


def _list_within(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _too_deep(text: str) -> tomllib.TOMLDecodeError:
    lines = text.splitlines()
    deepest = max(range(len(lines)), key=lambda at: sum(lines[at].count(sign) for sign in "[{."))
    return tomllib.TOMLDecodeError(f"nested too deeply (at line {deepest + 1}, column 1)")
