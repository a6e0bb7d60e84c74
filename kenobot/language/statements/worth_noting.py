"""Judge whether a sentence that no rule reads is worth a note: whether it tells of its speaker or theirs for longer.

A logistic regression over words, pairs of words and runs of letters, each a feature by its hash (Weinberger et al.,
Feature Hashing for Large Scale Multitask Learning, 2009). Its weights, one signed byte for each hash, are
`worth_noting.bin`, learned from sentences of invented people by `python -m bench.learn_worth_noting`.
"""

import math
from bisect import bisect_left
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
    logit = sum([weights[each] for each in features]) / SCALE / math.sqrt(len(features))
    return 1 / (1 + math.exp(-logit))


def hash_features(text: str) -> frozenset[int]:
    """Return the hashes of a text's words, pairs of words and runs of letters, of how long it is, and of a name."""
    names = "\n".join(set(feature_names(text)))  # none of them has more than one line
    return frozenset([crc32(name) % BUCKETS for name in names.encode().split(b"\n")])


def feature_names(text: str) -> list[str]:
    """Return the names of those features."""
    plain = fold(text).replace("’", "'")
    tokens = [_shape(token) for token in _TOKEN.findall(plain)]
    padded = [f"<{token}>" for token in tokens]
    return [
        "always",
        f"long {bisect_left(_LENGTHS, len(tokens))}",
        *(["name"] if _NAME.search(text) else []),
        *[f"1 {token}" for token in tokens],
        *[f"{at} at {token}" for at, token in enumerate(tokens[:2])],
        *[
            word[start : start + size]
            for word in padded
            for size in range(_SHORTEST, _LONGEST + 1)
            for start in range(len(word) - size + 1)
        ],
        *[f"2 {one} {other}" for one, other in pairwise(["^", *tokens, "$"])],
    ]


def _shape(token: str) -> str:
    """Return a token, or how long a number is."""
    return f"#{min(len(token), 5)}" if token.isdigit() else token


@lru_cache(1)
def _weights() -> tuple[int, ...]:
    data = resources.files(__package__).joinpath(FILE).read_bytes()
    return tuple(value - 256 if value > 127 else value for value in data)
