"""Tell names from the everyday words of English and Spanish: `common_words.txt`, by `bench.common_words`."""

import unicodedata
from functools import lru_cache
from importlib import resources

from kenobot.core import lazy

FILE = "common_words.txt"
"""The words, folded, one a line, beside this module."""

PARTICLES = frozenset(["de", "del", "la", "las", "los", "el", "y", "van", "von", "da", "dos", "di", "bin", "al"])
"""Small words within names."""

_MOST = 3  # words of a name in small letters
_FORMED = lazy.regex(r".{3,}(?:ing|ness|[ts]ion|ful|less|ous|able|ated|mente|iendo)")


def is_common_word(plain: str) -> bool:
    """Return whether a word in small letters, without accents, is one of everyday talk, or has the form of one."""
    return plain in _words() or _FORMED.fullmatch(plain) is not None


def plausible_name(text: str) -> str:
    """Return the name that a text begins with; "" for one that begins with an everyday word.

    Of words with capitals all that follow one another, with small words between them; in small letters the whole text.
    """
    words = text.split()
    if not words or any(_fold_word(word).endswith("'s") for word in words):
        return ""
    run = _leading_capitals(words) or (words if len(words) <= _MOST else [])
    told = [_fold_word(word) for word in run if word not in PARTICLES]
    if not told or is_common_word(told[0]):
        return ""
    if run is words and not text[0].isupper() and (words[0] in PARTICLES or any(map(is_common_word, told))):
        return ""
    return " ".join(run)


def _leading_capitals(words: list[str]) -> list[str]:
    count = 0
    for at, word in enumerate(words):
        if word[0].isupper():
            count = at + 1
        elif at == 0 or word not in PARTICLES:
            break
    return words[:count]


def _fold_word(word: str) -> str:
    """Take case and the accents of Latin letters from a word, but for ñ."""
    apart = unicodedata.normalize("NFD", word.casefold().replace("’", "'").replace("ñ", "\0"))
    return "".join(char for char in apart if not unicodedata.combining(char)).replace("\0", "ñ").strip(".,;:!¡")


@lru_cache(1)
def _words() -> frozenset[str]:
    return frozenset(resources.files(__package__).joinpath(FILE).read_text("utf-8").split())
