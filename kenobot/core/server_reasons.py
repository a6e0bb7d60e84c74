"""Word for people why an MCP server cannot be used. What the server says of it itself stays as it is. Pure."""

from collections.abc import Mapping
from typing import Final

from kenobot.core import texts
from kenobot.core.i18n import Language, Text

_REASONS: Final[Mapping[str, Text]] = {
    "All connection attempts failed": texts.SERVER_UNREACHABLE,
    "Connection closed": texts.SERVER_ENDED,
    **{
        text("en"): text
        for text in (
            texts.SERVER_ENDED,
            texts.SERVER_UNREACHABLE,
            texts.SERVER_SILENT,
            texts.SERVER_NO_PROGRAM,
            texts.SERVER_NO_PACKAGE,
        )
    },
}


def word_reason(reason: str, language: Language) -> str:
    """Return a reason in a language, with what the server adds in parentheses."""
    head, mark, rest = reason.partition(" (")
    text = _REASONS.get(head)
    return f"{text(language)}{mark}{rest}" if text is not None else reason
