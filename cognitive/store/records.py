"""Rows of memory: events and records. The SQL of the cognitive rooms stands here, the rules stand elsewhere.

Whatever finds or changes records says within which scopes, and the database keeps to it: see
`kenobot.cognitive.store.scopes`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kenobot.cognitive.store.fast_rows import maker
from kenobot.cognitive.store.scopes import Scopes, scope_filter
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes matter to somebody who sees these records: theirs, new ones past `newest_known`, and profiles.

    include_ended: also that any record is no longer live.
    """

    newest_known: int
    shown_records: Sequence[int]
    include_ended: bool


@dataclass(frozen=True, slots=True)
class Record:
    """Something believed, as far as recall and the mirror need to know it. Times are ISO-8601 text in UTC.

    by: what the person who said it is called, where that is neither the owner nor the one whose scope it is.
    attrs, tags, evidence: JSON, an object and two lists; see `attributes` and `source_message_ids`.
    """

    id: int
    form: str
    category: str
    scope: str
    text: str
    trust: str
    tier: str
    status: str
    confidence: float
    seen: int
    created: str
    updated: str
    day: str
    changed: int
    by: str = ""
    subject: str = "owner"
    attrs: str = "{}"
    tags: str = "[]"
    lang: str = ""
    source: str = "tag"
    importance: float = 0.5
    stability: float = 1.0
    uses: int = 0
    lifecycle: str = "candidate"
    verification: str = "unverified"
    policy_class: str = "durable"
    valid_from: str = ""
    valid_to: str | None = None
    last_seen: str = ""
    last_used: str | None = None
    confirmed: str | None = None
    expires: str | None = None
    key: str = ""
    evidence: str = "[]"

    @property
    def attributes(self) -> dict[str, str]:
        """What it says of its subject, by name."""
        found = json.loads(self.attrs)
        return {name: str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    @property
    def source_message_ids(self) -> tuple[int, ...]:
        """The inbox rows of the turns that said so, each once."""
        return tuple(json.loads(self.evidence))


_record = maker(Record)  # for many at once
_COLUMNS = (
    "id, form, category, scope, text, trust, tier, status, confidence, seen, created, updated, day, changed, "
    "CASE attrs WHEN '{}' THEN '' ELSE coalesce(json_extract(attrs, '$.by'), '') END, subject, attrs, tags, lang, "
    "source, importance, stability, uses, lifecycle, verification, policy_class, valid_from, valid_to, last_seen, "
    "last_used, confirmed, expires, key, evidence"
)


def stamp(moment: datetime) -> str:
    """A moment as the database keeps it: fixed width, so that text order is time order."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


def add_event(
    connection: Connection,
    at: datetime,
    actor: str,
    kind: str,
    *,
    session: str = "",
    record: int | None = None,
    data: Mapping[str, Json] | None = None,
) -> int:
    """Append to what happened; returns the event's id. Ids only grow."""
    cursor = connection.execute(
        "INSERT INTO event (at, session, actor, type, record_id, data) VALUES (?, ?, ?, ?, ?, ?)",
        (stamp(at), session, actor, kind, record, json.dumps(data or {}, ensure_ascii=False)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def last_event(connection: Connection) -> int:
    """The id of the newest event, 0 when nothing has happened yet."""
    row = connection.execute("SELECT max(id) FROM event").fetchone()
    return int(row[0] or 0)


def last_record_event(connection: Connection) -> int:
    """The id of the newest event that speaks of a record, 0 before there is one: records change with such alone."""
    row = connection.execute("SELECT id FROM event WHERE +record_id IS NOT NULL ORDER BY id DESC LIMIT 1").fetchone()
    return int(row[0]) if row else 0


def last_record(connection: Connection) -> int:
    """The id of the newest record of any scope, 0 when there is none."""
    row = connection.execute("SELECT max(id) FROM record").fetchone()
    return int(row[0] or 0)


def last_change(connection: Connection, scopes: Iterable[str]) -> int:
    """The newest event that changed what is shown of these scopes; 0 when there is nothing in them."""
    newest = 0
    for scope in scopes:
        row = connection.execute("SELECT max(changed) FROM record WHERE scope = ?", (scope,)).fetchone()
        newest = max(newest, int(row[0] or 0), last_edit_event(connection, scope))
    return newest


def last_edit_event(connection: Connection, scope: str) -> int:
    """The event of the last time a person edited the scope's MEMORY.md, its headings and prose included; 0: never."""
    return int(read_state(connection, f"edited:{scope}") or 0)


def get(connection: Connection, record: int, reach: Scopes) -> Record | None:
    """A record by its id; None when there is none within `reach`."""
    where, scopes = scope_filter(reach)
    row = connection.execute(f"SELECT {_COLUMNS} FROM record WHERE id = ? AND {where}", (record, *scopes)).fetchone()
    return Record(*row) if row else None


def by_key(connection: Connection, scope: str, form: str, key: str) -> Record | None:
    """The live record of this scope and form with this key."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND form = ? AND key = ? AND status = 'active'",
        (scope, form, key),
    ).fetchone()
    return Record(*row) if row else None


def by_ids(connection: Connection, ids: Sequence[int], reach: Scopes) -> dict[int, Record]:
    """Records by id; ids that are unknown or not within `reach` are left out."""
    where, scopes = scope_filter(reach)
    found: dict[int, Record] = {}
    for start in range(0, len(ids), 500):
        chunk: list[int | None] = [*ids[start : start + 500]]
        chunk += [None] * (-len(chunk) % 20)  # a statement for each number of ids would be prepared anew each time
        marks = ", ".join("?" * len(chunk))
        # By their numbers, not by an index of scopes, which would read all that the scopes hold: hence the plus.
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM record WHERE id IN ({marks}) AND +{where}", (*chunk, *scopes)
        )
        found |= {row[0]: _record(*row) for row in rows}
    return found


def newest_daily(connection: Connection, scope: str, since_day: str, limit: int) -> Iterator[Record]:
    """Live notes and episodes of days' logs, also archived ones, newest first, none from before `since_day`, at most
    `limit`.

    The owner's preferences stand in preferences.md instead.
    """
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND day >= ? AND status = 'active' "
        "AND tier IN ('daily', 'archive') AND form IN ('note', 'episode') "
        "AND (category != 'preference' OR scope != 'owner') "
        "ORDER BY day DESC, id DESC LIMIT ?",
        (scope, since_day, limit),
    )
    yield from (Record(*row) for row in rows)


def count_daily(connection: Connection, scope: str) -> int:
    """How many live records of days' logs a scope has, as `newest_daily` would show them."""
    row = connection.execute(
        "SELECT count(*) FROM record WHERE scope = ? AND form IN ('note', 'episode') AND tier IN ('daily', 'archive') "
        "AND status = 'active' AND (category != 'preference' OR scope != 'owner')",
        (scope,),
    ).fetchone()
    return int(row[0])


def daily_records(connection: Connection, scope: str, day: str) -> list[Record]:
    """What stands in a scope's log of one day, in the order it came."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND day = ? AND status = 'active' AND tier = 'daily' "
        "AND form IN ('note', 'episode') AND category != 'preference' AND source != 'sleep' "
        "ORDER BY id",
        (scope, day),
    )
    return [Record(*row) for row in rows]


def newest_about(connection: Connection, scope: str, subject: str, limit: int) -> list[Record]:
    """The newest live notes and episodes of a scope about a subject, at most `limit`, in the order they came."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND subject = ? AND status = 'active' "
        "AND form IN ('note', 'episode') ORDER BY id DESC LIMIT ?",
        (scope, subject, limit),
    ).fetchall()
    return [Record(*row) for row in reversed(rows)]


def subjects(connection: Connection, scope: str) -> Iterator[str]:
    """Every subject of live records of a scope, each once: a step in the index for each."""
    last = ""
    while True:
        row = connection.execute(
            "SELECT min(subject) FROM record WHERE scope = ? AND subject > ? AND status = 'active'", (scope, last)
        ).fetchone()
        if row[0] is None:
            return
        last = row[0]
        yield last


def core_records(connection: Connection, scope: str) -> list[Record]:
    """What stands in a scope's MEMORY.md, in the order it came."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND form IN ('note', 'episode') AND tier = 'core' "
        "AND status = 'active' ORDER BY id",
        (scope,),
    )
    return [Record(*row) for row in rows]


def preference_records(connection: Connection, scope: str) -> list[Record]:
    """What was learned about how the person of this scope likes things."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND form = 'note' AND tier = 'daily' AND status = 'active' "
        "AND category = 'preference' ORDER BY id",
        (scope,),
    )
    return [Record(*row) for row in rows]


def slot_record(connection: Connection, scope: str, form: str, name: str) -> Record | None:
    """The one live record that fills a slot, such as a chat's working memory."""
    return by_key(connection, scope, form, f"slot:{name}")


def changed_since(
    connection: Connection, scopes: tuple[str, ...], event: int, limit: int, only: ChangeFilter | None = None
) -> list[Record]:
    """Records of any status whose showing changed after `event`, oldest change first, at most `limit`."""
    where, values = scope_filter(scopes)
    matters, chosen = "", tuple[str | int, ...]()
    if only is not None:
        matters = (
            "AND (id > ? OR form = 'profile' OR (? AND status != 'active') OR id IN (SELECT value FROM json_each(?))) "
        )
        chosen = (only.newest_known, only.include_ended, json.dumps(list(only.shown_records)))
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM record WHERE {where} AND changed > ? {matters}ORDER BY changed LIMIT ?",
        (*values, event, *chosen, limit),
    )
    return [Record(*row) for row in rows]


def record_ids_touched_since(connection: Connection, event: int) -> list[int]:
    """Ids of the records, of any scope, that events after `event` speak of, also of such as are gone."""
    # By the numbers of events, not by the index of records, which would read all that ever happened: hence the plus.
    rows = connection.execute(
        "SELECT DISTINCT +record_id FROM event WHERE id > ? AND +record_id IS NOT NULL ORDER BY +record_id", (event,)
    )
    return [row[0] for row in rows]


def successor(connection: Connection, record: int, reach: Scopes) -> Record | None:
    """The live record at the end of the chain that superseded `record`, if it is within `reach`."""
    where, scopes = scope_filter(reach)
    row = connection.execute(
        "WITH RECURSIVE heir (id) AS (SELECT src FROM link WHERE dst = ? AND type = 'supersedes' "
        "UNION SELECT src FROM link JOIN heir ON dst = heir.id WHERE type = 'supersedes') "
        f"SELECT record.id FROM record JOIN heir USING (id) WHERE status = 'active' AND {where} "
        "ORDER BY record.id DESC LIMIT 1",
        (record, *scopes),
    ).fetchone()
    return get(connection, row[0], reach) if row else None


def set_columns(
    connection: Connection, record: Record, names: Sequence[str], values: Sequence[str | int | float | None]
) -> None:
    """Set columns of a record. `kenobot.cognitive.store.change` alone calls this: it keeps what stood there before."""
    settings = ", ".join(f"{name} = ?" for name in names)
    connection.execute(f"UPDATE record SET {settings} WHERE id = ? AND scope = ?", (*values, record.id, record.scope))


def column_values(connection: Connection, record: Record, names: Sequence[str]) -> tuple[str | int | float | None, ...]:
    """What stands in columns of a record now. Raises KeyError when the record is gone."""
    row = connection.execute(
        f"SELECT {', '.join(names)} FROM record WHERE id = ? AND scope = ?", (record.id, record.scope)
    ).fetchone()
    if row is None:
        raise KeyError(record.id)
    return tuple(row)


def dead_twin(connection: Connection, scope: str, key: str, event: int) -> int | None:
    """A record with this key that came after `event` and is no longer live."""
    row = connection.execute(
        "SELECT record.id FROM event JOIN record ON record.id = event.record_id WHERE event.id > ? "
        "AND event.type = 'created' AND scope = ? AND key = ? AND status != 'active' ORDER BY event.id DESC LIMIT 1",
        (event, scope, key),
    ).fetchone()
    return row[0] if row else None


def was_previous_text(connection: Connection, record: Record, text: str, event: int) -> bool:
    """Whether `text` is what a record said until something that happened after `event`."""
    row = connection.execute(
        "SELECT 1 FROM event JOIN record ON record.id = event.record_id WHERE record_id = ? AND scope = ? "
        "AND event.id > ? AND json_extract(data, '$.was.text') = ? LIMIT 1",
        (record.id, record.scope, event, text),
    ).fetchone()
    return row is not None


def core_layout(connection: Connection, scope: str) -> list[str | int]:
    """What stands where in a scope's MEMORY.md: numbers of records, and the literal text between them."""
    kind, _, name = scope.partition(":")
    path = {"owner": "MEMORY.md", "chat": f"chats/{name}/MEMORY.md", "user": f"users/{name}/MEMORY.md"}[kind]
    row = connection.execute("SELECT blocks FROM mirror WHERE path = ?", (path,)).fetchone()
    return json.loads(row[0]) if row else []


def list_file(connection: Connection, path: str) -> tuple[str, list[str | int]] | None:
    """Text and blocks of a mirror file as last written or read."""
    row = connection.execute("SELECT text, blocks FROM mirror WHERE path = ?", (path,)).fetchone()
    return (row[0], json.loads(row[1])) if row else None


def save_list_file(connection: Connection, path: str, text: str, blocks: Sequence[str | int]) -> None:
    connection.execute(
        "INSERT INTO mirror (path, text, blocks) VALUES (?, ?, ?) "
        "ON CONFLICT (path) DO UPDATE SET text = excluded.text, blocks = excluded.blocks",
        (path, text, json.dumps(blocks, ensure_ascii=False)),
    )


def delete_list_file(connection: Connection, path: str) -> None:
    connection.execute("DELETE FROM mirror WHERE path = ?", (path,))


def list_file_paths(connection: Connection) -> list[str]:
    """Every file that the mirror has written or read."""
    return [row[0] for row in connection.execute("SELECT path FROM mirror ORDER BY path")]


def list_files_with(connection: Connection, records: Iterable[int], among: Sequence[str] | None = None) -> list[str]:
    """The files, of those `among`, in which any of `records` stands. Without `among` it looks at every file."""
    wanted = set(records)
    if not wanted or among == []:
        return []
    if among is None:
        rows = connection.execute("SELECT path, blocks FROM mirror").fetchall()
    else:
        asked = "SELECT path, blocks FROM mirror WHERE path = ?"
        rows = [row for path in among for row in connection.execute(asked, (path,))]
    return [path for path, blocks in rows if wanted.intersection(b for b in json.loads(blocks) if isinstance(b, int))]


ERASED_TEXT = "[erased]"
