"""Rows of what people said: quoted messages, the last exchange, feedback on records, and records without any."""

import json
from collections.abc import Sequence
from itertools import islice

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import AMONG, FACTS, LAST_HEARD, LIVE
from kenobot.language.calendar import parse_time
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import Scopes, scope_filter, scope_names
from kenobot.storage.times import stamp

_PAGE = 500
_TAIL = 300  # events from the end that are looked at for what a turn did


@dataclass(frozen=True, slots=True)
class FeedbackCounts:
    """Approvals and objections of a record by the person it belongs to."""

    approvals: int = 0
    objections: int = 0


NO_FEEDBACK = FeedbackCounts()


def recently_learned(connection: Connection, session: str) -> list[tuple[int, str]]:
    """Query records that a conversation's last few hundred events created or repeated, newest first, with times."""
    rows = connection.execute(
        "SELECT record_id, max(at) FROM event WHERE id > (SELECT max(id) FROM event) - ? AND session = ? "
        "AND type IN ('created', 'reinforced', 'replaced') AND record_id IS NOT NULL "
        "GROUP BY record_id ORDER BY max(id) DESC LIMIT 40",
        (_TAIL, session),
    )
    return [(row[0], row[1]) for row in rows]


def feedback_counts(connection: Connection, records: Sequence[int]) -> dict[int, FeedbackCounts]:
    """Count the approvals and objections of each of `records`; a record without any counts none."""
    rows = connection.execute(
        "SELECT record_id, sum(type IN ('confirmed', 'pinned')), sum(type = 'disputed') FROM event "
        f"WHERE record_id {AMONG} AND type IN ('confirmed', 'pinned', 'disputed') GROUP BY record_id",
        (json.dumps(list(records)),),
    )
    return dict.fromkeys(records, NO_FEEDBACK) | {row[0]: FeedbackCounts(row[1], row[2]) for row in rows}


def quiet_page(connection: Connection, reach: Scopes, after: int, quiet_since: str) -> list[Record]:
    """Query the live facts past id `after` that were not seen or used since a moment, by id, at most 500."""
    where, scopes = scope_filter(reach)
    rows = connection.execute(
        f"SELECT id FROM record NOT INDEXED WHERE id > ? AND {LIVE} AND {FACTS} AND {LAST_HEARD} <= ? AND {where} "
        "ORDER BY id LIMIT ?",
        (after, quiet_since, *scopes, _PAGE),
    )
    found = store.by_ids(connection, [row[0] for row in rows], reach)
    return [found[number] for number in sorted(found)]


@dataclass(frozen=True, slots=True)
class LastExchange:
    """The last message of a conversation and the bot's reply.

    since: end of the turn before. inbox: 0 for a turn that was imported.
    """

    question: str
    reply: str
    since: str
    at: str
    inbox: int


def last_exchange(connection: Connection, session: str) -> LastExchange | None:
    """Return the last whole turn of a conversation as people saw it; None before there is one."""
    return _exchange(list(islice(message_rows.iterate_messages(connection, session, newest_first=True), 3)))


def exchange_of(connection: Connection, session: str, inbox: int) -> LastExchange | None:
    """Query the turn of an inbox row as people saw it; None where it is not whole, or of another conversation."""
    turn = message_rows.messages_of_turns(connection, [inbox])
    if not turn or turn[-1].session != session or turn[-1].hidden:
        return None
    told = message_rows.iterate_messages(connection, session, before=turn[-1].id + 1, newest_first=True)
    return _exchange(list(islice(told, 3)))


def find_applied(connection: Connection, session: str, reason: str) -> list[int]:
    """Query the decisions among a conversation's last few hundred events whose reason begins so, newest first."""
    rows = connection.execute(
        "SELECT id FROM event WHERE id > (SELECT max(id) FROM event) - ? AND session = ? "
        "AND type IN ('confirmed', 'disputed') AND instr(json_extract(data, '$.reason'), ?) = 1 ORDER BY id DESC",
        (_TAIL, session, reason),
    )
    return [row[0] for row in rows]


def _exchange(rows: Sequence[MessageRow]) -> LastExchange | None:
    """Return the turn at the end of a conversation. rows: its last three messages, newest first."""
    if len(rows) < 2 or rows[0].role != "assistant" or rows[1].role != "user":
        return None
    before = parse_time(rows[2].at) if len(rows) > 2 else None
    since = stamp(before) if before is not None else ""
    return LastExchange(rows[1].text, rows[0].text, since, rows[0].at, rows[0].inbox_id or 0)


def quotable_message(connection: Connection, turn: int, reach: Scopes) -> MessageRow | None:
    """Return the message of the turn of an inbox row, if it is kept, not hidden, and of a scope within `reach`."""
    scopes = scope_names(reach)
    for message in message_rows.messages_of_turns(connection, [turn]):
        if message.role == "user" and message.text and not message.hidden:
            return message if scopes is None or message.effective_scope in scopes else None
    return None
