"""Show replies that are still written: drafts in private chats, edits of one message in groups, at Telegram's pace."""

import asyncio
import logging
import zlib
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final

from kenobot.channels.telegram.client import TelegramClient, TokenRefused
from kenobot.core.worker import TextWork
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, RemoteError, Unavailable
from kenobot.ports.messages import MessagePart

logger = logging.getLogger(__name__)

_SPACING: Final = 0.1  # seconds between two drafts, over all chats: what is sent has the rest of what a bot may do
_LONGEST_QUEUE: Final = 1.0  # seconds that a draft may wait for its turn: behind that its reply has grown further
_REFUSED_SECONDS: Final = 3600.0  # without drafts in a chat that refused one; in all of a server that knows none
_FAILED_SECONDS: Final = 60.0  # after any other failure
_DRAFT_WAIT: Final = 1.0  # seconds: one that came in behind its answer would stand there for half a minute
_MINUTE: Final = 60.0  # seconds
_MOST_A_MINUTE: Final = 17  # messages and edits in a group; Telegram takes 20, and the answer needs some of them
_MOST_PAUSES: Final = 1000  # chats


class UnfinishedReplies:
    """Previews of replies in chats, at most one request a chat at a time. A failure pauses its chat.

    render: cuts Markdown into messages.
    """

    def __init__(self, client: TelegramClient, clock: Clock, render: Callable[[str], Sequence[MessagePart]]) -> None:
        self._client = client
        self._clock = clock
        self._render = render
        self._text_work = TextWork()
        # bounded: chats that are answered at the same time; turn
        self._at_work: dict[str, asyncio.Task[None]] = {}
        self._next_draft = self._unknown_until = float("-inf")
        # bounded: 1,000 chats; test_paused_chats_are_forgotten_in_time
        self._paused: dict[str, float] = {}
        # bounded: groups that were written to within the minute, 17 times each; turn
        self._recent: dict[str, deque[float]] = {}

    @property
    def has_drafts(self) -> bool:
        """Return whether the server is taken to know drafts."""
        return self._unknown_until <= self._clock.monotonic()

    async def draft(self, chat: str, draft: str, text: str, thread: str) -> None:
        """Show the last message of `text`, in its turn. Raises RemoteError, also where drafts are paused."""
        if not text:
            return
        self._refuse_undraftable(chat)
        now = self._clock.monotonic()
        if chat in self._at_work or self._next_draft - now > _LONGEST_QUEUE:
            return
        begins = max(now, self._next_draft)
        self._next_draft = begins + _SPACING
        if begins > now:
            await self._clock.sleep(begins - now)
            self._refuse_undraftable(chat)
            if chat in self._at_work:
                return
        number = zlib.crc32(draft.encode()) % 0x7FFFFFFF + 1

        async def show() -> None:
            part = (await self._render_text(text))[-1]
            await self._client.draft(chat, number, part, thread)

        await self._run(chat, show())

    async def preview(self, chat: str, message: str, text: str, thread: str) -> None:
        """Show the first message of `text` in a message of a group. Raises RemoteError, also where edits are paused."""
        self._refuse_paused(chat)
        if chat in self._at_work or not self._has_room(chat):
            return
        self.note(chat)

        async def show() -> None:
            part = replace((await self._render_text(text))[0], has_previews=False)
            await self._client.edit(chat, message, part, thread)

        await self._run(chat, show())

    async def settle(self, chat: str, *, replaced: bool) -> None:
        """Return once nothing that is shown of a reply can come in behind the answer. replaced: it was a message."""
        if (task := self._at_work.get(chat)) is not None:
            await asyncio.wait({task}, timeout=None if replaced else _DRAFT_WAIT)

    def note(self, chat: str) -> None:
        """Count a message or an edit in a group."""
        now = self._clock.monotonic()
        self._recent = {known: times for known, times in self._recent.items() if now - times[-1] < _MINUTE}
        self._recent.setdefault(chat, deque(maxlen=_MOST_A_MINUTE)).append(now)

    def _has_room(self, chat: str) -> bool:
        """Return whether a group may be written to now: at first once a second, then slower, below Telegram's limit."""
        now = self._clock.monotonic()
        times = [at for at in self._recent.get(chat, ()) if now - at < _MINUTE]
        if len(times) >= _MOST_A_MINUTE:
            return False
        return not times or now - times[-1] >= 1.0 + 0.3 * len(times)

    def _refuse_paused(self, chat: str) -> None:
        if self._clock.monotonic() < self._paused.get(chat, float("-inf")):
            raise Unavailable("telegram.drafts_refused")

    def _refuse_undraftable(self, chat: str) -> None:
        self._refuse_paused(chat)
        if not self.has_drafts:
            raise Unavailable("telegram.no_drafts")

    async def _render_text(self, text: str) -> Sequence[MessagePart]:
        return await self._text_work.run(len(text), lambda: self._render(text))

    async def _run(self, chat: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a request to its end, also when nobody waits for it any more."""
        task = asyncio.create_task(work, name="unfinished reply")
        self._at_work[chat] = task
        task.add_done_callback(lambda ended: self._note_end(chat, ended))
        await asyncio.shield(task)

    def _note_end(self, chat: str, task: asyncio.Task[None]) -> None:
        self._at_work.pop(chat, None)
        error = None if task.cancelled() else task.exception()
        if not isinstance(error, RemoteError):
            return
        now = self._clock.monotonic()
        until = now + (error.retry_after or (_REFUSED_SECONDS if isinstance(error, Rejected) else _FAILED_SECONDS))
        if isinstance(error, TokenRefused):  # what a server says of a method that it does not know
            self._unknown_until = until
        else:
            current = {known: end for known, end in self._paused.items() if end > now}
            self._paused = dict(list(current.items())[1 - _MOST_PAUSES :]) | {chat: until}
        logger.info("replies are not shown while they are written for now: %s", error)
