"""Judge whether a sentence that no rule reads is worth a note: whether it tells of its speaker or theirs for longer.

A logistic regression over words, pairs of words and runs of letters, each a feature by its hash (Weinberger et al.,
Feature Hashing for Large Scale Multitask Learning, 2009). Its weights, one signed byte for each hash, are
`worth_noting.bin`, learned from sentences of invented people by `python -m bench.learn_worth_noting`.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from zlib import crc32

from kenobot.core import lazy
from kenobot.language.words import fold

FILE = "worth_noting.bin"
"""The weights, beside this module."""

BUCKETS = 1 << 15
"""Hashes that features fall into."""

SCALE = 12.0
"""What a weight of one is stored as; a byte holds up to 127."""

LEAST = 0.55
"""Probability from which a sentence is worth a note; chosen on people of whom no sentence was learned."""

_REMARK = 0.08  # probability below which a text is a remark
_SHORTEST, _LONGEST = 3, 5  # letters of a run
_TOKEN = lazy.regex(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!…]")
_NAME = lazy.regex(r"(?<=[^.!?] )[A-ZÁÉÍÓÚÑ][^\W\d_]+")
_LENGTHS = (3, 5, 8, 12, 18, 26)  # words from which a text counts as longer


def is_worth_noting(text: str) -> bool:
    """Return whether a careful person who takes notes of the speaker would probably note a text."""
    return _likelihood(text) >= LEAST


def is_remark(text: str) -> bool:
    """Return whether such a person would surely not note a text, though its form may be that of a fact."""
    return _likelihood(text) < _REMARK


@lru_cache(256)  # a sentence is read once for its turn, and again for its message and for what sums it up
def _likelihood(text: str) -> float:
    features, weights = hash_features(text), _weights()
    logit = sum(weights[each] for each in features) / SCALE / math.sqrt(len(features))
    return 1 / (1 + math.exp(-logit))


def hash_features(text: str) -> frozenset[int]:
    """Return the hashes of a text's words, pairs of words and runs of letters, of how long it is, and of a name."""
    return frozenset(crc32(name.encode()) % BUCKETS for name in set(feature_names(text)))


def feature_names(text: str) -> Iterator[str]:
    """Iterate over the names of those features."""
    plain = fold(text).replace("’", "'")
    tokens = [_shape(token) for token in _TOKEN.findall(plain)]
    yield "always"
    yield f"long {sum(len(tokens) > most for most in _LENGTHS)}"
    if _NAME.search(text):
        yield "name"
    for at, token in enumerate(tokens):
        yield f"1 {token}"
        if at < 2:
            yield f"{at} at {token}"
        padded = f"<{token}>"
        for size in range(_SHORTEST, _LONGEST + 1):
            yield from (padded[start : start + size] for start in range(len(padded) - size + 1))
    for one, other in pairwise(["^", *tokens, "$"]):
        yield f"2 {one} {other}"


def _shape(token: str) -> str:
    """Return a token, or how long a number is."""
    return f"#{min(len(token), 5)}" if token.isdigit() else token


@lru_cache(1)
def _weights() -> tuple[int, ...]:
    data = resources.files(__package__).joinpath(FILE).read_bytes()
    return tuple(value - 256 if value > 127 else value for value in data)
