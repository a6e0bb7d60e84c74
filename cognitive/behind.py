"""What of memory stood behind the last reply of a conversation."""

from dataclasses import dataclass

from kenobot.cognitive import hands_store
from kenobot.cognitive.reach import Reach
from kenobot.cognitive.recall.access import Because, explain_turn
from kenobot.db import Connection


@dataclass(frozen=True, slots=True)
class Behind:
    """A reply, and what its prompt showed of memory: what was recalled for it first. turn: the inbox row."""

    session: str
    turn: int
    at: str
    question: str
    answer: str
    because: tuple[Because, ...]


def behind(connection: Connection, session: str, reach: Reach) -> Behind | None:
    """What stood behind the last reply of a conversation; None when nothing was answered there yet."""
    turn = hands_store.last_turn(connection, session)
    if turn is None:
        return None
    number, question, answer, at = turn
    explained = explain_turn(connection, number, reach)
    because = explained.because if explained is not None else ()
    return Behind(session, number, at, question, answer, because)
