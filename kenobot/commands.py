"""What a person can order in chat with a slash: answered by the core at once, without a model, as a turn of its own.

A command runs inside the transaction that answers it, so it takes effect exactly once or not at all. Neither it nor
its answer enters the conversation that the model is shown.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kenobot.db import Connection
from kenobot.language import Language
from kenobot.ports import Inbound, Principal

_COMMAND = re.compile(r"/([a-z][a-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Order:
    """A command as it was given. `rest` is what stands after its name."""

    inbound: Inbound
    principal: Principal
    rest: str
    language: Language
    at: datetime


class Command(Protocol):
    """Something that can be ordered in chat."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called, without the slash: the English name first, then others."""
        ...

    def may(self, principal: Principal, inbound: Inbound) -> bool:
        """Whether this person may order it here. If not, the message goes to the model like any other."""
        ...

    def run(self, connection: Connection, order: Order) -> str:
        """Do it, inside the turn's transaction, and return the answer as Markdown. Runs in the writer's thread."""
        ...


class Commands:
    """The commands there are, by name."""

    def __init__(self, commands: Iterable[Command] = ()) -> None:
        self._named = {name: command for command in commands for name in command.names}

    def find(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """The command that `inbound` orders, with the rest of its text; None when it is a message like any other.

        A forwarded command is somebody else's, and not obeyed.
        """
        match = None if inbound.forwarded else _COMMAND.fullmatch(inbound.text.strip())
        command = self._named.get(match[1].lower()) if match else None
        if match is None or command is None or not command.may(principal, inbound):
            return None
        return command, (match[2] or "").strip()
