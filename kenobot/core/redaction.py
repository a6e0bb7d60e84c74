"""Make a text safe to show: redact secrets, and escape what would move the cursor, recolour or reorder a terminal."""

import re
import tomllib
from collections.abc import Iterable
from importlib import resources
from urllib.parse import quote

from kenobot.core import lazy

_TABLES = tomllib.loads(resources.files(__package__).joinpath("redaction.toml").read_text("utf-8"))
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (
        kind["name"],
        lazy.regex(kind["pattern"].replace("{break}", _TABLES["break"]), re.IGNORECASE if kind.get("any_case") else 0),
    )
    for kind in _TABLES["kind"]
)
REDACTED = "[secret]"


def find_secret(text: str) -> str | None:
    """Return the kind of secret in `text`, in words; None when there is none."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), None)


class Redactor:
    """Redacts known secrets and whatever looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = {value for value in known if len(value) >= 6}
        # An address may spell them its own way.
        self._known = sorted(values | {quote(value, safe="") for value in values}, key=len, reverse=True)

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


# ── for a terminal ───────────────────────────────────────────────────────────────────────────────────────────────

# Controls except tab and newline, line separators, overrides of reading direction, halves of surrogate pairs.
_UNSAFE = lazy.regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """Show control characters as escapes like `\\x1b`; tabs and newlines stay."""
    return _UNSAFE.sub(_shown, text)


def one_line(text: str) -> str:
    """Escape controls, line breaks and tabs."""
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
