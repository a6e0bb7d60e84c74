"""Read what memory quotes of a conversation: a message behind a record, and the last exchange."""

from dataclasses import dataclass
from itertools import islice

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.scopes import Scopes, scope_names
from kenobot.cognitive.text.calendar import parse_time
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import MessageRow


@dataclass(frozen=True, slots=True)
class LastExchange:
    """The last message of a conversation and the bot's reply.

    since: end of the turn before. inbox: 0 for a turn that was imported.
    """

    question: str
    reply: str
    since: str
    at: str
    inbox: int


def last_exchange(connection: Connection, session: str) -> LastExchange | None:
    """The last whole turn of a conversation as people saw it; None before there is one."""
    rows = list(islice(conversation.iterate_messages(connection, session, newest_first=True), 3))
    if len(rows) < 2 or rows[0].role != "assistant" or rows[1].role != "user":
        return None
    before = parse_time(rows[2].at) if len(rows) > 2 else None
    since = store.stamp(before) if before is not None else ""
    return LastExchange(rows[1].text, rows[0].text, since, rows[0].at, rows[0].inbox_id or 0)


def quotable_message(connection: Connection, turn: int, reach: Scopes) -> MessageRow | None:
    """The message of the turn of an inbox row, if it is kept, not hidden, and of a scope within `reach`."""
    scopes = scope_names(reach)
    for message in conversation.messages_of_turns(connection, [turn]):
        if message.role == "user" and message.text and not message.hidden:
            return message if scopes is None or message.effective_scope in scopes else None
    return None
