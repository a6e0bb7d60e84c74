"""Measure the similarity of two texts by their words.

Similarity is the larger of Dice's coefficient over word weights and nine tenths of the share of the shorter text that
the longer one holds. A word weighs one, spread over its stems; function words, negations and names of the owner weigh
nothing, and the two sides of a pair of opposites, in every form of their words, are one topic with two answers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from kenobot.language.lexicon import NEGATIONS, STOPWORDS, word_rows, word_set
from kenobot.language.words import stems, words
from kenobot.ports.frozen import dataclass

NEGATORS = NEGATIONS | word_set("negators")
"""Words that make the opposite of what follows."""
NEGATING_SIGNS = frozenset("不没沒無无未别非")
"""The same, in scripts that put no blanks between words."""

_LONGEST = 2000  # characters of a text that tell what it is about
_MOST = 48  # words of it
_SELF = frozenset("user owner usuario usuaria user's".split())
_WITHIN = 0.9
_LEAST = 2  # words of a text that can be said to stand in another
_LISTED = 200  # texts that share a word


def similarity(one: str, other: str) -> float:
    """Measure the similarity of two texts by their words, from 0 to 1; symmetric."""
    here, there = _topic(one[:_LONGEST]), _topic(other[:_LONGEST])
    if not here.words or not there.words:
        return 0.0
    shared = sum(min(weight, there.weights[term]) for term, weight in here.weights.items() if term in there.weights)
    dice = 2 * shared / (here.weight + there.weight)
    enough = min(len(here.words), len(there.words)) >= _LEAST
    within = _WITHIN * shared / min(here.weight, there.weight) if enough else 0.0
    return min(1.0, max(dice, within))


@dataclass(frozen=True, slots=True)
class _Topic:
    """A text's words by their stems, the weight of each stem, and the sum of the weights."""

    words: tuple[tuple[str, ...], ...]
    weights: Mapping[str, float]
    weight: float


def topic_words(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the content words of a text in order, each once and by its stems."""
    return _topic(text[:_LONGEST]).words


@lru_cache(1024)  # what is new is compared with the same texts again
def _topic(text: str) -> _Topic:
    found: dict[tuple[str, ...], None] = {}
    for word in words(text):
        if forms := _forms(word):
            found[forms] = None
        if len(found) >= _MOST:
            break
    weights: dict[str, float] = {}
    for forms in found:
        for form in forms:
            weights[form] = max(weights.get(form, 0.0), 1 / len(forms))
    return _Topic(tuple(found), weights, sum(weights.values()))


@lru_cache(20_000)
def _forms(word: str) -> tuple[str, ...]:
    """Return the stems of a folded word, or the topic on which it takes a side; nothing for a function word."""
    polarity = polarity_of(word)
    if polarity is not None:
        return (polarity.topic,)
    return () if word in STOPWORDS or word in _SELF or is_negation(word) else stems(word)


@dataclass(frozen=True, slots=True)
class Polarity:
    """The side that a word takes on a topic. contrary: whether both sides exclude one another."""

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
    """Return the side that a folded word takes on a topic; None when it takes none."""
    found = _SIDES.get(word)
    if found is not None or word in NEGATORS:
        return found
    return next((_SIDES[stem] for stem in stems(word) if stem in _SIDES), None)


def is_negation(word: str) -> bool:
    """Return whether a folded word makes the opposite of what follows."""
    return word in NEGATORS or not NEGATING_SIGNS.isdisjoint(word)


@dataclass(slots=True)
class SimilarTexts:
    """Find texts that share most of their keywords without comparing all with all.

    Texts whose Jaccard coefficient is at least some share have one of their rarest words in common (prefix filtering:
    Chaudhuri, Ganti and Kaushik, 2006). Of a word that very many texts have, the newest texts are compared.
    """

    texts: list[tuple[str, frozenset[str]]] = field(default_factory=list)  # bounded: what one file says; night
    by_word: dict[str, list[int]] = field(default_factory=dict)  # bounded: what one file says; night

    def add(self, text: str) -> None:
        keywords = _keywords(text)
        for word in keywords:
            self.by_word.setdefault(word, []).append(len(self.texts))
        self.texts.append((text, keywords))

    def find_similar(self, text: str, least: float) -> Iterator[tuple[int, str]]:
        """Find the texts that share at least `least` of the words with `text`, each with its place, in their order."""
        own = _keywords(text)
        rarest = sorted(own, key=lambda word: len(self.by_word.get(word, ())))[: int(len(own) * (1 - least)) + 1]
        for at in sorted({at for word in rarest for at in self.by_word.get(word, ())[-_LISTED:]}):
            other, keywords = self.texts[at]
            if len(own & keywords) >= least * len(own | keywords):
                yield at, other


def _keywords(text: str) -> frozenset[str]:
    """Stem the content words of a text, so that a plural is the same word."""
    return frozenset(
        stems(word)[0] for word in words(text[:_LONGEST]) if word not in STOPWORDS and word not in NEGATIONS
    )
