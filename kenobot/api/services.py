"""The parts of the bot that the REST API serves."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from kenobot.agent.commands.command import Change, CommandContext
from kenobot.channels.http.channel import HttpChannel
from kenobot.channels.http.settings import CHANNEL
from kenobot.channels.http.webhook import chat_of
from kenobot.cognitive.memory import AdmitContext, EmbeddingWorker, Policy, SideIndex
from kenobot.core.health import State
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.status_report import StatusReport
from kenobot.gateway.access import Access
from kenobot.language.calendar import local_day
from kenobot.ledger.limits import Limit
from kenobot.ports.clock import Clock
from kenobot.ports.identity import OWNER_SCOPE, session_id, user_scope
from kenobot.ports.messages import Inbound
from kenobot.storage.api_keys import ApiKey
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES, Scopes


class MemoryMirror(Protocol):
    """The Markdown files that follow memory."""

    def mark_dirty(self) -> None:
        """Schedule a write of the files. Call after the commit."""
        ...


@dataclass(frozen=True, slots=True)
class ApiServices:
    """Dependencies of the API.

    channels: the names of those that run now. unfinished: how many messages are accepted and not done. begin_sleep:
    begins a night; False where one is under way. sweep: takes up messages that were put back. started: when the bot
    started. state: how the bot is. status: all of that. commands: what the commands of chats are made of. loaded: the
    settings that the bot was started with. take: takes a message in, as channels bring them. note_changes: follows what
    a request changed, as what a command did.
    """

    channel: HttpChannel
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
    channels: Callable[[], Collection[str]]
    unfinished: Callable[[], int]
    begin_sleep: Callable[[], bool]
    sweep: Callable[[], Awaitable[None]]
    state: Callable[[], State]
    status: Callable[[], Awaitable[StatusReport]]
    commands: CommandContext
    home: Home
    loaded: ResolvedSettings
    take: Callable[[Inbound], Awaitable[bool]]
    note_changes: Callable[[Collection[Change]], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """The account that a request speaks for, and what its key opens.

    elsewhere: the channel and the chat in which an owner is reminded who wrote in none yet; None for the caller's own.
    """

    key: ApiKey
    services: ApiServices
    elsewhere: tuple[str, str] | None = None

    @property
    def user(self) -> str:
        return self.key.user

    @property
    def is_owner(self) -> bool:
        return self.services.access.is_owner(CHANNEL, self.user)

    @property
    def reach(self) -> Scopes:
        """Return the memories in reach: the owner sees all of the home, everybody else their own."""
        return ALL_SCOPES if self.is_owner else (user_scope(CHANNEL, self.user),)

    @property
    def write_scope(self) -> str:
        return OWNER_SCOPE if self.is_owner else user_scope(CHANNEL, self.user)

    def chat(self, conversation: str) -> str:
        """Return the chat of one of the caller's conversations."""
        return chat_of(self.services.channel.settings.owners, self.user, conversation)

    def session(self, conversation: str) -> str:
        return session_id(CHANNEL, self.chat(conversation))

    def occasion(self) -> AdmitContext:
        """Return the caller's decision about memory, now."""
        services, now = self.services, self.services.clock.now()
        actor = "owner" if self.is_owner else "person"
        return AdmitContext(now, local_day(now, services.zone), actor, nearness=services.embedding.nearness)
