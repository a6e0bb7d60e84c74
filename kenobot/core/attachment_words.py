"""Recognise the words that stand for an attachment in a message: "[sent a picture]", "[sent a location: 41.4, 2.2]"."""

import re

from kenobot.core import lazy

_DESCRIPTION = lazy.regex(r"^\[sent [^\]\n]*\]", re.MULTILINE)


def without_attachments(text: str) -> str:
    """Remove from a text what stands for attachments: it is nobody's words, and in nobody's language."""
    return _DESCRIPTION.sub("", text)
