"""Rows that decay needs: days and weeks that are not over, what a week was made of, and where records have stood."""

import json
from collections.abc import Iterable, Sequence

from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.storage.connection import Connection

DAILY, ARCHIVE, CORE, REF = "daily", "archive", "core", "ref:"
"""The tiers of facts: in the log of the day, in the archive, in MEMORY.md, and in a ref file, followed by its name."""

WEEK = "week:"
"""What the slot of a week's summary begins with."""

_MANY = 500


def all_scopes(connection: Connection) -> list[str]:
    """Every scope of which anything is remembered."""
    return [row[0] for row in connection.execute("SELECT DISTINCT scope FROM record ORDER BY scope")]


def daily_log_days(connection: Connection, scope: str, until: str) -> list[str]:
    """The days up to `until`, in order, of which a scope has live facts that are still in the log of their day."""
    rows = connection.execute(
        "SELECT DISTINCT day FROM record WHERE scope = ? AND status = 'active' AND tier = 'daily' AND day <= ? "
        "AND form IN ('note', 'episode') ORDER BY day",
        (scope, until),
    )
    return [row[0] for row in rows]


def logged_between(connection: Connection, scope: str, first: str, last: str) -> list[Record]:
    """The live facts of the days from `first` to `last` that stand in logs, kept or archived, in order.

    What sleep made was told on no day, and the owner's preferences stand in preferences.md.
    """
    rows = connection.execute(
        "SELECT id FROM record WHERE scope = ? AND day >= ? AND day <= ? AND status = 'active' "
        "AND tier IN ('daily', 'archive') AND form IN ('note', 'episode') AND source != 'sleep' "
        "AND (category != 'preference' OR scope != 'owner') ORDER BY day, id",
        (scope, first, last),
    )
    return _records(connection, [row[0] for row in rows], scope)


def daily_record_ids(connection: Connection, scope: str, day: str) -> list[int]:
    """The live facts of a day that are still in its log, whoever made them."""
    rows = connection.execute(
        "SELECT id FROM record WHERE scope = ? AND day = ? AND status = 'active' AND tier = 'daily' "
        "AND form IN ('note', 'episode') AND (category != 'preference' OR scope != 'owner') ORDER BY id",
        (scope, day),
    )
    return [row[0] for row in rows]


def week_summaries(connection: Connection, scope: str) -> list[Record]:
    """The summaries of weeks that are still in the hot tree."""
    rows = connection.execute(
        "SELECT id FROM record WHERE scope = ? AND form = 'summary' AND tier = 'daily' AND status = 'active' "
        "AND key >= ? AND key < ? ORDER BY key",
        (scope, f"slot:{WEEK}", f"slot:{WEEK[:-1]};"),
    )
    return _records(connection, [row[0] for row in rows], scope)


def forgotten_weeks(connection: Connection, scope: str) -> tuple[set[str], set[str]]:
    """The weeks whose summaries went because somebody forgot a fact in them, and those forgotten for their own sake."""
    rows = connection.execute(
        "SELECT substr(key, length(?) + 1), (SELECT json_extract(data, '$.part_of') FROM event WHERE record_id = "
        "record.id AND type = 'forgotten' ORDER BY event.id DESC LIMIT 1) FROM record WHERE scope = ? "
        "AND form = 'summary' AND status = 'forgotten' AND key >= ? AND key < ? ORDER BY record.id",
        (f"slot:{WEEK}", scope, f"slot:{WEEK}", f"slot:{WEEK[:-1]};"),
    )
    lost = dict(rows.fetchall())
    unwanted = {week for week, part_of in lost.items() if part_of is None}
    return lost.keys() - unwanted, unwanted


def derived_from_ids(connection: Connection, record: int) -> set[int]:
    """What a summary was made of."""
    rows = connection.execute("SELECT dst FROM link WHERE src = ? AND type = 'derived'", (record,))
    return {row[0] for row in rows}


def ids_in_week_summaries(connection: Connection, scope: str, records: Sequence[int]) -> set[int]:
    """Those of `records` of a scope that the summary of a week was made of."""
    found: set[int] = set()
    for start in range(0, len(records), _MANY):
        rows = connection.execute(
            "SELECT DISTINCT dst FROM link JOIN record ON record.id = link.src WHERE record.scope = ? "
            "AND status = 'active' AND form = 'summary' AND category = 'week' AND type = 'derived' "
            "AND dst IN (SELECT value FROM json_each(?))",
            (scope, json.dumps(list(records[start : start + _MANY]))),
        )
        found.update(row[0] for row in rows)
    return found


def has_ended_source(connection: Connection, scope: str, summary: int) -> bool:
    """Whether something that a summary of a scope was made of is no longer believed."""
    row = connection.execute(
        "SELECT 1 FROM link JOIN record ON record.id = link.dst WHERE link.src = ? AND link.type = 'derived' "
        "AND record.scope = ? AND record.status != 'active' LIMIT 1",
        (summary, scope),
    ).fetchone()
    return row is not None


def ref_file_counts(connection: Connection, scope: str) -> dict[str, int]:
    """The ref files of a scope by name, in alphabetical order, and how many facts stand in each."""
    rows = connection.execute(
        "SELECT tier, count(*) FROM record WHERE scope = ? AND form IN ('note', 'episode') AND tier >= ? AND tier < ? "
        "AND status = 'active' GROUP BY tier ORDER BY tier",
        (scope, REF, f"{REF[:-1]};"),
    )
    return {tier.removeprefix(REF): count for tier, count in rows}


def in_tier(connection: Connection, scope: str, tier: str) -> list[Record]:
    """The live facts of a tier, in the order they came."""
    rows = connection.execute(
        "SELECT id FROM record WHERE scope = ? AND form IN ('note', 'episode') AND tier = ? AND status = 'active' "
        "ORDER BY id",
        (scope, tier),
    )
    return _records(connection, [row[0] for row in rows], scope)


def archived_day_records(connection: Connection, scope: str, day: str) -> list[Record]:
    """What stands in a scope's archived log of one day, in the order it came."""
    rows = connection.execute(
        "SELECT id FROM record WHERE scope = ? AND day = ? AND status = 'active' AND tier = 'archive' "
        "AND form IN ('note', 'episode') AND source != 'sleep' ORDER BY id",
        (scope, day),
    )
    return _records(connection, [row[0] for row in rows], scope)


def former_tiers(connection: Connection, event: int) -> dict[int, set[str]]:
    """The tiers that records have left since an event."""
    # By the numbers of events, not by the index of records, which would read all that ever happened: hence the plus.
    rows = connection.execute(
        "SELECT DISTINCT +record_id, json_extract(data, '$.was.tier') FROM event WHERE id > ? "
        "AND +record_id IS NOT NULL AND json_extract(data, '$.was.tier') IS NOT NULL",
        (event,),
    )
    found: dict[int, set[str]] = {}
    for record, tier in rows:
        found.setdefault(record, set()).add(tier)
    return found


def tiers_left_by_sleep(connection: Connection, record: int, event: int) -> set[str]:
    """The tiers that sleep has taken a record out of since an event."""
    rows = connection.execute(
        "SELECT json_extract(data, '$.was.tier') FROM event WHERE record_id = ? AND id > ? AND actor = 'sleep' "
        "AND json_extract(data, '$.was.tier') IS NOT NULL",
        (record, event),
    )
    return {row[0] for row in rows}


def last_tier_movers(connection: Connection, records: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Who put each of these records into the tier it has, and when, as the database keeps times.

    Whoever moved it last counts, else whoever brought it into memory. What was made again of its files has no mover.
    """
    rows = connection.execute(
        "SELECT event.record_id, event.actor, event.at, max(event.id) FROM event "
        "WHERE event.record_id IN (SELECT value FROM json_each(?)) "
        "AND (json_extract(data, '$.was.tier') IS NOT NULL OR event.type IN ('created', 'imported')) "
        "GROUP BY event.record_id",
        (json.dumps(list(records)),),
    )
    return {record: (actor, at) for record, actor, at, _ in rows}


def _records(connection: Connection, ids: Sequence[int], scope: str) -> list[Record]:
    found = store.by_ids(connection, ids, (scope,))
    return [found[number] for number in ids if number in found]
