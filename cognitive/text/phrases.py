"""Load tables of phrases, which are regular expressions over folded text, from the TOML files beside the code."""

import tomllib
from collections.abc import Mapping
from importlib import resources


def load_phrases(package: str, name: str, table: str = "phrases") -> dict[str, str]:
    """Join each list of phrases in a table of a file to one pattern of alternatives; `{part}` stands for a part."""
    tables = tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))
    parts = tables.get("parts", {})
    return {kind: fill_parts("|".join(phrases), parts) for kind, phrases in tables[table].items()}


def fill_parts(pattern: str, parts: Mapping[str, str]) -> str:
    """Put the parts into a pattern, in their order: a part may stand in those before it."""
    for part, text in parts.items():
        pattern = pattern.replace(f"{{{part}}}", text)
    return pattern
