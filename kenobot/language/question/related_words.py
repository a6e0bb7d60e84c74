"""Group the words that people use for one thing or one matter, in Spanish and English: "boss", "manager", "jefa"."""

from functools import lru_cache

from kenobot.language.lexicon import load_tables
from kenobot.language.words import stems


@lru_cache(4096)
def word_groups(word: str) -> frozenset[int]:
    """Return the numbers of the groups of a folded word, by its stems; none for a word of no group."""
    groups = _groups_by_stem()
    return frozenset(number for stem in stems(word) for number in groups.get(stem, ()))


@lru_cache(1)
def _groups_by_stem() -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(load_tables(__package__, "related_words.toml")["groups"].split("\n")):
        for word in line.split():
            for stem in stems(word):
                found.setdefault(stem, set()).add(number)
    return found
