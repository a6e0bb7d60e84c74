"""The parts of a running bot that a channel may serve to programs, such as a REST API."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from kenobot.cognitive.memory import EmbeddingWorker, Policy, SideIndex
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.gateway.access import Access
from kenobot.ledger.limits import Limit
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound
from kenobot.ports.sentences import Language
from kenobot.storage.database import Database

if TYPE_CHECKING:  # the first answer waits for neither
    from kenobot.agent.commands.command import Change, CommandContext
    from kenobot.core.health import State
    from kenobot.core.status_report import StatusReport


class MemoryMirror(Protocol):
    """The Markdown files that follow memory."""

    def mark_dirty(self) -> None:
        """Schedule a write of the files. Call after the commit."""
        ...


@dataclass(frozen=True, slots=True)
class BotServices:
    """Parts of a bot.

    channels: those that run now, by name. unfinished: how many messages are accepted and not done. begin_sleep:
    begins a night; False where one is under way. sweep: takes up messages that were put back. started: when the bot
    started. state: how the bot is. status: all of that. language: the owner's. commands: what the commands of chats are
    made of. loaded: the settings that the bot was started with. take: takes a message in, as channels bring them.
    note_changes: follows what a request changed, as what a command did.
    """

    database: Database
    clock: Clock
    zone: ZoneInfo
    access: Access
    index: SideIndex
    embedding: EmbeddingWorker
    memory_files: MemoryMirror
    budgets: tuple[Limit, ...]
    policy: Policy
    started: datetime
    channels: Mapping[str, Channel]
    unfinished: Callable[[], int]
    begin_sleep: Callable[[], bool]
    sweep: Callable[[], Awaitable[None]]
    state: "Callable[[], State]"
    status: "Callable[[], Awaitable[StatusReport]]"
    language: Callable[[], Language]
    commands: "CommandContext"
    home: Home
    loaded: ResolvedSettings
    take: Callable[[Inbound], Awaitable[bool]]
    note_changes: "Callable[[Collection[Change]], None]"


@runtime_checkable
class ServesBot(Protocol):
    """A channel that serves the bot itself to programs, beside the messages that it takes in."""

    def serve_bot(self, bot: BotServices) -> None:
        """Take the services that requests use. The app calls it once, before the channel runs."""
        ...
