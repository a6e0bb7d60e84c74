"""Compare texts by their content words, where all words for failing are one."""

from functools import lru_cache

from kenobot.language.lexicon import NEGATIONS, STOPWORDS, word_set
from kenobot.language.words import stems, words

_LONGEST = 2_000  # characters of a text whose words are looked at
_TROUBLE = "\0trouble"  # whatever a failure is called, in either language, it is one word

Keyword = frozenset[str]
"""A word by its stems in either language; two that share one are the same word."""

_FAILURES = frozenset(stem for word in word_set("failures") for stem in stems(word))


def keywords(text: str) -> tuple[Keyword, ...]:
    """Split `text` into content words, each once, of every script, in order."""
    return _keywords(text[:_LONGEST])


@lru_cache(2_000)
def _keywords(text: str) -> tuple[Keyword, ...]:
    found: dict[Keyword, None] = {}
    seen: set[str] = set()
    for word in words(text):
        if word in STOPWORDS or word in NEGATIONS:
            continue
        key = frozenset(stems(word))
        if key & _FAILURES:
            key = frozenset({_TROUBLE})
        if seen.isdisjoint(key):
            found[key] = None
        seen |= key
    return tuple(found)


def is_failure_word(keyword: Keyword) -> bool:
    """Return whether a word only says that something fails, and not what."""
    return _TROUBLE in keyword


def stems_in(text: str) -> frozenset[str]:
    """Collect the stems of all keywords of `text`."""
    return frozenset(stem for keyword in keywords(text) for stem in keyword)


def keyword_coverage(part: str, whole: str) -> float:
    """Measure the share of the keywords of `part` that `whole` has too; 0 when `part` has none."""
    own, there = keywords(part), stems_in(whole)
    return sum(not there.isdisjoint(word) for word in own) / len(own) if own else 0.0


def keyword_similarity(one: str, other: str) -> float:
    """Measure how many keywords two texts have in common, as a share of all (Jaccard 1901)."""
    here, there = keywords(one), keywords(other)
    if not here or not there:
        return 0.0
    known = stems_in(other)
    common = sum(not known.isdisjoint(word) for word in here)
    return min(1.0, common / max(1, len(here) + len(there) - common))
