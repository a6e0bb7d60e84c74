"""Tokenize for multilingual-e5: replace characters, run spaces together, and cut into pieces."""

import re

from kenobot_local.e5_file import Vocabulary
from kenobot_local.unigram import UnigramPieces

_GAP = "\N{LOWER ONE EIGHTH BLOCK}"  # stands for a space, and before the first word
_SPACES = re.compile("  +")


class UnigramTokenizer:
    """Raise ValueError for another form of vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._replaced = vocabulary.replacements
        self._pieces = UnigramPieces(
            vocabulary.text,
            vocabulary.offsets,
            vocabulary.scores,
            unknown=vocabulary.unknown_id,
            literal_unknown=False,
            single=True,
        )

    def encode(self, text: str) -> list[int]:
        """Cut a text into the numbers of its pieces, without marks of its beginning and end."""
        text = _SPACES.sub(" ", text.translate(self._replaced))
        return self._pieces.choose_pieces((text if text.startswith(" ") else f" {text}").replace(" ", _GAP))
