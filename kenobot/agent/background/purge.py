"""Purge a fact's words from the conversation, from messages that are done, and from prompts.

A turn that told the fact is blanked whole, both sides: half a sentence would still tell it. A turn whose prompt only
carried the fact loses that note alone.

Deleted words stay in the database's free space and log, and the Markdown files follow only afterwards. So a purge
leaves a note in the transaction that erases, and `vacuum_erased` removes it: a purge that dies in between is finished.
"""

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kenobot.cognitive.control import forget
from kenobot.cognitive.control.forget import PurgePlan
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.recall.index.indexer import Indexer
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage.connection import Connection, connect, to_store_error
from kenobot.storage.database import Database
from kenobot.storage.state import read_state, write_state

_UNFINISHED = "purge:unfinished"  # a key of `state`: the newest purge whose words may still stand in free space
_SHORTEST = 4  # characters: what is shorter stands in other texts by chance

_TEXTS: tuple[tuple[str, str, str], ...] = (
    ("record", "text", "memory #{}"),
    ("record", "attributes", "memory #{}"),
    ("event", "data", "event {}"),
    ("message", "text", "a message of the conversation (row {})"),
    ("message", "context", "what a prompt carried (row {})"),
    ("inbox", "text", "mail in-{}"),
    ("outbox", "text", "mail out-{}"),
    ("turn_step", "payload", "a turn under way (message {})"),
    ("approval", "payload", "an open question (row {})"),
    ("prompt_prefix", "text", "the beginning of a prompt (row {})"),
    ("key_value", "value", "a note of the bot's own (row {})"),
    ("list_file", "text", "a memory file that is written anew (row {})"),
    ("proposal", "title", "proposal {}"),
    ("proposal", "text", "proposal {}"),
    ("proposal", "payload", "proposal {}"),
    ("proposal", "undo", "what proposal {} overwrote"),
)
_SPELLED = ("data", "attributes", "value", "payload", "undo")  # JSON
_PRIMARY_KEYS = {"key_value": "key", "list_file": "path", "turn_step": "inbox_id"}  # of tables without a rowid
_MOST = 20


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """Rows blanked by a purge: messages of the conversation by id, letters and prompts by count."""

    messages: tuple[int, ...]
    letters: int
    prompts: int


def execute_purge(
    connection: Connection, doomed: PurgePlan, reach: Scopes, at: AdmitContext
) -> tuple[PurgePlan, ErasureResult]:
    """Erase what `doomed` names from every table, inside a transaction; returns the plan as carried out.

    reach: the scopes it was found in. Files and free space follow later: see `is_purge_unfinished`.
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
    """Return whether purged words may still stand in the database's free space or log."""
    return bool(read_state(connection, _UNFINISHED))


def vacuum_erased(path: Path) -> bool:
    """Vacuum the database and empty its log; False while a reader holds an old log. Raises StoreError."""
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

    Messages that are still on their way stay.
    """
    messages: list[int] = []
    letters = prompts = 0
    for turn in turns:
        blanked = "UPDATE message SET text = '', context = '' WHERE inbox_id = ? RETURNING id"
        messages += (row[0] for row in connection.execute(blanked, (turn,)).fetchall())
        letters += _count(
            connection, "UPDATE inbox SET text = '', attachments = '[]' WHERE id = ? AND done_at IS NOT NULL", turn
        )
        letters += _count(
            connection,
            "UPDATE outbox SET text = '', spans = '[]', payload = '{}' WHERE inbox_id = ? AND done_at IS NOT NULL",
            turn,
        )
    prompts += _count(connection, "DELETE FROM prompt_prefix WHERE instr(' ' || scopes || ' ', ' ' || ? || ' ')", scope)
    for line in _lines(wordings):
        prompts += _count(connection, "UPDATE message SET context = '' WHERE instr(context, ?)", line)
    return ErasureResult(tuple(messages), letters, prompts)


def find_residue(connection: Connection, wordings: Iterable[str]) -> list[str]:
    """List, for people, where the database still says one of `wordings`; at most twenty places."""
    found: dict[str, None] = {}
    for text in wordings:
        if len(text) < _SHORTEST:
            continue
        for table, column, place in _TEXTS:
            spelled = json.dumps(text, ensure_ascii=False)[1:-1] if column in _SPELLED else text
            sql = f"SELECT rowid FROM {table} WHERE instr({column}, ?) LIMIT {_MOST}"
            sql = sql.replace("rowid", _PRIMARY_KEYS.get(table, "rowid"), 1)
            for row in connection.execute(sql, (spelled,)):
                found[place.format(row[0])] = None
    return list(found)[:_MOST]


def _lines(wordings: Iterable[str]) -> list[str]:
    """Split texts into lines long enough to be told from others: a prompt indents a text's further lines."""
    lines = {line.strip() for text in wordings for line in text.split("\n")}
    return sorted(line for line in lines if len(line) >= _SHORTEST)


def _count(connection: Connection, sql: str, value: object) -> int:
    return connection.execute(sql, (value,)).rowcount


class PurgeFinisher:
    """Finishes purges of the database in `path` that the command line could not, or that died; `tick` now and then."""

    def __init__(self, database: Database, path: Path, files: MemoryFiles, indexer: Indexer) -> None:
        self._database = database
        self._path = path
        self._files = files
        self._indexer = indexer

    async def tick(self) -> None:
        """Write files and index without the erased words, then vacuum, if a purge is unfinished. Raises StoreError.

        The database is vacuumed last, because the others leave what they overwrote in its free space, and in a thread;
        writes wait for it, some seconds where it is very large.
        """
        if not await self._database.read(is_purge_unfinished):
            return
        await self._files.sync_out()
        await self._indexer.index_all()
        await asyncio.to_thread(vacuum_erased, self._path)
