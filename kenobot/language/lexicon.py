"""Word and phrase lists: those of memory in lexicon.toml, and tables of phrases in other files beside the code."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from kenobot.core import lazy

_CONTINUED = lazy.regex(r"\\\n[ \t]*")


@cache
def _lexicon() -> dict[str, str]:
    return load_tables(__package__, "lexicon.toml")


def word_set(name: str) -> frozenset[str]:
    """Return the words of a list of the lexicon."""
    return frozenset(_lexicon()[name].split())


def word_rows(name: str) -> list[str]:
    """Return the lines of a list of the lexicon, in order."""
    return _lexicon()[name].splitlines()


def alternatives(name: str) -> str:
    """Return a list of phrases as alternatives of a regular expression; `{weekday}` stands for any day of the week."""
    rows = "|".join(row for row in word_rows(name) if not row.startswith("# "))
    return rows.replace("{weekday}", f"(?:{_lexicon()['weekday'].strip()})") if "{weekday}" in rows else rows


def phrases(name: str) -> re.Pattern[str]:
    """Compile a list of phrases to a pattern of whole words."""
    return lazy.regex(rf"(?<!\w)(?:{alternatives(name)})(?!\w)")


def load_phrases(package: str, name: str, table: str = "phrases") -> dict[str, str]:
    """Join each list of phrases in a table of a file to one pattern of alternatives; `{part}` stands for a part."""
    return join_phrases(load_tables(package, name), table)


def load_tables(package: str, name: str) -> dict[str, Any]:
    """Read the tables of a TOML file beside the code of a package.

    A line that ends with a backslash goes on with the first word of the next one, in literal strings too.
    """
    text = resources.files(package).joinpath(name).read_text("utf-8")
    tables: dict[str, Any] = tomllib.loads(_CONTINUED.sub("", text))
    return tables


def join_phrases(tables: Mapping[str, Any], table: str = "phrases") -> dict[str, str]:
    """Join each list of phrases in a table to one pattern of alternatives; see `load_phrases`."""
    parts = tables.get("parts", {})
    return {kind: fill_parts("|".join(rows), parts) for kind, rows in tables[table].items()}


def fill_parts(pattern: str, parts: Mapping[str, str]) -> str:
    """Put the parts into a pattern, in their order: a part may stand in those before it."""
    for part, text in parts.items():
        pattern = pattern.replace(f"{{{part}}}", text)
    return pattern


def table_pattern(tables: Mapping[str, dict[str, str]], table: str, name: str) -> re.Pattern[str]:
    """Compile an entry of a table. Line breaks do not count; `<name>` stands for an entry of the table `words`."""
    text = tables[table][name]
    for word, told in reversed(tables["words"].items()):  # an entry may name those before it
        text = text.replace(f"<{word}>", told)
    return lazy.regex(text.replace("\n", ""))


NEGATIONS = word_set("negations")
STOPWORDS = (word_set("stopwords_en") | word_set("stopwords_es")) - NEGATIONS
UNSPOKEN = word_set("unspoken")
"""Words that do not tell whose a text is: function words, names of the owner, agreement and requests."""
