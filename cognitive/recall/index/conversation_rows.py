"""Turns in their talk, in the side index: who said each, when, and in which stretch: what stands around a turn.

A stretch is talk of one chat without a long pause. It is told from the messages alone, so that it can be made again.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from kenobot.cognitive.recall.index.documents import name_key
from kenobot.cognitive.text.dates import names_time
from kenobot.cognitive.text.recall_need import recall_need
from kenobot.cognitive.text.words import fold, words
from kenobot.ports.identity import chat_scope
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

SCHEMA = """
CREATE TABLE talk (message INTEGER PRIMARY KEY, chat TEXT NOT NULL, stretch INTEGER NOT NULL, place INTEGER NOT NULL,
                   day INTEGER NOT NULL, speaker TEXT NOT NULL, answers INTEGER NOT NULL, words INTEGER NOT NULL,
                   asks INTEGER NOT NULL, dated INTEGER NOT NULL);
CREATE INDEX talk_place ON talk (stretch, place);
CREATE INDEX talk_begins ON talk (chat) WHERE place = 0;
"""

_PAUSE = timedelta(minutes=30)
_MOST = 64  # turns of a stretch: a chat that never rests is cut
_NAME = 60  # characters of a speaker's name
_ASKING = ("?", "？", "؟")
_CHARACTERS = 4000
_COLUMNS = "message, stretch, place, day, speaker, answers, words, asks, dated"


class IndexedTurn(NamedTuple):
    """A turn in its talk. segment: the message that began it; position: how many of it came before.

    day: as `date.toordinal`. speaker: as names are compared, "" in private. by_bot: the bot said it. is_question: it
    is a question. has_time: it says something of a time.
    """

    message: int
    segment: int
    position: int
    day: int
    speaker: str
    by_bot: bool
    word_count: int
    is_question: bool
    has_time: bool

    @property
    def date(self) -> date:
        return date.fromordinal(self.day)


def write_turns(index: Connection, truth: Connection, messages: Iterable[int]) -> None:
    """Make the index know these messages in their talk; those that are gone leave it."""
    ids = sorted(set(messages))
    index.execute("DELETE FROM talk WHERE message IN (SELECT value FROM json_each(?))", (json.dumps(ids),))
    last: dict[str, tuple[int, int, datetime]] = {}
    placed = []
    for message in conversation.messages_by_id(truth, ids):
        number, session, at = message.id, message.session, datetime.fromisoformat(message.at)
        before = last.get(session) or _before(index, truth, session, number)
        stretch, place = number, 0
        if before is not None and at - before[2] < _PAUSE and before[1] + 1 < _MOST:
            stretch, place = before[0], before[1] + 1
        last[session] = (stretch, place, at)
        said = message.text[:_CHARACTERS]
        if recall_need(said) == "no_recall":
            continue  # nods: they say nothing that anybody asks for
        plain, answers = fold(said), message.role == "assistant"
        asks = said.rstrip().endswith(_ASKING)
        placed.append(
            (number, chat_scope(session), stretch, place, at.toordinal(), "" if answers else _speaker(said), answers,
             len(words(said)), asks, names_time(plain))
        )  # fmt: skip
    index.executemany("INSERT OR REPLACE INTO talk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", placed)


def _before(index: Connection, truth: Connection, session: str, number: int) -> tuple[int, int, datetime] | None:
    """Stretch, place and time of the message before; where the index does not know it yet, from the messages."""
    rows = conversation.iterate_messages(truth, session, before=number, newest_first=True)
    first = next(rows, None)
    if first is None:
        return None
    at = datetime.fromisoformat(first.at)
    indexed = index.execute("SELECT stretch, place FROM talk WHERE message = ?", (first.id,)).fetchone()
    if indexed is not None:
        return indexed[0], indexed[1], at
    stretch, place, later = first.id, 0, at
    for row in islice(rows, _MOST - 1):
        earlier = datetime.fromisoformat(row.at)
        if later - earlier >= _PAUSE:
            break
        stretch, place, later = row.id, place + 1, earlier
    return stretch, place, at


def _speaker(text: str) -> str:
    """Who speaks, as the conversation of a group says it before the words; "" where it does not."""
    name, colon, _ = text[: _NAME + 1].partition(": ")
    return name_key(name) if colon and "\n" not in name else ""


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def turns_by_message(index: Connection, messages: Iterable[int]) -> list[IndexedTurn]:
    """These messages in their talk; those that are not indexed are left out."""
    return _turns(index, "talk WHERE message IN (SELECT value FROM json_each(?))", messages)


def turns_at(index: Connection, places: Iterable[tuple[int, int]]) -> list[IndexedTurn]:
    """The turns at these places, each a stretch and a place in it."""
    source = "json_each(?) AS wanted JOIN talk ON talk.stretch = wanted.value ->> 0 AND talk.place = wanted.value ->> 1"
    return _turns(index, source, places)


def turns_of_segments(index: Connection, stretches: Iterable[int]) -> list[IndexedTurn]:
    """Every turn of these stretches."""
    return _turns(index, "talk WHERE stretch IN (SELECT value FROM json_each(?))", stretches)


def _turns(index: Connection, source: str, wanted: Iterable[object]) -> list[IndexedTurn]:
    rows = index.execute(f"SELECT {_COLUMNS} FROM {source}", (json.dumps(list(wanted)),))
    return list(map(IndexedTurn._make, rows))


def segment_word_counts(index: Connection, stretches: Sequence[int]) -> dict[int, int]:
    """How many words these stretches have."""
    rows = index.execute(
        "SELECT stretch, sum(words) FROM talk WHERE stretch IN (SELECT value FROM json_each(?)) GROUP BY stretch",
        (json.dumps(list(stretches)),),
    )
    return dict(rows.fetchall())


def segment_count(index: Connection, scopes: Sequence[str] | None) -> int:
    """How many stretches there are in these chats."""
    row = index.execute(
        "SELECT count(*) FROM talk WHERE place = 0 AND (? IS NULL OR chat IN (SELECT value FROM json_each(?)))",
        (None if scopes is None else 1, json.dumps(scopes)),
    ).fetchone()
    return int(row[0])
