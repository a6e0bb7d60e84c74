"""Read and write lines of the IRC protocol (RFC 2812, and message tags of IRCv3)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kenobot.channels.markup import fit, mark_up, plain_marks, split_lines
from kenobot.core import lazy
from kenobot.ports.messages import MessagePart

_LONGEST_TEXT: Final = 360  # bytes: the server puts the sender's mask and the target before it, in 512 in all
_FORMATTING = lazy.regex(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-fA-F]{6})?|[\x00-\x08\x0b-\x1f\x7f]")
_CONTROLS = lazy.regex(r"[\x00-\x1f\x7f]+")
_MARKS: Final = plain_marks({"bold": "\x02", "italic": "\x1d", "strikethrough": "\x1e", "code": "\x11", "pre": "\x11"})
_UNESCAPED: Final = {":": ";", "s": " ", "r": "\r", "n": "\n"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line from the server. source: `nick!user@host`, or a server's name."""

    command: str
    parameters: tuple[str, ...]
    source: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)  # bounded: one line of the protocol; turn

    def __getitem__(self, index: int) -> str:
        """Return a parameter; "" when the server left it out."""
        return self.parameters[index] if -len(self.parameters) <= index < len(self.parameters) else ""

    @property
    def nick(self) -> str:
        return self.source.partition("!")[0]


def parse_line(raw: bytes) -> Line:
    """Parse a line: UTF-8, or Latin-1 where it is none."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    text = text.rstrip("\r\n").replace("\0", "")
    tags: dict[str, str] = {}
    if text.startswith("@"):
        written, _, text = text[1:].partition(" ")
        for tag in written.split(";"):
            key, _, value = tag.partition("=")
            tags[key] = re.sub(r"\\(.?)", lambda escape: _UNESCAPED.get(escape[1], escape[1]), value)
    source = ""
    text = text.lstrip(" ")
    if text.startswith(":"):
        source, _, text = text[1:].partition(" ")
    head, trailing, last = text.lstrip(" ").partition(" :")
    words = [*head.split(), *([last] if trailing else [])]
    return Line(words[0].upper() if words else "", tuple(words[1:]), source, tags)


def protocol_lines(part: MessagePart) -> list[str]:
    """Write a part as lines that fit the protocol, with IRC's formatting and without any other control character."""
    return [_format(piece) for line in split_lines([part]) for piece in fit(line, _LONGEST_TEXT, _fits)]


def _format(line: MessagePart) -> str:
    return mark_up(line, _MARKS, lambda text: _CONTROLS.sub(" ", text))


def _fits(line: MessagePart) -> bool:
    return len(_format(line).encode("utf-8", "replace")) <= _LONGEST_TEXT


def plain_text(text: str) -> str | None:
    """Return the words of a message without formatting; None for one that is a program's question to a program."""
    if text.startswith("\x01"):
        if not text.startswith("\x01ACTION "):
            return None
        text = f"* {text.removeprefix(chr(1) + 'ACTION ').rstrip(chr(1))}"
    return _FORMATTING.sub("", text).strip()


def identify(source: str, account: str, known: Iterable[str]) -> str:
    """Return the entry of the lists that a sender matches, by account or by mask; else the sender's whole mask."""
    for entry in known:
        if entry.startswith("account:"):
            if account and entry.removeprefix("account:").lower() == account.lower():
                return entry
        elif re.fullmatch(_pattern(entry), source, re.IGNORECASE):
            return entry
    return source


def _pattern(mask: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in mask)
