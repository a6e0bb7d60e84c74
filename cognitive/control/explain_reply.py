"""Explain which memories the last reply of a conversation was given."""

from dataclasses import dataclass

from kenobot.cognitive.recall.prompt.usage import UsedMemory, explain_turn
from kenobot.cognitive.store import turns
from kenobot.cognitive.store.scopes import Scopes
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
    turn = turns.last_turn(connection, session)
    if turn is None:
        return None
    number, question, answer, at = turn
    explained = explain_turn(connection, number, reach)
    because = explained.used_memories if explained is not None else ()
    return ReplyExplanation(session, number, at, question, answer, because)
