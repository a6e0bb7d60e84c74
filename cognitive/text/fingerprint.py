"""Compute the key of a text, which texts with the same words share."""

import hashlib
import re
import unicodedata

# Marks of prose only: signs such as + # % - carry meaning ("C" is not "C++", "5" is neither "-5" nor "~5").
_MARK = r"[\"“”„«»'‘’`´.,;:!?¡¿…()\[\]{}、。，！？；：「」『』（）*_~|]"
_PROSE_MARK = re.compile(rf"(?<!{_MARK}){_MARK}++(?=\s|$)|(?<!\S)(?:[\"“”„«»'‘’`´¡¿(\[{{「『（*|]|~~)+")
_MEANT = re.compile("[²³¹⁰-₟¼-¾⅐-↉]")  # NFKC makes 102 of 10² and 11/2 of 1½
_JOINED = re.compile(r"(?<=[^\W\d_])[-‐‑](?=[^\W\d_])")  # pour-over is pour over; in -5, 5-3 and A- it is a sign
_BLANKS = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Remove case, width, prose punctuation at word ends, blanks, and hyphens between letters. Idempotent."""
    text = _compatible(text).casefold()
    previous = None
    while previous != text:
        previous = text
        text = _BLANKS.sub(" ", _compatible(_JOINED.sub(" ", _PROSE_MARK.sub(" ", text)))).strip()
    return text


def _compatible(text: str) -> str:
    """Normalise to NFKC, but for raised and lowered digits and fractions."""
    if text.isascii():
        return text
    pieces = zip(_MEANT.split(text), [*_MEANT.findall(text), ""], strict=True)
    return "".join(unicodedata.normalize("NFKC", piece) + meant for piece, meant in pieces)


def key_about(subject: str, text: str) -> str:
    """The key of a text about a further subject."""
    return key_of(f"{subject}: {text}")


def key_of(text: str) -> str:
    """SHA-256 of the normalised text; texts made of punctuation only keep their own letters as key."""
    plain = normalise(text) or text.strip()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
