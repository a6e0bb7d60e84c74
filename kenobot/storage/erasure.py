"""Erase what a purge names from the conversation, from messages that are done, from prompts and from reminders.

A turn that told the fact is blanked whole, both sides: half a sentence would still tell it. A turn whose prompt only
carried the fact, or an excerpt of such a turn, loses that note alone.

A turn under way has a prompt that may tell it: its claim is withdrawn, so that it begins anew, and its steps lose it.

Deleted words stay in the database's free space and log. So a purge leaves a note in the transaction that erases, and
`vacuum_erased` removes it: a purge that dies in between is finished.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.ports.frozen import dataclass
from kenobot.storage.attachments import digests_in_use
from kenobot.storage.claims import withdraw_claims
from kenobot.storage.connection import Connection, connect, to_store_error
from kenobot.storage.media_files import MediaFolder
from kenobot.storage.state import read_state, write_state
from kenobot.storage.transactions import transaction

_UNFINISHED = "purge:unfinished"  # a key of `state`: the newest purge whose words may still stand in free space
_SHORTEST = 4  # characters: what is shorter stands in other texts by chance

_BLANK_MESSAGES = (
    "UPDATE message SET text = '', context = '', recalled = '', pictures = '' WHERE inbox_id = ? RETURNING id"
)
_BLANK_LETTERS = (
    "UPDATE inbox SET text = '', quoted = '', quoted_author = '', attachments = '[]', digest = '' "
    "WHERE id = ? AND done_at IS NOT NULL",
    "DELETE FROM attachment WHERE inbox_id = ? AND NOT EXISTS "
    "(SELECT 1 FROM inbox WHERE id = attachment.inbox_id AND done_at IS NULL)",
    "UPDATE outbox SET text = '', spans = '[]', payload = '{}' WHERE inbox_id = ? AND done_at IS NOT NULL",
)
_DROP_PREFIXES = "DELETE FROM prompt_prefix WHERE instr(' ' || scopes || ' ', ' ' || ? || ' ')"
_BLANK_KEPT = (  # such as a list of memories, in a channel whose answers are fetched later
    "UPDATE outbox SET text = '', spans = '[]', payload = '{}' WHERE done_at IS NOT NULL "
    "AND (instr(text, ?) OR instr(payload, ?))"
)
_DROP_ASKED = "DELETE FROM job WHERE origin = ?"
_DROP_REMINDERS = (  # with the occurrences of a job
    "DELETE FROM job WHERE scope = ? AND instr(text, ?)",
    "DELETE FROM wish WHERE scope = ? AND instr(text || char(10) || cue, ?)",
)
_BLANK_TITLES = ("UPDATE task SET title = '' WHERE inbox_id = ?", "UPDATE task SET title = '' WHERE origin = ?")
_DROP_RUNS = "DELETE FROM tool_run WHERE inbox_id = ?"
_DROP_CALLS = (
    "DELETE FROM tool_run WHERE instr(call, ?) OR instr(told, ?)",
    "DELETE FROM tool_grant WHERE instr(call, ?) OR instr(call, ?)",
)
_BLANK_NOTES = (
    "UPDATE message SET context = '' WHERE instr(context, ?)",
    "UPDATE message SET recalled = '' WHERE instr(recalled, ?)",
)
_ERASED = "[erased]"
_DROP_LAST_REPLIES = (  # what no model wrote is the call that a person said yes to
    "DELETE FROM turn_step WHERE kind = 'reply' AND number > (SELECT coalesce(max(done.number), -1) FROM turn_step AS "
    "done WHERE done.inbox_id = turn_step.inbox_id AND done.kind != 'reply') "
    "AND NOT (json_extract(payload, '$.model') = '' AND json_extract(payload, '$.text') = '') "
    "AND inbox_id NOT IN (SELECT inbox_id FROM task WHERE asked != 0)"  # which holds the call that waits for a yes
)
_BLANK_REPLIES = "UPDATE turn_step SET payload = json_set(payload, '$.text', '') WHERE kind = 'reply'"
_BLANK_RESULTS = (
    f"UPDATE turn_step SET payload = json_set(payload, '$.text', '{_ERASED}') WHERE kind = 'result' "
    "AND instr(payload, ?)"
)
_BLANK_CALLS = f"UPDATE turn_step SET payload = replace(payload, ?, '{_ERASED}') WHERE instr(payload, ?)"
_QUOTING = (  # by the log of what prompts showed: there a text may be cut, redacted or escaped
    "inbox_id IN (SELECT json_extract(event.data, '$.inbox') FROM event, json_each(event.data, '$.{kind}') AS shown "
    "WHERE event.type = 'recalled' AND shown.value IN (SELECT value FROM json_each(?)) "
    "AND shown.value NOT IN (SELECT value FROM json_each(event.data, '$.{elsewhere}')))"
)
_BLANK_EXCERPTS = (
    "UPDATE message SET recalled = '', context = CASE WHEN instr(context, '### Said earlier') THEN '' ELSE context END "
    f"WHERE (recalled || context) != '' AND {_QUOTING.format(kind='turns', elsewhere='none')}"
)
_BLANK_MEMORIES = (
    "UPDATE message SET recalled = '', context = '' "
    f"WHERE (recalled || context) != '' AND {_QUOTING.format(kind='records', elsewhere='frame')}"
)

_TEXTS: tuple[tuple[str, str, str], ...] = (
    ("record", "text", "memory #{}"),
    ("record", "attributes", "memory #{}"),
    ("event", "data", "event {}"),
    ("message", "text", "a message of the conversation (row {})"),
    ("message", "context", "what a prompt carried (row {})"),
    ("message", "recalled", "what a prompt recalled (row {})"),
    ("inbox", "text", "message in-{}"),
    ("inbox", "quoted", "what message in-{} answers"),
    ("inbox", "attachments", "the attachments of message in-{}"),
    ("attachment", "text", "an attachment (row {})"),
    ("outbox", "text", "message out-{}"),
    ("outbox", "payload", "the file of message out-{}"),
    ("job", "text", "reminder {}"),
    ("wish", "text", "a standing wish (row {})"),
    ("wish", "cue", "a standing wish (row {})"),
    ("turn_step", "payload", "a turn under way (message {})"),
    ("approval", "payload", "an open question (row {})"),
    ("task", "title", "task {}"),
    ("tool_run", "call", "a call of a tool (message {})"),
    ("tool_run", "told", "a result of a tool (message {})"),
    ("tool_grant", "call", "a call of a tool that is allowed (row {})"),
    ("prompt_prefix", "text", "the beginning of a prompt (row {})"),
    ("prompt_prefix", "later", "the beginning of a prompt (row {})"),
    ("prompt_prefix", "preferences", "the beginning of a prompt (row {})"),
    ("prompt_prefix", "known_preferences", "the beginning of a prompt (row {})"),
    ("key_value", "value", "a note of the bot's own (row {})"),
    ("list_file", "text", "a memory file that is written anew (row {})"),
    ("proposal", "title", "proposal {}"),
    ("proposal", "text", "proposal {}"),
    ("proposal", "payload", "proposal {}"),
    ("proposal", "undo", "what proposal {} overwrote"),
)
_SPELLED = ("data", "attributes", "attachments", "value", "payload", "undo")  # JSON
_PRIMARY_KEYS = {
    "key_value": "key",
    "list_file": "path",
    "turn_step": "inbox_id",
    "tool_run": "inbox_id",
}  # of tables without a rowid
_MOST = 20


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """Rows erased by a purge: messages by id; letters, with reminders, and prompts by count."""

    messages: tuple[int, ...]
    letters: int
    prompts: int


def erase_turns(
    connection: Connection, turns: Sequence[int], wordings: Iterable[str], scope: str, records: Sequence[int] = ()
) -> ErasureResult:
    """Blank the turns of these inbox rows and what prompts carried of `wordings` and `records`, inside a transaction.

    Reminders that those turns asked for, or that say it in this scope, go whole. Messages that are still on their way
    stay.
    """
    rows = [row[0] for turn in turns for row in connection.execute(_BLANK_MESSAGES, (turn,)).fetchall()]
    letters = sum(connection.execute(sql, (turn,)).rowcount for turn in turns for sql in _BLANK_LETTERS)
    letters += sum(connection.execute(_BLANK_KEPT, (line, _spell(line))).rowcount for line in _lines(wordings))
    letters += sum(
        connection.execute(sql, (turn,)).rowcount for turn in turns for sql in (_DROP_ASKED, _DROP_RUNS, *_BLANK_TITLES)
    )
    letters += sum(
        connection.execute(sql, (_spell(line), _spell(line))).rowcount
        for line in _lines(wordings)
        for sql in _DROP_CALLS
    )
    letters += sum(
        connection.execute(sql, (scope, line)).rowcount for line in _lines(wordings) for sql in _DROP_REMINDERS
    )
    prompts = connection.execute(_DROP_PREFIXES, (scope,)).rowcount
    prompts += sum(connection.execute(sql, (line,)).rowcount for line in _lines(wordings) for sql in _BLANK_NOTES)
    prompts += connection.execute(_BLANK_EXCERPTS, (json.dumps(rows),)).rowcount
    prompts += connection.execute(_BLANK_MEMORIES, (json.dumps(records),)).rowcount
    for line in _lines(wordings):
        connection.execute("UPDATE task SET title = '' WHERE instr(title, ?)", (line,))
    _interrupt_turns(connection, _lines(wordings))
    return ErasureResult(tuple(rows), letters, prompts)


def _interrupt_turns(connection: Connection, lines: Sequence[str]) -> None:
    """Make the turns under way begin anew: from what their tools did, without the replies to their prompts."""
    withdraw_claims(connection)
    connection.execute(_DROP_LAST_REPLIES)
    connection.execute(_BLANK_REPLIES)
    for line in map(_spell, lines):
        connection.execute(_BLANK_RESULTS, (line,))
        connection.execute(_BLANK_CALLS, (line, line))


def note_unfinished_purge(connection: Connection, event: int) -> None:
    """Note, in the transaction of a purge, that its words may still stand in free space."""
    write_state(connection, _UNFINISHED, str(event))


def is_purge_unfinished(connection: Connection) -> bool:
    """Return whether purged words may still stand in the database's free space or log."""
    return bool(read_state(connection, _UNFINISHED))


def vacuum_erased(path: Path) -> bool:
    """Remove the files of erased attachments, vacuum the database, and empty its log.

    False while a reader holds an old log. Raises StoreError.
    """
    try:
        with closing(connect(path)) as connection:
            noted = read_state(connection, _UNFINISHED)
            MediaFolder(Home(path.parent).media).remove_unused(digests_in_use(connection, ""), at_once=True)
            connection.execute("VACUUM")
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                return False
            # A purge that came in between has a note of its own.
            with transaction(connection):
                connection.execute("DELETE FROM key_value WHERE key = ? AND value = ?", (_UNFINISHED, noted))
            return True
    except sqlite3.Error as error:
        raise to_store_error(error) from error


def find_residue(connection: Connection, wordings: Iterable[str]) -> list[str]:
    """List, for people, where the database still says one of `wordings`; at most twenty places."""
    found: dict[str, None] = {}
    for text in wordings:
        if len(text) < _SHORTEST:
            continue
        for table, column, place in _TEXTS:
            spelled = _spell(text) if column in _SPELLED else text
            sql = f"SELECT rowid FROM {table} WHERE instr({column}, ?) LIMIT {_MOST}"
            sql = sql.replace("rowid", _PRIMARY_KEYS.get(table, "rowid"), 1)
            for row in connection.execute(sql, (spelled,)):
                found[place.format(row[0])] = None
    return list(found)[:_MOST]


def _spell(text: str) -> str:
    """Write a text as it stands within JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _lines(wordings: Iterable[str]) -> list[str]:
    """Split texts into lines long enough to be told from others: a prompt indents a text's further lines."""
    lines = {line.strip() for text in wordings for line in text.split("\n")}
    return sorted(line for line in lines if len(line) >= _SHORTEST)
