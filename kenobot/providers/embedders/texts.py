"""Clip the texts that embedders read, and the rows that they make of them."""

from array import array
from typing import TypeAlias

Vector: TypeAlias = "array[float]"

MAX_CHARACTERS = 2000  # characters of a text that count; the core asks for less


def clip_text(text: str) -> str:
    """Clip `text` to what any model can read: no NUL, no lone surrogates, `MAX_CHARACTERS` at most."""
    text = text[:MAX_CHARACTERS].replace("\0", " ")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
