"""Set apart the block of the runtime in a prompt. Pure."""

from kenobot.core import lazy
from kenobot.core.lookalikes import defuse, markup_pattern

_BLOCK = "kenobot-context"
BLOCK_OPEN = f"<{_BLOCK}>"
BLOCK_CLOSE = f"</{_BLOCK}>"
_BORDER = lazy.regex(rf"{markup_pattern([_BLOCK], r'(?:[^<>]{0,256}+>)?').pattern}|<\|")  # <|: chat templates


def runtime_block(text: str) -> str:
    """Return `text` as the runtime's own block; "" for none."""
    return f"{BLOCK_OPEN}\n{text}\n{BLOCK_CLOSE}" if text else ""


def escape_runtime_block(text: str) -> str:
    """Return `text` without anything that could pass for the runtime's own block, in any disguise, whole or cut."""
    return defuse(text, _BORDER)
