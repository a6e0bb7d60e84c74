"""What of memory stood behind the last reply of a conversation."""

from dataclasses import dataclass

from kenobot.cognitive import hands_store
from kenobot.cognitive.reach import Reach
from kenobot.cognitive.recall.access import Because, explain_turn
from kenobot.cognitive.recall.load import show
from kenobot.db import Connection

_NEWEST = 200  # records that may have become known since the conversation's frame was made


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
    found = {each.number: each for each in explained.because} if explained is not None else {}
    for because in _told_as_news(connection, session, reach):
        found.setdefault(because.number, because)
    return Behind(session, number, at, question, answer, tuple(found.values()))


def _told_as_news(connection: Connection, session: str, reach: Reach) -> list[Because]:
    """What became known while the conversation went on: it stands in the notes beside messages, word for word."""
    texts = hands_store.shown_beside(connection, session)
    records = hands_store.listed(connection, reach, ("active",), ("note", "episode"), _NEWEST) if texts else []
    return [Because(r.id, r, "earlier") for r in records if any(show(r) in text for text in texts)]
