"""Rows of memory boxes: which is open, what lies in it, which were closed lately. SQL only; the rules stand elsewhere.

A box is a record of form `box`. What lies in it is linked to it as its `member`, with the topics that put it there: a
box has no words of its own, so what is erased for good leaves none in it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kenobot.cognitive import store
from kenobot.cognitive.reach import Reach, within
from kenobot.cognitive.store import Record
from kenobot.db import Connection

_COMMA = ", "
OPEN = "slot:open"  # the key of the one box of a scope that still takes memories in


@dataclass(frozen=True, slots=True)
class Member:
    """A record in a box: since when, and the topics that it brought."""

    record: int
    at: datetime
    topics: tuple[str, ...]


def open_box(connection: Connection, scope: str) -> Record | None:
    """The box of this scope that still takes memories in."""
    return store.by_key(connection, scope, "box", OPEN)


def open_boxes(connection: Connection, reach: Reach) -> list[Record]:
    """The open box of every scope within `reach` that has one."""
    where, values = within(reach)
    scopes = connection.execute(
        f"SELECT scope FROM record WHERE {where} AND form = 'box' AND key = ? AND status = 'active'", (*values, OPEN)
    ).fetchall()
    found = (open_box(connection, scope) for (scope,) in scopes)
    return [box for box in found if box is not None]


def create(connection: Connection, like: Record, at: datetime, session: str) -> Record:
    """A new open box in the scope and on the day of `like`, without anything in it."""
    now = store.stamp(at)
    connection.execute(
        "INSERT INTO record (form, category, scope, subject, text, attrs, source, trust, confidence, importance, "
        "stability, lifecycle, verification, valid_from, created, updated, last_seen, day, key, changed) "
        "VALUES ('box', 'box', ?, '', ?, ?, 'tag', ?, 1, 0, 1, 'active', 'system_inferred', ?, ?, ?, ?, ?, ?, 0)",
        (
            like.scope,
            f"memories of {like.day}",
            json.dumps({"session": session} if session else {}),
            like.trust,
            *(now,) * 4,
            like.day,
            OPEN,
        ),
    )
    box = open_box(connection, like.scope)
    assert box is not None
    return box


def members(connection: Connection, box: int) -> list[Member]:
    """What lies in a box, in the order it came."""
    rows = connection.execute(
        "SELECT src, first_at, why FROM link WHERE dst = ? AND type = 'member' ORDER BY first_at, src", (box,)
    )
    return [Member(src, datetime.fromisoformat(at), tuple(filter(None, why.split(_COMMA)))) for src, at, why in rows]


def topics(connection: Connection, boxes: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """What each of these boxes is about, in the order it came up; one query for all of them."""
    rows = connection.execute(
        "SELECT dst, why FROM link WHERE dst IN (SELECT value FROM json_each(?)) AND type = 'member' "
        "ORDER BY dst, first_at, src",
        (json.dumps(list(boxes)),),
    )
    found: dict[int, dict[str, None]] = {}
    for box, why in rows:
        found.setdefault(box, {}).update(dict.fromkeys(filter(None, why.split(_COMMA))))
    return {box: tuple(about) for box, about in found.items()}


def link(connection: Connection, record: int, to: int, kind: str, at: datetime, topics: Sequence[str]) -> None:
    """Put a record into a box (`member`), or join a box to an earlier one (`trace`); once more is only counted."""
    now = store.stamp(at)
    connection.execute(
        "INSERT INTO link (src, dst, type, first_at, last_at, why) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET seen = seen + 1, last_at = excluded.last_at",
        (record, to, kind, now, now, _COMMA.join(topic.replace(",", " ") for topic in topics)),
    )


def sealed(connection: Connection, scope: str, since: datetime, limit: int) -> list[int]:
    """The closed boxes of a scope into which something was laid at `since` or later: of the newest `limit`."""
    rows = connection.execute(
        "SELECT id, last_seen FROM record WHERE scope = ? AND form = 'box' AND tier = 'daily' AND status = 'active' "
        "AND key != ? ORDER BY id DESC LIMIT ?",
        (scope, OPEN, limit),
    )
    earliest = store.stamp(since)
    return [box for box, seen in rows if seen >= earliest]
