"""One console conversation on several screens: this process's terminal, and chats that came in by the socket."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Protocol

from kenobot.channels.console import DRAFT_SECONDS
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import MessagePart, Outbound


class Screen(Protocol):
    """Shows the conversation to a person. shows_drafts: also a reply that is still being written."""

    @property
    def shows_drafts(self) -> bool: ...

    async def send(self, outbound: Outbound) -> str:
        """Return once the part was shown. Raises Unavailable."""
        ...

    async def typing(self, chat: str, thread: str = "") -> None: ...

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None: ...

    async def print_notice(self, text: str) -> None: ...


class LocalScreen(Screen, Protocol):
    """The terminal of this process, which takes messages as well."""

    async def run(self, sink: Sink) -> None: ...


class SharedConsole:
    """The channel "console". A part counts as sent once one screen has shown it; the others show it too."""

    name = "console"

    def __init__(self, local: LocalScreen | None = None) -> None:
        self.local = local
        self._screens: list[Screen] = [] if local is None else [local]  # bounded: 16 connections; turn
        # bounded: 32 parts a connection; test_a_screen_that_shows_nothing_is_cut_off
        self._late: set[asyncio.Task[str]] = set()

    @property
    def capabilities(self) -> Capabilities:
        drafts = any(screen.shows_drafts for screen in self._screens)
        return Capabilities(longest=sys.maxsize, drafts=drafts, draft_seconds=DRAFT_SECONDS)

    @property
    def is_seen(self) -> bool:
        """Return whether there is a screen."""
        return bool(self._screens)

    def add(self, screen: Screen) -> None:
        self._screens.append(screen)

    def remove(self, screen: Screen) -> None:
        self._screens.remove(screen)

    async def run(self, sink: Sink) -> None:
        """Take messages from this process's terminal. The socket's come by themselves."""
        if self.local is not None:
            await self.local.run(sink)

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),) if text else ()

    async def send(self, outbound: Outbound) -> str:
        """Show a part; return once one screen has. Raises Unavailable when none did."""
        showing = {asyncio.create_task(screen.send(outbound), name="screen") for screen in self._screens}
        try:
            while showing:
                done, showing = await asyncio.wait(showing, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if not task.cancelled() and task.exception() is None:
                        self._leave(showing)
                        return task.result()
        except asyncio.CancelledError:
            for task in showing:
                task.cancel()
            raise
        raise Unavailable("talk.no_chat_open")

    def _leave(self, showing: set[asyncio.Task[str]]) -> None:
        """Let the other screens show it in their own time."""
        self._late |= showing
        for task in showing:
            task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[str]) -> None:
        self._late.discard(task)
        if not task.cancelled():
            task.exception()  # the part was shown elsewhere

    async def typing(self, chat: str, thread: str = "") -> None:
        await asyncio.gather(*(screen.typing(chat, thread) for screen in self._screens))

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        shown = (screen.draft(chat, draft, text, thread) for screen in self._screens if screen.shows_drafts)
        await asyncio.gather(*shown)

    async def print_notice(self, text: str, but: Screen | None = None) -> None:
        """Print a line on every screen `but` one."""
        await asyncio.gather(*(screen.print_notice(text) for screen in self._screens if screen is not but))
