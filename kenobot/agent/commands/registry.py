"""Commands that a person gives in chat: answered at once, without a model, as a turn of their own.

A command runs inside the transaction that answers it, so it takes effect exactly once or not at all. Neither it nor
its answer enters the conversation that the model is shown.
"""

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from kenobot.agent.commands import forget, memory, owner
from kenobot.agent.commands.command import Change, Command, CommandCall, CommandContext
from kenobot.agent.commands.natural_language import match_command, parse_answer
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

_COMMAND = re.compile(r"/([a-z][a-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)
_PEOPLE: frozenset[Change] = frozenset({"people"})
_PROPOSALS: frozenset[Change] = frozenset({"memory", "proposals"})

_COMMANDS = (
    Command(("pair", "emparejar"), owner.pair, _PEOPLE, owner_only=True),
    Command(("people", "personas"), owner.show_people, _PEOPLE, owner_only=True),
    Command(("remember", "recuerda"), memory.remember, stores_argument=True),
    Command(("forget", "olvida"), forget.forget_memory),
    Command(("why", "porque"), memory.explain_reply),
    Command(("memory", "memoria"), memory.show_memory),
    Command(("undo", "deshacer"), memory.undo_change),
    Command(("missing", "perdidos", "lost"), owner.missing_memory, owner_only=True),
    Command(("revived", "revividos"), owner.revived_memory, owner_only=True),
    Command(("proposals", "propuestas"), owner.show_proposals, _PROPOSALS, owner_only=True),
    Command(("approve", "aprobar"), owner.approve, _PROPOSALS, owner_only=True),
    Command(("reject", "rechazar"), owner.reject, _PROPOSALS, owner_only=True),
)
_NAMED: Mapping[str, Command] = {
    name: replace(command, language="es" if at == 1 else "en")
    for command in _COMMANDS
    for at, name in enumerate(command.names)
}
_WISHES: Mapping[str, Command] = {
    "tell": Command((), memory.show_memory),
    "forget": Command((), partial(forget.forget_memory, asking=True)),
    "forget_all": Command((), forget.decline_everything),
}
_ANSWER = Command((), forget.answer_question)


CommandListener = Callable[[Collection[Change]], None]
"""Follows what a command may have changed; it is on disk."""


class CommandRegistry:
    """Find and run commands, given with a slash or in plain words."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context

    async def find(
        self, database: Database, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """Find the command of a message, or of the answer that it gives to an open question, with its arguments.

        A forwarded message is not obeyed. Never raises.
        """
        found = _match(inbound.text)
        if found is not None and found[0].is_allowed(principal, inbound):
            return found
        if not _ANSWER.is_allowed(principal, inbound) or parse_answer(inbound.text) is None:
            return None
        try:
            question = await database.read(lambda connection: forget.open_question(connection, inbound, principal, at))
        except StoreError as error:
            _log.warning("open questions cannot be read: %s", error)
            return None
        return (_ANSWER, inbound.text) if question is not None else None

    def run(self, connection: Connection, command: Command, call: CommandCall) -> str:
        """Carry out a command inside the turn's transaction, in the writer's thread; returns the answer as Markdown."""
        call = replace(call, language=self._context.language or command.language or call.language)
        return command.answer(connection, call, self._context)


def _match(text: str) -> tuple[Command, str] | None:
    """Match a text that is nothing but a command; returns it with its arguments."""
    match = _COMMAND.fullmatch(text.strip())
    if match is not None:
        command = _NAMED.get(match[1].lower())
        return (command, (match[2] or "").strip()) if command is not None else None
    wish = match_command(text)
    return (replace(_WISHES[wish.kind], language=wish.language), wish.topic) if wish is not None else None
