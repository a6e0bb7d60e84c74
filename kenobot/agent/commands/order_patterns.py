"""Compile the patterns of orders about reminders in a thread: in the event loop it would hold up all chats."""

import asyncio
from collections.abc import Coroutine
from datetime import datetime

from kenobot.agent.commands.reminder_cues import may_order
from kenobot.core import lazy

_AT = datetime.fromisoformat("2026-01-01T12:00")  # which day it is hardly decides what is compiled
_NAME = lazy.regex(r"\A\s*/[^\W\d_][\w-]{0,31}\s*")


def prepare_to_read(text: str) -> Coroutine[None, None, None] | None:
    """Return the reading, in a thread, of a message that may order something, for its patterns alone; None for others.

    It takes some tenths of a second at the first such message since the start, and next to nothing later.
    """
    return asyncio.to_thread(_read, _NAME.sub("remind me ", text)) if may_order(text) else None


def _read(text: str) -> None:
    from kenobot.agent.commands.reminder_orders import match_order

    match_order(text, _AT)
