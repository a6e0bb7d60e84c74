"""Read and write lines of the IRC protocol (RFC 2812, and message tags of IRCv3)."""

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kenobot.channels.markup import fit, mark_up, plain_marks, split_lines
from kenobot.core import lazy
from kenobot.ports.messages import MessagePart

ROOM_SIGNS: Final = ("#", "&", "+", "!")
_LONGEST_LINE: Final = 510  # bytes, with what the server puts before the text: the sender's mask and the target
_LONGEST_TEXT: Final = 360  # bytes
_SHORTEST_TEXT: Final = 60
_NICK_SIGNS: Final = frozenset("[]\\`_^{|}")
_BRACKETS: Final = {
    "rfc1459": ("[]\\~", "{}|^"),
    "strict-rfc1459": ("[]\\", "{}|"),
    "rfc1459-strict": ("[]\\", "{}|"),
    "ascii": ("", ""),
}
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


def room_for_text(mask: str, target: str) -> int:
    """Return how many bytes of text fit a line to `target` by a sender with this mask."""
    before = f":{mask} PRIVMSG {target} :".encode("utf-8", "replace")
    return max(_SHORTEST_TEXT, min(_LONGEST_TEXT, _LONGEST_LINE - len(before)))


def protocol_lines(part: MessagePart, room: int = _LONGEST_TEXT) -> list[str]:
    """Write a part as lines of at most `room` bytes, with IRC's formatting and without any other control character."""

    def fits(line: MessagePart) -> bool:
        return len(_format(line).encode("utf-8", "replace")) <= room

    return [_format(piece) for line in split_lines([part]) for piece in fit(line, room, fits)]


def _format(line: MessagePart) -> str:
    return mark_up(line, _MARKS, lambda text: _CONTROLS.sub(" ", text))


def strip_formatting(text: str) -> str:
    """Strip IRC's formatting from a line."""
    return _FORMATTING.sub("", text)


def fold(name: str, casemapping: str) -> str:
    """Write a nick or the name of a room in small letters, of which a server says which have which."""
    signs = _BRACKETS.get(casemapping or "rfc1459")
    if signs is None:  # one for all scripts
        return name.lower()
    return name.translate(str.maketrans(string.ascii_uppercase + signs[0], string.ascii_lowercase + signs[1]))


def is_person(source: str) -> bool:
    """Return whether a sender may be a person: no server, and no bouncer that speaks of itself.

    ZNC does as `*status!znc@znc.in`, and its owner may choose another sign than the asterisk; psyBNC as `-psyBNC!…`.
    """
    first = source[:1]
    return (
        "!" in source
        and not source.endswith("!znc@znc.in")
        and (first.isalnum() or first in _NICK_SIGNS or not first.isascii())
    )


def plain_text(text: str) -> str | None:
    """Return the words of a message without formatting; None for one that is a program's question to a program."""
    if text.startswith("\x01"):
        if not text.startswith("\x01ACTION "):
            return None
        text = f"* {text.removeprefix(chr(1) + 'ACTION ').rstrip(chr(1))}"
    return strip_formatting(text).strip()


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
