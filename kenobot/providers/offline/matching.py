"""Rank remembered lines by the words they share with a question, in any script."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import log

from kenobot.core import lazy
from kenobot.providers.offline.phrases import ACCENTED, CONCEPTS, STOP_WORDS

_WEAK = 0.5  # of the best line's score; what scores less is noise beside it

# Scripts that put no spaces between words: Thai to Burmese, Khmer, kana, Han, Hangul.
_UNSPACED = lazy.regex("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")


def stems(text: str) -> frozenset[str]:
    """Collect the content words of `text`, without case, accents, plurals and width.

    Scripts without spaces give pairs of neighbouring characters instead.
    """
    found: set[str] = set()
    for word in _words(text):
        if _UNSPACED.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif len(word) > 1 or not word.isascii() or word.isdigit():
            found.add(_MEANING.get(_stem(word), _stem(word)))
    return frozenset(found - _STOPS)


def rank(question: str, lines: Sequence[str], most: int, favoured: Callable[[str], bool]) -> list[int]:
    """Rank the positions in `lines` of those that share content words with `question`, at most `most`.

    Rare words count more, and favoured lines half as much again. Of equals the later, newer one comes first.
    """
    asked = stems(question)
    bags = [stems(line) for line in lines]
    spread = Counter(stem for bag in bags for stem in bag & asked)
    scores = [sum(log(1 + len(lines) / spread[stem]) for stem in bag & asked) for bag in bags]
    scores = [score * (1.5 if score and favoured(line) else 1) for score, line in zip(scores, lines, strict=True)]
    best = max(scores, default=0.0)
    hits = [at for at, score in enumerate(scores) if score > 0 and score >= best * _WEAK]
    return sorted(hits, key=lambda at: (-scores[at], -at))[:most]


def fold(text: str) -> str:
    """Fold case, width and Latin accents."""
    opened = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", "".join(char for char in opened if not "\u0300" <= char <= "\u036f"))


def _words(text: str) -> Iterable[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'s ", " ").replace("’s ", " ")
    words = "".join(char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in plain).split()
    return (ACCENTED.get(word) or fold(word) for word in words)


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """`word` without a plural's ending: flores and flor, lives and live come together."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_STOPS = frozenset(_stem(word) for word in STOP_WORDS) | STOP_WORDS
_MEANING = {_stem(word): f"={row[0]}" for row in CONCEPTS for word in row}
