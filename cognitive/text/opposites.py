"""Look up negations and opposites, in Spanish and English.

The two sides of a pair of opposites are one topic with two answers, in every form of their words.
"""

from dataclasses import dataclass
from functools import lru_cache

from kenobot.cognitive.text.lexicon import word_rows, word_set
from kenobot.cognitive.text.stopwords import NEGATIONS
from kenobot.cognitive.text.words import stems

NEGATORS = NEGATIONS | word_set("negators")
"""Words that make the opposite of what follows."""
NEGATING_SIGNS = frozenset("不没沒無无未别非")
"""The same, in scripts that put no blanks between words."""


@dataclass(frozen=True, slots=True)
class Polarity:
    """The answer that a word gives to a question of yes or no: on which topic, which one, and whether a text that
    gives the other cannot be so too."""

    topic: str
    is_second: bool
    contrary: bool


def _table() -> dict[str, Polarity]:
    found: dict[str, Polarity] = {}
    for contrary in (True, False):
        for row in word_rows("contrary" if contrary else "different"):
            first, _, second = row.partition(" / ")
            topic = f"±{first.split()[0]}"
            for at, column in enumerate((first, second)):
                for word in column.split():
                    for stem in (word, *stems(word)):
                        found.setdefault(stem, Polarity(topic, at == 1, contrary))
    return found


_SIDES = _table()


@lru_cache(4096)
def polarity_of(word: str) -> Polarity | None:
    """The side that a folded word takes on a topic; None when it takes none."""
    found = _SIDES.get(word)
    if found is not None or word in NEGATORS:
        return found
    return next((_SIDES[stem] for stem in stems(word) if stem in _SIDES), None)


def is_negation(word: str) -> bool:
    """Whether a folded word makes the opposite of what follows."""
    return word in NEGATORS or not NEGATING_SIGNS.isdisjoint(word)
