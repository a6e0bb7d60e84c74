"""Read the memories and links that a graph shows: a bounded number of the newest."""

import json
from typing import NamedTuple

from kenobot.cognitive.store.records import AMONG, LISTED, LIVE
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_filter

_FORMS = "form NOT IN ('box', 'summary', 'scratchpad')"  # which hold or repeat others


class GraphRecord(NamedTuple):
    """A memory as a graph shows it. tags: JSON."""

    id: int
    subject: str
    category: str
    text: str
    tags: str


class GraphLink(NamedTuple):
    """A link. why: of one into a box, the topics that put its memory there."""

    src: int
    dst: int
    type: str
    why: str


def newest_records(connection: Connection, reach: Scopes, limit: int, subject: str, longest: int) -> list[GraphRecord]:
    """Return the newest live memories, of one subject where it is named, with the first letters of their texts."""
    where, scopes = scope_filter(reach)
    about, values = ("AND subject = ?", (subject,)) if subject else ("", ())
    rows = connection.execute(
        f"SELECT id, subject, category, substr(text, 1, ?), tags FROM record "
        f"WHERE {LIVE} AND {LISTED} AND {_FORMS} AND {where} "
        f"{about} ORDER BY id DESC LIMIT ?",
        (longest, *scopes, *values, limit),
    )
    return list(map(GraphRecord._make, rows))


def links_among(connection: Connection, numbers: list[int], *, into_boxes_alone: bool = False) -> list[GraphLink]:
    """Return the links among some memories, and those that lay one of them into a box, these perhaps alone."""
    ids = json.dumps(numbers)
    among, values = ("", (ids,)) if into_boxes_alone else (f" OR dst {AMONG}", (ids, ids))
    rows = connection.execute(
        f"SELECT src, dst, type, why FROM link WHERE src {AMONG} AND (type = 'member'{among})", values
    )
    return list(map(GraphLink._make, rows))
