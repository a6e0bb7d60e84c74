"""Make texts fit to be stored."""

from kenobot.core import lazy

MAX_RECORD_CHARS = 16_000
"""Characters of one record; the rest is cut."""

_LINE_BREAK = lazy.regex("\r\n|[\r\u2028\u2029\x85]")


_UNSEEN = lazy.regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\U000e0000-\U000e007f]")  # the Tags block can carry a hidden text


def sanitize(text: str, longest: int) -> str:
    """Return a text fit to be stored, bounded: with no invisible characters but line breaks and tabs."""
    text = _LINE_BREAK.sub("\n", text).encode("utf-8", "replace").decode("utf-8")
    return _UNSEEN.sub("", text).strip()[:longest].rstrip()
