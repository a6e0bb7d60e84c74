"""The rest of a purge: the words of an erased fact in the conversation, in mail that is done, and in prompts.

A turn that told the fact is blanked whole, both sides: how somebody worded it cannot be told from the fact's own
words, and half a sentence would still tell it. A turn that only carried the fact beside it loses that note alone.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kenobot.db import Connection

_SHORTEST = 4  # characters: what is shorter stands in other texts by chance

_TEXTS: tuple[tuple[str, str, str], ...] = (
    ("record", "text", "memory #{}"),
    ("record", "attrs", "memory #{}"),
    ("event", "data", "event {}"),
    ("message", "text", "a message of the conversation (row {})"),
    ("message", "context", "what a prompt carried (row {})"),
    ("inbox", "text", "mail in-{}"),
    ("outbox", "text", "mail out-{}"),
    ("turn", "reply", "a reply that is kept (row {})"),
    ("frame", "text", "the beginning of a prompt (row {})"),
    ("state", "value", "a note of the bot's own (row {})"),
    ("mirror", "text", "a memory file that is written anew (row {})"),
    ("proposal", "title", "proposal {}"),
    ("proposal", "text", "proposal {}"),
    ("proposal", "payload", "proposal {}"),
    ("proposal", "undo", "what proposal {} overwrote"),
)
_SPELLED = ("data", "attrs", "value", "payload", "undo")  # JSON
_MOST = 20


@dataclass(frozen=True, slots=True)
class Erased:
    """What a purge blanked: messages of the conversation by their rows, and how many letters and prompts."""

    messages: tuple[int, ...]
    letters: int
    prompts: int


def erase(connection: Connection, turns: Sequence[int], wordings: Iterable[str], scope: str) -> Erased:
    """Blank the turns of these inbox rows and what prompts carried of `wordings`, inside a transaction.

    Mail that is still on its way stays: its turn has not been told yet.
    """
    messages: list[int] = []
    letters = prompts = 0
    for turn in turns:
        blanked = "UPDATE message SET text = '', context = '' WHERE inbox_id = ? RETURNING id"
        messages += (row[0] for row in connection.execute(blanked, (turn,)).fetchall())
        letters += _count(connection, "UPDATE inbox SET text = '' WHERE id = ? AND done_at IS NOT NULL", turn)
        letters += _count(
            connection, "UPDATE outbox SET text = '', spans = '[]' WHERE inbox_id = ? AND done_at IS NOT NULL", turn
        )
        letters += _count(connection, "UPDATE turn SET reply = '' WHERE inbox_id = ? AND state = 'committed'", turn)
    prompts += _count(connection, "DELETE FROM frame WHERE instr(' ' || scopes || ' ', ' ' || ? || ' ')", scope)
    for line in _lines(wordings):
        prompts += _count(connection, "UPDATE message SET context = '' WHERE instr(context, ?)", line)
    return Erased(tuple(messages), letters, prompts)


def residue(connection: Connection, wordings: Iterable[str]) -> list[str]:
    """Where the database still says one of `wordings`, as people can read it; at most twenty places."""
    found: dict[str, None] = {}
    for text in wordings:
        if len(text) < _SHORTEST:
            continue
        for table, column, place in _TEXTS:
            spelled = json.dumps(text, ensure_ascii=False)[1:-1] if column in _SPELLED else text
            sql = f"SELECT rowid FROM {table} WHERE instr({column}, ?) LIMIT {_MOST}"
            if table in ("state", "mirror"):
                sql = sql.replace("rowid", {"state": "key", "mirror": "path"}[table], 1)
            for row in connection.execute(sql, (spelled,)):
                found[place.format(row[0])] = None
    return list(found)[:_MOST]


def _lines(wordings: Iterable[str]) -> list[str]:
    """The lines of texts that can be told from others: a prompt indents a text's further lines."""
    lines = {line.strip() for text in wordings for line in text.split("\n")}
    return sorted(line for line in lines if len(line) >= _SHORTEST)


def _count(connection: Connection, sql: str, value: object) -> int:
    return connection.execute(sql, (value,)).rowcount
