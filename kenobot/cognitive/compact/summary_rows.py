"""Rows of compaction: the summary of each conversation, what it does not reach yet, and taking it back."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from kenobot.cognitive.policy.remember import CompactPolicy
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.remember.extract.known_memories import NearSearch
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import change
from kenobot.language.summary.digest import FORM, KEY, SLOT, Digest, parse_digest
from kenobot.ports.identity import chat_scope
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import conversation, message_rows, prompt_prefix
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import ALL_SCOPES, Scopes, scope_filter
from kenobot.storage.times import stamp

if TYPE_CHECKING:
    from kenobot.language.summary.self_check import MemoryLookup

ACTOR = "compaction"
_WORKING = "slot:working"
_RECENT = 500  # records of a scope that are looked at for what is undone
_SHORTEST = 4  # characters of a text that can be looked for in others
GAP_EVENT = "compaction_gap"


def session_summary(connection: Connection, session: str) -> Record | None:
    """Return the live summary of a conversation, if it has one."""
    return records.slot_record(connection, chat_scope(session), FORM, SLOT)


def load_digest(connection: Connection, record: Record) -> Digest:
    """Parse a record's summary; of an edited one, coverage and trust of unchanged lines come from the text before."""
    digest = parse_digest(record)
    if digest.last_message_at:
        return digest
    row = connection.execute(
        "SELECT json_extract(data, '$.was.text'), json_extract(data, '$.was.attributes') FROM event WHERE "
        "record_id = ? "
        "AND json_extract(json_extract(data, '$.was.attributes'), '$.at') != '' ORDER BY id DESC LIMIT 1",
        (record.id,),
    ).fetchone()
    if row is None:
        return digest
    before = parse_digest(record._replace(text=row[0] or record.text, attributes=row[1], trust="forward"))
    trusts = {line.text: line.trust for line in (*before.lines, *before.missing)}
    lines, missing = (
        tuple(replace(line, trust=trusts.get(line.text, line.trust)) for line in part)
        for part in (digest.lines, digest.missing)
    )
    return replace(before, lines=lines, missing=missing)


def find_summary_end(connection: Connection, session: str, digest: Digest) -> int:
    """Find the newest message that the summary of a conversation reaches, or that came before it began anew.

    0: none.
    """
    if not digest.last_message_at:
        return prompt_prefix.find_beginning(connection, session)
    if message_time(connection, session, digest.last_message) == digest.last_message_at:
        return digest.last_message
    # The message is gone, or has another number here: then its time tells.
    rows = message_rows.iterate_messages(connection, session, newest_first=True)
    return next((row.id for row in rows if row.at <= digest.last_message_at), 0)


def message_time(connection: Connection, session: str, message: int) -> str | None:
    """Return when a message of a conversation was written, as it stands there; None when there is no such message."""
    rows = message_rows.messages_by_id(connection, [message])
    return next((row.at for row in rows if row.session == session), None)


def turns_between(connection: Connection, session: str, after: int, before: int, most: int) -> list[ConversationTurn]:
    """Return the turns of a conversation between two messages, oldest first, but those that are hidden or erased."""
    rows = message_rows.iterate_messages(connection, session, after=after, before=before)
    shown = (row for row in rows if row.text and not row.hidden)
    return buffer.group_turns(islice(shown, 2 * most))[:most]


def covers_any(connection: Connection, record: Record, messages: Iterable[MessageRow]) -> bool:
    """Return whether a session's summary may be made of any of these messages."""
    session = record.scope.removeprefix("chat:")
    through = find_summary_end(connection, session, load_digest(connection, record))
    return any(message.session == session and message.id <= through for message in messages)


def summaries_telling(connection: Connection, turns: Sequence[int], texts: Iterable[str]) -> list[Record]:
    """Query the session summaries, withdrawn ones included, that may tell what these inbox rows, or `texts`, said."""
    said = [text.strip().casefold() for text in texts if len(text.strip()) >= _SHORTEST]
    messages = message_rows.messages_of_turns(connection, turns)
    return [
        record
        for record in records.select(connection, "key = ? AND form = ?", (KEY, FORM), ALL_SCOPES)
        if any(text in record.text.casefold() for text in said) or covers_any(connection, record, messages)
    ]


def withdraw_summaries(connection: Connection, turns: Sequence[int], text: str, at: datetime) -> None:
    """Withdraw, inside a transaction, the summaries that may tell what is to be forgotten.

    No part of the forgetting: its undo brings back the memory, not the summary, which is made anew.
    """
    for record in summaries_telling(connection, turns, [text]):
        if record.status == "active":
            _withdraw(connection, record, Sentence("reasons.summary_forgotten"), at)


def begin_anew(connection: Connection, session: str, at: datetime) -> None:
    """Begin a new conversation, inside a transaction: no prompt shows what was said, or its summary; memory stays."""
    summary = session_summary(connection, session)
    if summary is not None:
        _withdraw(connection, summary, Sentence("reasons.talk_begins_anew"), at)
    prompt_prefix.begin_anew(connection, session)


def _withdraw(connection: Connection, record: Record, reason: str, at: datetime) -> None:
    now, act = stamp(at), ChangeContext(at, ACTOR, reason, record.scope.removeprefix("chat:"))
    values = {"status": "forgotten", "valid_to": now, "updated": now, "source_messages": "[]"}
    change(connection, record, "withdrawn", values, act)


def working_notes_by_chat(connection: Connection, reach: Scopes, limit: int) -> dict[str, list[Record]]:
    """Return by chat scope its working memory and summary, last changed first, of at most `limit` records."""
    where, order = f"key IN (?, ?) AND {records.LIVE}", "updated DESC, id DESC"
    chats: dict[str, list[Record]] = {}
    for record in records.select(connection, where, (KEY, _WORKING), reach, order=order, limit=limit):
        if record.scope.startswith("chat:"):
            chats.setdefault(record.scope, []).append(record)
    return chats


def last_scope_of(connection: Connection, chat: str) -> str:
    """Return the scope to which memory wrote what was said last in a chat; "" before anything was."""
    return conversation.last_scope(connection, chat.removeprefix("chat:"))


def last_message_of_each(connection: Connection, chats: Iterable[str]) -> dict[str, int]:
    """Return by chat scope the newest message of each of these chats; 0 before there is one."""
    scopes = {chat.removeprefix("chat:"): chat for chat in chats}
    newest = message_rows.newest_messages(connection, scopes)
    return {chat: newest[session] for session, chat in scopes.items()}


def has_news_of_chats(connection: Connection, event: int) -> bool:
    """Return whether since an event anything happened to a summary, to working memory or to something open.

    Erased records count, and those that were one of these before.
    """
    row = connection.execute(
        "SELECT 1 FROM event LEFT JOIN record ON record.id = event.record_id "
        "WHERE event.id > ? AND +event.record_id IS NOT NULL AND (record.id IS NULL OR record.form = 'question' "
        "OR 'commitment' IN (record.category, json_extract(event.data, '$.was.category')) "
        "OR record.key IN (?, ?) OR json_extract(event.data, '$.was.key') IN (?, ?)) LIMIT 1",
        (event, *(KEY, _WORKING) * 2),
    ).fetchone()
    return row is not None


def open_items(connection: Connection, scope: str, limit: int) -> list[Record]:
    """Open questions and commitments among what is remembered of a scope, those that changed last first."""
    rows = connection.execute(
        "SELECT id FROM (SELECT id, form, category FROM record WHERE scope = ? AND status = 'active' "
        "ORDER BY changed_event DESC LIMIT ?) WHERE form = 'question' OR category = 'commitment'",
        (scope, _RECENT),
    ).fetchall()
    found = records.by_ids(connection, [row[0] for row in rows[:limit]], (scope,))
    return [found[row[0]] for row in rows[:limit] if row[0] in found]


def make_lookup(connection: Connection, session: str, near: NearSearch, policy: CompactPolicy) -> "MemoryLookup":
    """Make what finds the memories, of where a turn's words go and of its chat, that a sentence may be kept in."""

    def look(turn: ConversationTurn, sentence: str) -> Sequence[Record]:
        reach = tuple(dict.fromkeys((turn.scope, chat_scope(session))))
        found = records.by_ids(connection, list(near(connection, sentence, reach, policy.max_memories_compared)), reach)
        return [record for record in found.values() if record.status == "active" and record.form != "summary"]

    return look


def count_summaries(connection: Connection, reach: Scopes) -> int:
    """Count the conversations within `reach` that have a summary."""
    return records.count(connection, f"key = ? AND form = ? AND {records.LIVE}", (KEY, FORM), reach)


def gap_counts(connection: Connection, reach: Scopes) -> Counter[str]:
    """Count the gaps that self-checks of the conversations within `reach` found, by kind."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT data FROM event WHERE type = ? AND record_id IN (SELECT id FROM record WHERE {where})",
        (GAP_EVENT, *scopes),
    )
    kinds: Counter[str] = Counter()
    for (data,) in rows:
        found = json.loads(data).get("kinds")
        kinds.update({kind: int(count) for kind, count in found.items()} if isinstance(found, dict) else {})
    return kinds
