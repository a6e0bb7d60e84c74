"""Read `answers.toml`: the patterns of questions and of what may answer them."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources


@lru_cache(1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    text = resources.files(__package__).joinpath("answers.toml").read_text("utf-8")
    return tomllib.loads(text)


def pattern_names(table: str) -> tuple[str, ...]:
    """The names of a table's patterns, in their order."""
    return tuple(_tables()[table])


@lru_cache(64)  # bounded: one file of patterns; start
def answer_pattern(table: str, name: str) -> re.Pattern[str]:
    """A pattern of the file, compiled when it is first needed: all of them take 20 ms."""
    text = _tables()[table][name]
    for word in reversed(pattern_names("words")):  # an entry may name those before it
        text = text.replace(f"<{word}>", _tables()["words"][word])
    return re.compile(text.replace("\n", ""))


@lru_cache(1)
def sentence_beginnings() -> frozenset[str]:
    """Words that have a capital only because a sentence begins with them."""
    return frozenset(_tables()["other"]["sentence_beginnings"].split())
