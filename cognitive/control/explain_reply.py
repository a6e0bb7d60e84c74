"""Explain which memories the last reply of a conversation was given."""

from dataclasses import dataclass

from kenobot.cognitive.recall.prompt.usage import UsedMemory, explain_turn
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage import conversation
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class ReplyExplanation:
    """A reply, and what its prompt showed of memory: what was recalled for it first. turn: the inbox row."""

    session: str
    turn: int
    at: str
    question: str
    answer: str
    used_memories: tuple[UsedMemory, ...]


def explain_last_reply(connection: Connection, session: str, reach: Scopes) -> ReplyExplanation | None:
    """Explain the last reply of a conversation; None when nothing was answered there yet."""
    for answer in conversation.iterate_messages(connection, session, newest_first=True):
        if answer.role != "assistant" or answer.inbox_id is None:
            continue
        turn = conversation.messages_of_turns(connection, [answer.inbox_id])
        question = next((row.text for row in turn if row.role == "user" and row.session == session), "")
        explained = explain_turn(connection, answer.inbox_id, reach)
        because = explained.used_memories if explained is not None else ()
        return ReplyExplanation(session, answer.inbox_id, answer.at, question, answer.text, because)
    return None
