"""When are two texts the same words? The key that says so."""

import hashlib
import re
import unicodedata

# Marks of prose only: signs such as + # % - carry meaning ("C" is not "C++", "5" is not "-5").
_PROSE_MARK = re.compile(
    r"[\"“”„«»'‘’`´.,;:!?¡¿…()\[\]{}、。，！？；：「」『』（）*_~|]+(?=\s|$)|(?<!\S)[\"“”„«»'‘’`´¡¿(\[{「『（*_~|]+"
)
_BLANKS = re.compile(r"\s+")


def normalise(text: str) -> str:
    """`text` without what does not change its meaning: case, width, prose punctuation at word ends, blanks.

    Letters, digits, signs and symbols of every script are kept. Idempotent.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    previous = None
    while previous != text:
        previous = text
        text = _BLANKS.sub(" ", unicodedata.normalize("NFKC", _PROSE_MARK.sub(" ", text))).strip()
    return text


def key_of(text: str) -> str:
    """SHA-256 of the normalised text; texts made of punctuation only keep their own letters as key."""
    plain = normalise(text) or text.strip()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
