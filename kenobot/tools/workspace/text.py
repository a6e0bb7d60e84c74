"""Decode the text of a file, show a part of it, and exchange a passage in it. Pure."""

import codecs
from typing import Final

from kenobot.ports.errors import ToolFailed

_SHOWN: Final = 7000  # characters of one reading, which fit the model's view of a result
_BINARY: Final = (b"%PDF-", b"PK\3\4", b"{\\rtf", b"\xd0\xcf\x11\xe0")


def decode_text(data: bytes) -> str | None:
    """Return bytes as text; None for a document or another binary file."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if data.startswith(_BINARY) or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def show_lines(text: str, first: int) -> str:
    """Return the lines of a text from one on, as many as are shown at once, and which they are."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return "(an empty file)"
    if first > len(lines):
        raise ToolFailed(f"It has {len(lines)} lines only.")
    last, room = first - 1, _SHOWN
    while last < len(lines) and (len(lines[last]) <= room or last == first - 1):
        room -= len(lines[last])
        last += 1
    shown = "".join(lines[first - 1 : last])
    cut = len(shown) - _SHOWN
    if cut > 0:
        shown = f"{shown[:_SHOWN]}\n[{cut} more characters of this line are not shown]"
    if first == 1 and last == len(lines):
        return shown
    more = f"; go on with first_line = {last + 1}" if last < len(lines) else ""
    return f"[lines {first} to {last} of {len(lines)}{more}]\n{shown}"


def exchange(text: str, old: str, new: str) -> str:
    """Put a passage in the place of one that is there once, with the line ends of the text. Raises ToolFailed."""
    if "\r\n" in text and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
    if old == new:
        raise ToolFailed("The old and the new text are the same.")
    first = text.find(old)
    if first < 0:
        raise ToolFailed("The old text is not in the file. Read it, and give the passage exactly as it stands there.")
    if (second := text.find(old, first + 1)) >= 0:
        lines = [text.count("\n", 0, at) + 1 for at in (first, second)]
        raise ToolFailed(
            f"The old text is there more than once, in lines {lines[0]} and {lines[1]}: give more around it."
        )
    return text[:first] + new + text[first + len(old) :]
