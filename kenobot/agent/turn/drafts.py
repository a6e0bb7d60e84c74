"""Show replies while they are written, where the channel can: by drafts, or in groups by a message that is edited."""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.turn.open_reply import OpenReply
from kenobot.agent.turn.previews import Previews
from kenobot.core.redaction import Redactor
from kenobot.core.worker import TextWork
from kenobot.ports.channel import Channel, ShowsDrafts, ShowsPreviews, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Outbound
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.inbox_rows import PendingMessage

_log = logging.getLogger(__name__)

_SECONDS = 5.0  # for a channel to show one
_PAUSES = 10  # times what it took to find out what may be shown: at most a tenth of a core for a long reply
_FIRST_SECONDS = 0.02  # between two looks as long as nothing is shown
_WORK = 4  # times the work of one look at a text of that length


@dataclass(frozen=True, slots=True)
class Drafts:
    """Opens the drafts of turns. answer_parts: how many parts an answer may have; the last of these is not shown."""

    channels: Mapping[str, Channel]
    clock: Clock
    pipeline: Pipeline
    redact: Redactor
    answer_parts: int
    work: TextWork
    previews: Previews

    def open(self, pending: PendingMessage, attempt: int) -> "ReplyDraft | None":
        """Open the draft of a reply, in a group as a message that is edited; None where the channel shows neither."""
        inbound = pending.inbound
        channel = self.channels.get(inbound.channel)
        if channel is None:
            return None
        limits = capabilities_of(channel)
        if inbound.private and limits.drafts and isinstance(channel, ShowsDrafts):
            return ReplyDraft(self, channel, PrivateDraft(channel, inbound.chat, str(pending.id), inbound.thread))
        if not inbound.private and limits.previews and isinstance(channel, ShowsPreviews):
            return ReplyDraft(self, channel, self.previews.open(pending, attempt, channel))
        return None


class Surface(Protocol):
    """A place that shows a reply while it is written. start_seconds: a reply that is all there by then needs none."""

    @property
    def start_seconds(self) -> float: ...

    async def show(self, text: str) -> None:
        """Show `text` in place of what was shown; "" when no answer will replace it."""
        ...

    def replace_with(self, answer: Sequence[Outbound]) -> Sequence[Outbound]:
        """Replace what is shown with the parts of the answer."""
        ...


@dataclass(frozen=True, slots=True)
class PrivateDraft:
    """A draft of the channel's, which nothing stores. name: the same for all that is shown of a reply."""

    channel: ShowsDrafts
    chat: str
    name: str
    thread: str = ""
    start_seconds: float = 0.005

    async def show(self, text: str) -> None:
        await self.channel.draft(self.chat, self.name, text, self.thread)

    def replace_with(self, answer: Sequence[Outbound]) -> Sequence[Outbound]:
        return [replace(answer[0], draft=self.name), *answer[1:]]


class ReplyDraft:
    """A reply as its chat sees it while it is written: soon begun, then followed at the channel's pace.

    A channel that fails is given nothing more of this reply. is_shown: its channel shows it.
    """

    def __init__(self, drafts: Drafts, channel: Channel, surface: Surface) -> None:
        self.is_shown = False
        self._is_begun = self._has_failed = False
        self._drafts = drafts
        self._channel = channel
        self._surface = surface
        self._limits = capabilities_of(channel)
        self._open: OpenReply | None = None
        self._text = self._shown = ""
        self._heard: list[str] = []  # bounded: one reply; turn
        self._task: asyncio.Task[None] | None = None

    def listen(self, context: PromptContext, said: str, mark: str) -> Callable[[str], None]:
        """Begin to listen to the reply, or to the rest of one of which `said` is there. What was shown is replaced.

        context: of this very request: another provider may be shown more of memory. mark: of what is held back.
        """
        pipeline, redact = self._drafts.pipeline, self._drafts.redact
        self._open = OpenReply(pipeline, redact, context.exposure, context.shown, mark)
        self._text = said
        self._heard.clear()
        return self._hear

    def stop(self) -> None:
        """Show nothing more for now."""
        self._heard.clear()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def replace_with(self, answer: Sequence[Outbound]) -> Sequence[Outbound]:
        """Replace what is shown with the parts of the answer."""
        return self._surface.replace_with(answer) if self._is_begun else answer

    async def withdraw(self) -> None:
        """Take away what is shown: no answer will replace it."""
        self.stop()
        if self._is_begun:
            self._is_begun = self.is_shown = False
            await self._show("")

    def _hear(self, text: str) -> None:
        self._heard.append(text)
        if self._task is None and not self._has_failed:
            self._task = asyncio.create_task(self._follow(), name="draft")

    async def _follow(self) -> None:
        clock = self._drafts.clock
        if not self.is_shown:
            await clock.sleep(self._surface.start_seconds)
        while self._heard:
            began = clock.monotonic()
            self._text = "".join((self._text, *self._heard))
            self._heard.clear()
            text = await self._settle(self._text)
            pause = _PAUSES * (clock.monotonic() - began)
            if text and text != self._shown:
                self._shown, self._is_begun = text, True  # one that is broken off may be shown
                self.is_shown = await self._show(text)
                if not self.is_shown:
                    self._has_failed = True
                    return
                pause = max(pause, self._limits.draft_seconds)
            await clock.sleep(pause if self.is_shown else min(pause, _FIRST_SECONDS))
        self._task = None

    async def _settle(self, text: str) -> str:
        reply = self._open
        assert reply is not None

        def settle() -> str:
            shown = reply.show(text)
            return shown if self._fits(shown) else self._shown

        long = sys.maxsize if reply.is_guarded else _WORK * len(text)
        return await self._drafts.work.run(long, settle)

    def _fits(self, text: str) -> bool:
        """Return whether an answer that begins so shows all of it as text, whatever its length."""
        return 2 * len(text) < self._limits.longest or len(self._channel.render(text)) < self._drafts.answer_parts

    async def _show(self, text: str) -> bool:
        try:
            async with asyncio.timeout(_SECONDS):
                await self._surface.show(text)
        except Exception as error:
            _log.debug("a draft could not be shown: %r", error)
            return False
        return True
