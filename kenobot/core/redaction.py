"""Make a text safe to show: redact secrets, and escape what would move the cursor, recolour or reorder a terminal."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Self
from urllib.parse import quote

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence

_TABLES = tomllib.loads(resources.files(__package__).joinpath("redaction.toml").read_text("utf-8"))
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (
        kind["name"],
        lazy.regex(kind["pattern"].replace("{break}", _TABLES["break"]), re.IGNORECASE if kind.get("any_case") else 0),
    )
    for kind in _TABLES["kind"]
)
_TOLD = lazy.regex(_TABLES["told"], re.IGNORECASE)
REDACTED = "[secret]"

# A piece of a pattern: one that stays (a look behind or for what must not follow, a repetition, a sign of a group), or
# an atom.
_SYNTAX = re.compile(
    r"(?P<kept>\(?\?(?:<[=!]|!)(?:\[(?:\\.|[^\]\\])*\]|\\.|[^()\[\]\\])*\)|\{\d+(?:,\d*)?\}|\(\?[:=]|[()|?*+])"
    r"|\[(?:\\.|[^\]\\])*\]|\\.|."
)


def find_secret(text: str) -> str | None:
    """Return the kind of secret in `text`, in words; None when there is none."""
    found = next((kind for kind, pattern in _KINDS if pattern.search(text)), None)
    kind = found or ("secrets.password" if _TOLD.search(text) else None)
    return None if kind is None else Sentence(kind)


def measure_settled(text: str, start: int = 0) -> int:
    """Measure how much of a text that goes on stands before what may become a secret, or part of one.

    start: how much of it was settled before.
    """
    end = min(kind.begins_at(text, start) for kind in _open_ended())
    before = -1
    while end != before:  # a match may go across the end, or look beyond it
        before = end
        end = min(_first_difference(pattern, text, start, end) for _, pattern in _KINDS)
    return end


def _first_difference(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Find where a match begins that `text` has before `end`, and its part up to there has not; `end` for none."""
    part = {match.span() for match in pattern.finditer(text, start, end)}
    whole = (match.span() for match in pattern.finditer(text, start))
    return next((span[0] for span in whole if span[0] < end and span not in part), end)


@dataclass(frozen=True, slots=True)
class _OpenEnded:
    """A pattern whose atoms may each be beyond the end of the text: finds what becomes a match if the text goes on so.

    What looks behind, or looks ahead for what must not be there, stays as it is, and may hold no group. to_the_end: for
    a match that the text ends in. looking: for one whose look ahead goes to the end; None where nothing looks.
    """

    pattern: re.Pattern[str]
    to_the_end: re.Pattern[str]
    looking: re.Pattern[str] | None

    @classmethod
    def of(cls, pattern: re.Pattern[str]) -> Self:
        opened = _SYNTAX.sub(lambda part: part["kept"] or rf"(?:{part[0]}|\Z)", pattern.pattern)
        looking = re.compile(opened, pattern.flags) if "(?=" in opened else None
        return cls(pattern, re.compile(rf"(?:{opened})\Z", pattern.flags), looking)

    def begins_at(self, text: str, start: int) -> int:
        """Find where such a match begins; at the end of the text where there is none."""
        last = self.to_the_end.search(text, start)
        end = last.start() if last else len(text)
        # Not by `finditer`, which would look for another match behind an empty one: for ages, at the end of the text.
        while self.looking is not None and (match := self.looking.search(text, start)) and match.start() < end:
            if not self.pattern.match(text, match.start()):
                return match.start()
            start = match.end()
        return end


@cache
def _open_ended() -> tuple[_OpenEnded, ...]:
    return tuple(_OpenEnded.of(pattern) for _, pattern in _KINDS)


class Redactor:
    """Redacts known secrets and whatever looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known: list[str] = []  # bounded: the secrets of the settings; start
        self.learn(known)

    def learn(self, secrets: Iterable[str]) -> None:
        """Redact these secrets as well from now on."""
        values = {value for value in secrets if len(value) >= 6}
        # An address may spell them its own way.
        spelt = {*self._known, *values, *(quote(value, safe="") for value in values)}
        self._known = sorted(spelt, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        text = self.redact_known(text)
        for _, pattern in _KINDS:
            text = pattern.sub(REDACTED, text)
        return text

    def redact_known(self, text: str) -> str:
        """Redact only the secrets of this process; cheap enough for every reply."""
        for value in self._known:
            if value in text:
                text = text.replace(value, REDACTED)
        return text

    def settle_known(self, text: str) -> str:
        """Redact the secrets of this process in a text that goes on, without its end where that may become one."""
        end = min((_begins_at(value, text) for value in self._known), default=len(text))
        across = (text.find(value, max(0, end - len(value) + 1), end + len(value) - 1) for value in self._known)
        return self.redact_known(text[: min((at for at in across if 0 <= at < end), default=end)])


def _begins_at(value: str, text: str) -> int:
    """Find where a part of `value` begins that `text` ends in; its end where there is none."""
    at = text.find(value[0], max(0, len(text) - len(value) + 1))
    while at >= 0 and not value.startswith(text[at:]):
        at = text.find(value[0], at + 1)
    return at if at >= 0 else len(text)


# ── for a terminal ───────────────────────────────────────────────────────────────────────────────────────────────

# Controls except tab and newline, line separators, overrides of reading direction, halves of surrogate pairs.
_UNSAFE = lazy.regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """Show control characters as escapes like `\\x1b`; tabs and newlines stay."""
    return _UNSAFE.sub(_escape_match, text)


def one_line(text: str) -> str:
    """Escape controls, line breaks and tabs."""
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape_match(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
