"""Rows of turns in the side index: their segment, their position in it, their speaker and their date.

A segment is talk of one chat without a long pause, made of the messages alone, so that it can be made again.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice
from typing import NamedTuple

from kenobot.cognitive.store.records import AMONG
from kenobot.language.dates import names_time
from kenobot.language.question.search_terms import name_key
from kenobot.language.recall_need import is_standing_wish, recall_need
from kenobot.language.words import fold, words
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow

SCHEMA = """
CREATE TABLE talk (message INTEGER PRIMARY KEY, scope TEXT NOT NULL, stretch INTEGER NOT NULL, place INTEGER NOT NULL,
                   day INTEGER NOT NULL, speaker TEXT NOT NULL, answers INTEGER NOT NULL, words INTEGER NOT NULL,
                   asks INTEGER NOT NULL, dated INTEGER NOT NULL, wishes INTEGER NOT NULL);
CREATE INDEX talk_place ON talk (stretch, place);
CREATE INDEX talk_begins ON talk (scope) WHERE place = 0;
CREATE INDEX talk_speaker ON talk (scope, speaker) WHERE speaker != '';
"""

PAUSE = timedelta(minutes=30)
"""Silence after which another segment begins."""

_MOST = 64  # turns of a stretch: a chat that never rests is cut
_QUESTION_MARKS = ("?", "？", "؟")
_CHARACTERS = 4000
_COLUMNS = "message, stretch, place, day, speaker, answers, words, asks, dated, wishes"


TurnRow = tuple[int, int, int, int, str, bool, int, bool, bool, bool]
"""The values of an `IndexedTurn`, in their order."""


class IndexedTurn(NamedTuple):
    """A turn in its segment. segment: the id of its first message. position: how many messages come before.

    day: as `date.toordinal`. speaker: a name key, "" in private. has_time: the text names a time.

    is_wish: a person says how things are always to be, or what they prefer.
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
    is_wish: bool

    @property
    def date(self) -> date:
        return date.fromordinal(self.day)


indexed_turn = partial(tuple.__new__, IndexedTurn)
"""Make a turn of its row, without a step of the interpreter."""


def write_turns(index: Connection, truth: Connection, messages: Iterable[int], rows: Sequence[MessageRow]) -> None:
    """Replace the turns of messages. rows: those that are still there, in order."""
    index.execute(f"DELETE FROM talk WHERE message {AMONG}", (json.dumps(list(messages)),))
    last: dict[str, tuple[int, int, datetime]] = {}
    turns = []
    for row in rows:
        at = datetime.fromisoformat(row.at)
        before = last.get(row.session) or _find_before(index, truth, row.session, row.id)
        segment, position = row.id, 0
        if before is not None and abs(at - before[2]) < PAUSE and before[1] + 1 < _MOST:
            segment, position = before[0], before[1] + 1
        last[row.session] = (segment, position, at)
        text, by_bot = row.text[:_CHARACTERS], row.role == "assistant"
        if recall_need(text) == "no_recall":
            continue  # nods answer no question
        said = words(text)
        turn = IndexedTurn(
            row.id, segment, position, at.toordinal(), name_key(row.line.name), by_bot, len(said),
            text.rstrip().endswith(_QUESTION_MARKS), names_time(fold(text)),
            not by_bot and is_standing_wish(said),
        )  # fmt: skip
        turns.append((row.effective_scope, *turn))
    index.executemany(
        f"INSERT OR REPLACE INTO talk (scope, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", turns
    )


def _find_before(index: Connection, truth: Connection, session: str, message: int) -> tuple[int, int, datetime] | None:
    """Find segment, position and time of the message before; where it is not indexed, by the messages."""
    rows = message_rows.iterate_messages(truth, session, before=message, newest_first=True)
    first = next(rows, None)
    if first is None:
        return None
    at = datetime.fromisoformat(first.at)
    indexed = index.execute("SELECT stretch, place FROM talk WHERE message = ?", (first.id,)).fetchone()
    if indexed is not None:
        return indexed[0], indexed[1], at
    segment, position, later = first.id, 0, at
    for row in islice(rows, _MOST - 1):
        earlier = datetime.fromisoformat(row.at)
        if abs(later - earlier) >= PAUSE:
            break
        segment, position, later = row.id, position + 1, earlier
    return segment, position, at


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────


def turns_by_message(index: Connection, messages: Iterable[int]) -> list[TurnRow]:
    """Read the turns of messages; those that are not indexed are left out."""
    return _turns(index, f"talk WHERE message {AMONG}", messages)


def turns_at(index: Connection, places: Iterable[tuple[int, int]]) -> list[TurnRow]:
    """Read the turns at these places, each a segment and a position."""
    source = "json_each(?) AS wanted JOIN talk ON talk.stretch = wanted.value ->> 0 AND talk.place = wanted.value ->> 1"
    return _turns(index, source, places)


def turns_of_segments(index: Connection, segments: Iterable[int]) -> list[TurnRow]:
    """Read every turn of these segments."""
    return _turns(index, f"talk WHERE stretch {AMONG}", segments)


def _turns(index: Connection, source: str, wanted: Iterable[object]) -> list[TurnRow]:
    return index.execute(f"SELECT {_COLUMNS} FROM {source}", (json.dumps(list(wanted)),)).fetchall()


def speakers_named(index: Connection, scopes: Sequence[str] | None, names: Sequence[str]) -> set[str]:
    """Return those of some name keys that name a speaker of these scopes (None: of all), in full or as it begins."""
    rows = index.execute(
        "SELECT each.value FROM json_each(?) AS each WHERE EXISTS (SELECT 1 FROM room CROSS JOIN talk "
        "ON talk.scope = room.scope AND speaker != '' AND speaker >= each.value AND speaker < each.value || '!' "
        f"WHERE room.kind = 'turn' AND (? IS NULL OR room.scope {AMONG}))",  # a blank comes just before "!"
        (json.dumps(names), None if scopes is None else 1, json.dumps(scopes)),
    )
    return {row[0] for row in rows}


def segment_word_counts(index: Connection, segments: Sequence[int]) -> dict[int, int]:
    """Count the words of each of these segments."""
    rows = index.execute(
        f"SELECT stretch, sum(words) FROM talk WHERE stretch {AMONG} GROUP BY stretch", (json.dumps(segments),)
    )
    return dict(rows.fetchall())


def segment_count(index: Connection, scopes: Sequence[str] | None) -> int:
    """Count the segments in these scopes (None: in all)."""
    # "All, or these" in one condition would look through all of them.
    among, values = ("", ()) if scopes is None else (f" AND scope {AMONG}", (json.dumps(scopes),))
    row = index.execute(f"SELECT count(*) FROM talk WHERE place = 0{among}", values).fetchone()
    return int(row[0])
