"""The block in which the runtime speaks inside a prompt, and the border that nobody else's text can draw. Pure."""

import re

BLOCK_OPEN = "<kenobot-context>"
BLOCK_CLOSE = "</kenobot-context>"
_BORDER = re.compile(r"<(\s{0,8}/?\s{0,8}kenobot-context\b[^<>]{0,64}>|\|)", re.IGNORECASE)  # <|: chat templates


def runtime_block(text: str) -> str:
    """`text` as the runtime's own block; "" for none."""
    return f"{BLOCK_OPEN}\n{text}\n{BLOCK_CLOSE}" if text else ""


def escape_runtime_block(text: str) -> str:
    """`text` without anything that could pass for the runtime's own block."""
    return _BORDER.sub(lambda match: f"‹{match[1].removesuffix('>')}{'›' * match[1].endswith('>')}", text)
