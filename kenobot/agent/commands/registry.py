"""Commands that a person gives in chat: answered at once, without a model, as a turn of their own.

A command runs inside the transaction that answers it, so it takes effect exactly once or not at all. Neither it nor
its answer enters the conversation that the model is shown.
"""

import logging
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from kenobot.core.i18n import Language
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

_COMMAND = re.compile(r"/([a-z][a-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A command as it was given. arguments: the text after its name. inbox_id: its inbox row, 0 when unknown."""

    inbound: Inbound
    principal: Principal
    arguments: str
    language: Language
    at: datetime
    inbox_id: int = 0


Change = Literal["memory", "people", "proposals"]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The answer to a command as Markdown, and what the command may have changed."""

    text: str
    changes: frozenset[Change]


class CommandListener(Protocol):
    """A part that follows what commands change."""

    def after_command(self, changes: Collection[str]) -> None:
        """Follow these changes; they are on disk."""
        ...


class Command(Protocol):
    """A chat command."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names without the slash: English, Spanish, then older English ones."""
        ...

    @property
    def stores_argument(self) -> bool:
        """Whether the arguments go into memory as they stand."""
        ...

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        """Return whether this person may give it here. If not, the message goes to the model like any other."""
        ...

    def run(self, connection: Connection, call: CommandCall) -> CommandResult:
        """Carry it out inside the turn's transaction. Runs in the writer's thread."""
        ...


class NaturalLanguageMatcher(Protocol):
    """Matches commands in messages without a slash."""

    def match(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """Return the command that a message is, with its arguments; None for any other message. Pure."""
        ...

    def may_be_answer(self, inbound: Inbound) -> bool:
        """Return whether a message may answer a command's question. Pure."""
        ...

    def match_answer(
        self, connection: Connection, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """Return the command that an answer leads to; None when no question is open. Reads only."""
        ...


class CommandRegistry:
    """The commands by name, and the matcher of those in plain words."""

    def __init__(self, commands: Iterable[Command] = (), matcher: NaturalLanguageMatcher | None = None) -> None:
        self._named = {name: command for command in commands for name in command.names}
        self._matcher = matcher

    def find(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """Find the command of a message, with its arguments; a forwarded one is not obeyed."""
        if inbound.forwarded:
            return None
        match = _COMMAND.fullmatch(inbound.text.strip())
        if match is None:
            return self._matcher.match(inbound, principal) if self._matcher is not None else None
        command = self._named.get(match[1].lower())
        if command is None or not command.is_allowed(principal, inbound):
            return None
        return command, (match[2] or "").strip()

    async def resolve(
        self, database: Database, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """Find the command of a message, or of the answer that it gives to an open question. Never raises."""
        matcher, found = self._matcher, self.find(inbound, principal)
        if found is not None or matcher is None or not matcher.may_be_answer(inbound):
            return found
        try:
            return await database.read(lambda connection: matcher.match_answer(connection, inbound, principal, at))
        except StoreError as error:
            _log.warning("open questions cannot be read: %s", error)
            return None
