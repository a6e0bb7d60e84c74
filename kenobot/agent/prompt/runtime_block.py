"""The block in which the runtime speaks inside a prompt, and the border that nobody else's text can draw. Pure."""

import re

OPEN = "<kenobot-context>"
CLOSE = "</kenobot-context>"
_BORDER = re.compile(r"<(\s{0,8}/?\s{0,8}kenobot-context\b[^<>]{0,64}>|\|)", re.IGNORECASE)  # <|: chat templates


def wrap(text: str) -> str:
    """`text` as the runtime's own block; "" for none."""
    return f"{OPEN}\n{text}\n{CLOSE}" if text else ""


def harmless(text: str) -> str:
    """`text` without anything that could pass for the runtime's own block."""
    return _BORDER.sub(lambda match: f"‹{match[1].removesuffix('>')}{'›' * match[1].endswith('>')}", text)
