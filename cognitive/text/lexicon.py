"""Word lists of memory, read from lexicon.toml."""

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
