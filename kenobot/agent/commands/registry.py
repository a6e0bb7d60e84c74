"""What a person can order in chat: answered by the core at once, without a model, as a turn of its own.

With a slash, or in plain words where a listener hears them: what it is not certain of goes to the model.

A command runs inside the transaction that answers it, so it takes effect exactly once or not at all. Neither it nor
its answer enters the conversation that the model is shown.
"""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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
    """A command as it was given. `arguments` is what stands after its name. inbox_id: its inbox row, 0 when unknown."""

    inbound: Inbound
    principal: Principal
    arguments: str
    language: Language
    at: datetime
    inbox_id: int = 0


class Command(Protocol):
    """Something that can be ordered in chat."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names without the slash: English, Spanish, then older English ones."""
        ...

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        """Whether this person may order it here. If not, the message goes to the model like any other."""
        ...

    def run(self, connection: Connection, order: CommandCall) -> str:
        """Do it, inside the turn's transaction, and return the answer as Markdown. Runs in the writer's thread."""
        ...


class NaturalLanguageMatcher(Protocol):
    """Something that hears orders in messages without a slash."""

    def match(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """The command that a message is, and what it is about; None for a message like any other. Pure."""
        ...

    def may_be_answer(self, inbound: Inbound) -> bool:
        """Whether a message may be an answer to something that a command asked. Pure, and seldom true."""
        ...

    def match_answer(
        self, connection: Connection, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """The command that an answer leads to; None when nothing was asked. Reads only."""
        ...


class CommandRegistry:
    """The commands there are, by name, and who hears those without."""

    def __init__(self, commands: Iterable[Command] = (), listener: NaturalLanguageMatcher | None = None) -> None:
        self._named = {name: command for command in commands for name in command.names}
        self._listener = listener

    def find(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """The command that `inbound` orders, with the rest of its text; None when it is a message like any other.

        A forwarded command is somebody else's, and not obeyed.
        """
        if inbound.forwarded:
            return None
        match = _COMMAND.fullmatch(inbound.text.strip())
        if match is None:
            return self._listener.match(inbound, principal) if self._listener is not None else None
        command = self._named.get(match[1].lower())
        if command is None or not command.is_allowed(principal, inbound):
            return None
        return command, (match[2] or "").strip()

    async def resolve(
        self, database: Database, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """As `find`, and also what `inbound` leads to as the answer to something that a command asked. Never raises."""
        listener, found = self._listener, self.find(inbound, principal)
        if found is not None or listener is None or not listener.may_be_answer(inbound):
            return found
        try:
            return await database.read(lambda connection: listener.match_answer(connection, inbound, principal, at))
        except StoreError as error:
            _log.warning("it cannot be told whether something was asked here: %s", error)
            return None
