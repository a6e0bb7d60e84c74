"""Show replies while they are written, where the channel can: drafts, which nothing stores and the answer replaces."""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kenobot.agent.prompt.context_builder import PromptContext
from kenobot.agent.turn.open_reply import OpenReply
from kenobot.core.redaction import Redactor
from kenobot.core.worker import TextWork
from kenobot.ports.channel import Channel, ShowsDrafts, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.messages import Outbound
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.inbox import PendingMessage

_log = logging.getLogger(__name__)

_SECONDS = 5.0  # for a channel to show one
_PAUSES = 10  # times what it took to find out what may be shown: at most a tenth of a core for a long reply
_START_SECONDS = 0.005  # a reply that is all there by then needs no draft, and waits for none
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

    def open(self, pending: PendingMessage) -> "ReplyDraft | None":
        """Open the draft of a reply; None where the channel shows none. In a group nobody is shown any."""
        inbound = pending.inbound
        channel = self.channels.get(inbound.channel)
        if channel is None or not inbound.private or not capabilities_of(channel).drafts:
            return None
        if not isinstance(channel, ShowsDrafts):
            return None
        return ReplyDraft(self, channel, inbound.chat, str(pending.id), inbound.thread)


class ReplyDraft:
    """A reply as its chat sees it while it is written: soon begun, then followed at the channel's pace.

    A channel that fails is given nothing more of this reply. name: the same for all that is shown of it. is_shown: its
    channel shows it.
    """

    def __init__(self, drafts: Drafts, channel: Channel, chat: str, name: str, thread: str = "") -> None:
        self.name = name
        self.is_shown = False
        self._is_begun = self._has_failed = False
        self._drafts = drafts
        self._channel = channel
        self._chat, self._thread = chat, thread
        self._limits = capabilities_of(channel)
        self._open: OpenReply | None = None
        self._text = self._shown = ""
        self._heard: list[str] = []  # bounded: one reply; turn
        self._task: asyncio.Task[None] | None = None

    def listen(self, context: PromptContext, said: str) -> Callable[[str], None]:
        """Begin to listen to the reply, or to the rest of one of which `said` is there. What was shown is replaced.

        context: of this very request: another provider may be shown more of memory.
        """
        self._open = OpenReply(self._drafts.pipeline, self._drafts.redact, context.exposure, context.shown)
        self._text = said
        self._heard.clear()
        return self._hear

    def stop(self) -> None:
        """Show nothing more for now."""
        self._heard.clear()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def replaced_by(self, answer: Sequence[Outbound]) -> Sequence[Outbound]:
        """Have the parts of the answer take the place of what is shown."""
        return [replace(answer[0], draft=self.name), *answer[1:]] if self._is_begun else answer

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
            await clock.sleep(_START_SECONDS)
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
            shown = reply.shown(text)
            return shown if self._fits(shown) else self._shown

        long = sys.maxsize if reply.is_guarded else _WORK * len(text)
        return await self._drafts.work.run(long, settle)

    def _fits(self, text: str) -> bool:
        """Return whether an answer that begins so shows all of it as text, whatever its length."""
        return 2 * len(text) < self._limits.longest or len(self._channel.render(text)) < self._drafts.answer_parts

    async def _show(self, text: str) -> bool:
        assert isinstance(self._channel, ShowsDrafts)
        try:
            async with asyncio.timeout(_SECONDS):
                await self._channel.draft(self._chat, self.name, text, self._thread)
        except Exception as error:
            _log.debug("a draft could not be shown: %r", error)
            return False
        return True
