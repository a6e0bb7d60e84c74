"""Escape foreign text for a terminal: it must not move the cursor, recolour or reorder the screen."""

import re

# Controls except tab and newline, line separators, overrides of reading direction, halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """Show control characters as escapes like `\\x1b`; tabs and newlines stay."""
    return _UNSAFE.sub(_shown, text)


def one_line(text: str) -> str:
    """Escape controls, line breaks and tabs."""
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
