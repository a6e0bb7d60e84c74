"""The rest of a purge: the words of an erased fact in the conversation, in mail that is done, and in prompts.

A turn that told the fact is blanked whole, both sides: how somebody worded it cannot be told from the fact's own
words, and half a sentence would still tell it. A turn that only carried the fact beside it loses that note alone.

What is deleted still stands in the file's free space and in its log, and the Markdown files follow only afterwards. So
a purge leaves a note in the transaction that erases, and `scrub` takes it away: whatever dies in between, somebody
finishes.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kenobot.cognitive.control import forget
from kenobot.cognitive.control.forget import PurgePlan
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage.connection import Connection, connect, to_store_error
from kenobot.storage.state import read_state, write_state

_UNFINISHED = "purge:unfinished"  # a key of `state`: the newest purge whose words may still stand in free space
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
    ("prompt_prefix", "text", "the beginning of a prompt (row {})"),
    ("key_value", "value", "a note of the bot's own (row {})"),
    ("list_file", "text", "a memory file that is written anew (row {})"),
    ("proposal", "title", "proposal {}"),
    ("proposal", "text", "proposal {}"),
    ("proposal", "payload", "proposal {}"),
    ("proposal", "undo", "what proposal {} overwrote"),
)
_SPELLED = ("data", "attrs", "value", "payload", "undo")  # JSON
_MOST = 20


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """What a purge blanked: messages of the conversation by their rows, and how many letters and prompts."""

    messages: tuple[int, ...]
    letters: int
    prompts: int


def execute_purge(
    connection: Connection, doomed: PurgePlan, reach: Scopes, at: AdmitContext
) -> tuple[PurgePlan, ErasureResult]:
    """Erase what `doomed` names from every table, inside a transaction; what was erased, as it stood by then.

    reach: within which it was found. Files and free space follow later: see `unfinished`.
    """
    connection.execute("PRAGMA secure_delete = ON")
    doomed = forget.plan_purge(connection, doomed.record.id, reach) or doomed  # it may have changed since it was read
    scopes = dict.fromkeys(record.scope for record in doomed.records)
    erased = erase_turns(connection, doomed.turns, doomed.wordings, doomed.record.scope)
    for scope in list(scopes)[1:]:
        erase_turns(connection, (), (), scope)  # a copy in another memory stood in other prompts
    event = forget.purge(connection, doomed, at, erased.messages)
    write_state(connection, _UNFINISHED, str(event))
    return doomed, erased


def is_purge_unfinished(connection: Connection) -> bool:
    """Whether words of something purged may still stand in the database's free space or log."""
    return bool(read_state(connection, _UNFINISHED))


def vacuum_erased(path: Path) -> bool:
    """Write the database's file anew, without what was deleted from it, and empty its log.

    False when somebody reads in an old log, so that it cannot be emptied yet: then the purge stays unfinished. Raises
    StoreError.
    """
    try:
        with closing(connect(path)) as connection:
            noted = read_state(connection, _UNFINISHED)
            connection.execute("VACUUM")
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                return False
            # A purge that came in between has a note of its own.
            connection.execute("DELETE FROM key_value WHERE key = ? AND value = ?", (_UNFINISHED, noted))
            return True
    except sqlite3.Error as error:
        raise to_store_error(error) from error


def erase_turns(connection: Connection, turns: Sequence[int], wordings: Iterable[str], scope: str) -> ErasureResult:
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
    prompts += _count(connection, "DELETE FROM prompt_prefix WHERE instr(' ' || scopes || ' ', ' ' || ? || ' ')", scope)
    for line in _lines(wordings):
        prompts += _count(connection, "UPDATE message SET context = '' WHERE instr(context, ?)", line)
    return ErasureResult(tuple(messages), letters, prompts)


def find_residue(connection: Connection, wordings: Iterable[str]) -> list[str]:
    """Where the database still says one of `wordings`, as people can read it; at most twenty places."""
    found: dict[str, None] = {}
    for text in wordings:
        if len(text) < _SHORTEST:
            continue
        for table, column, place in _TEXTS:
            spelled = json.dumps(text, ensure_ascii=False)[1:-1] if column in _SPELLED else text
            sql = f"SELECT rowid FROM {table} WHERE instr({column}, ?) LIMIT {_MOST}"
            if table in ("key_value", "list_file"):
                sql = sql.replace("rowid", {"key_value": "key", "list_file": "path"}[table], 1)
            for row in connection.execute(sql, (spelled,)):
                found[place.format(row[0])] = None
    return list(found)[:_MOST]


def _lines(wordings: Iterable[str]) -> list[str]:
    """The lines of texts that can be told from others: a prompt indents a text's further lines."""
    lines = {line.strip() for text in wordings for line in text.split("\n")}
    return sorted(line for line in lines if len(line) >= _SHORTEST)


def _count(connection: Connection, sql: str, value: object) -> int:
    return connection.execute(sql, (value,)).rowcount
