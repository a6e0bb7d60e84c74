"""Rows of memory boxes, their members, and the topic under way.

A box is a record of form `box`; its members are linked to it with the topics that put them there. A box has no words
of its own, so a purge leaves none in it.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from kenobot.cognitive.store import records
from kenobot.cognitive.store.links import add_link
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

_COMMA = ", "
_WORDS = "words: "  # before topics that nobody named
OPEN_KEY = "slot:open"  # the key of the one box of a scope that still takes memories in


@dataclass(frozen=True, slots=True)
class BoxMember:
    """A record in a box: since when, and its topics; not `named` where they are only words of its text."""

    record: int
    at: datetime
    topics: tuple[str, ...]
    named: bool = True


@dataclass(frozen=True, slots=True)
class BoxContents:
    """Contents of a box: its named topics, its size, and the time and session of its last member.

    latest: the topics named last; where none was named, the words of what was told last.
    """

    topics: tuple[str, ...]
    latest: tuple[str, ...]
    count: int
    last_at: datetime
    session: str = ""


@dataclass(frozen=True, slots=True)
class OpenTopic:
    """The topic under way in a scope. box: None while `first_record` is its only record."""

    scope: str
    first_record: int
    box: int | None
    contents: BoxContents


def open_box(connection: Connection, scope: str) -> Record | None:
    """Return the box of this scope that still takes memories in."""
    return records.by_key(connection, scope, "box", OPEN_KEY)


def open_boxes(connection: Connection, reach: Scopes) -> list[Record]:
    """Query the open box of every scope within `reach` that has one."""
    return records.select(connection, f"form = 'box' AND key = ? AND {records.LIVE}", (OPEN_KEY,), reach)


def create_box(connection: Connection, like: Record, at: datetime, session: str) -> Record:
    """Return a new open box in the scope and on the day of `like`, without anything in it."""
    now = stamp(at)
    connection.execute(
        "INSERT INTO record (form, category, scope, subject, text, attributes, source, trust, confidence, importance, "
        "stability, lifecycle, verification, valid_from, created, updated, last_seen, day, key, changed_event) "
        "VALUES ('box', 'box', ?, '', ?, ?, 'tag', ?, 1, 0, 1, 'active', 'system_inferred', ?, ?, ?, ?, ?, ?, 0)",
        (
            like.scope,
            f"memories of {like.day}",
            json.dumps({"session": session} if session else {}),
            like.trust,
            *(now,) * 4,
            like.day,
            OPEN_KEY,
        ),
    )
    box = open_box(connection, like.scope)
    assert box is not None
    return box


def box_members(connection: Connection, box: int) -> list[BoxMember]:
    """Return what lies in a box, in the order it came."""
    rows = connection.execute(
        "SELECT src, first_at, why FROM link WHERE dst = ? AND type = 'member' ORDER BY first_at, src", (box,)
    )
    return [BoxMember(src, datetime.fromisoformat(at), *parse_topics(why)) for src, at, why in rows]


def topics_of_boxes(connection: Connection, boxes: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return what each of these boxes tells of, as `story` has it; one query for all of them."""
    rows = connection.execute(
        "SELECT dst, why FROM link WHERE dst IN (SELECT value FROM json_each(?)) AND type = 'member' "
        "ORDER BY dst, first_at, src",
        (json.dumps(list(boxes)),),
    )
    found: dict[int, list[tuple[tuple[str, ...], bool]]] = {}
    for box, why in rows:
        found.setdefault(box, []).append(parse_topics(why))
    return {box: _story(told) for box, told in found.items()}


def box_topics(members: Iterable[BoxMember]) -> tuple[str, ...]:
    """Return what a box tells of: the topics that were named, in the order they came up; where none was, the words."""
    return _story([(member.topics, member.named) for member in members])


def _story(told: Sequence[tuple[tuple[str, ...], bool]]) -> tuple[str, ...]:
    named = dict.fromkeys(topic for topics, by_name in told if by_name for topic in topics)
    return tuple(named or dict.fromkeys(topic for topics, _ in told for topic in topics))


@lru_cache(maxsize=1024)  # what lies in a box under way is read again with each memory that is laid into it
def parse_topics(why: str) -> tuple[tuple[str, ...], bool]:
    """Read the topics that a link keeps, and whether they were named: else they are words of a text."""
    return tuple(filter(None, why.removeprefix(_WORDS).split(_COMMA))), not why.startswith(_WORDS)


def upsert_box_link(
    connection: Connection, record: int, to: int, kind: str, at: datetime, topics: Sequence[str], *, named: bool = True
) -> bool:
    """Put a record into a box (`member`), or join a box to an earlier one (`trace`); once more is only counted.

    Returns whether it is new there. named: the topics are more than words of a text.
    """
    why = _COMMA.join(topic.replace(",", " ") for topic in topics)
    return add_link(connection, record, to, kind, stamp(at), why if named or not why else _WORDS + why)


# ── the open topic ─────────────────────────────────────────────────────────────────────────────────────────────


def open_topic_of(connection: Connection, scope: str) -> OpenTopic | None:
    """Return the open topic of a scope; None when nothing of it is noted, or what it began with is no longer live."""
    row = connection.execute(
        "SELECT first_id, box_id, topics, latest, count, last_at, session FROM open_topic "
        "JOIN record ON record.id = coalesce(box_id, first_id) WHERE open_topic.scope = ? AND record.scope = ? "
        "AND status = 'active' AND (box_id IS NULL OR key = ?)",
        (scope, scope, OPEN_KEY),
    ).fetchone()
    if row is None:
        return None
    first, box, topics, latest, count, last_at, session = row
    held = BoxContents(
        tuple(json.loads(topics)), tuple(json.loads(latest)), count, datetime.fromisoformat(last_at), session
    )
    return OpenTopic(scope, first, box, held)


def save_open_topic(connection: Connection, stretch: OpenTopic) -> None:
    """Keep how far the topic of a scope has come, so that the next memory need not read all that lies in its box."""
    held = stretch.contents
    connection.execute(
        "INSERT OR REPLACE INTO open_topic (scope, first_id, box_id, topics, latest, count, last_at, session) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            stretch.scope,
            stretch.first_record,
            stretch.box,
            json.dumps(held.topics, ensure_ascii=False),
            json.dumps(held.latest, ensure_ascii=False),
            held.count,
            stamp(held.last_at),
            held.session,
        ),
    )


def delete_open_topic(connection: Connection, scope: str) -> None:
    """Delete the open topic of a scope: it has ended."""
    connection.execute("DELETE FROM open_topic WHERE scope = ?", (scope,))


def idle_scopes(connection: Connection, until: datetime) -> list[str]:
    """Return the scopes in which one memory alone was laid aside, at `until` or before."""
    rows = connection.execute("SELECT scope FROM open_topic WHERE box_id IS NULL AND last_at <= ?", (stamp(until),))
    return [row[0] for row in rows]


def list_closed_boxes(connection: Connection, scope: str, since: datetime, limit: int) -> list[int]:
    """Return the closed boxes of a scope into which something was laid at `since` or later: of the newest `limit`."""
    rows = connection.execute(
        "SELECT id, last_seen FROM record WHERE scope = ? AND form = 'box' AND tier = 'daily' AND status = 'active' "
        "AND key != ? ORDER BY id DESC LIMIT ?",
        (scope, OPEN_KEY, limit),
    )
    earliest = stamp(since)
    return [box for box, seen in rows if seen >= earliest]
