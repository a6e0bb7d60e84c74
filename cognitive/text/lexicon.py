"""Word and phrase lists of memory, read from lexicon.toml."""

import re
import tomllib
from functools import cache
from importlib import resources


@cache
def _lexicon() -> dict[str, str]:
    return tomllib.loads(resources.files(__package__).joinpath("lexicon.toml").read_text("utf-8"))


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
    return re.compile(rf"(?<!\w)(?:{alternatives(name)})(?!\w)")
