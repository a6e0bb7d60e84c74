"""Rows of the tiers of facts: days, weeks, what summaries were derived from, and the tiers that records have left."""

import json
from collections.abc import Iterable, Sequence

from kenobot.cognitive.store.records import AMONG, FACTS, IN_LOGS, LIVE, NO_OWNER_PREFERENCE, select, select_ids
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection

DAILY, ARCHIVE, CORE, REF = "daily", "archive", "core", "ref:"
"""Tiers of facts: the log of the day, the archive, MEMORY.md, and a ref file, followed by its name."""

WEEK = "week:"  # the slot of a week's summary begins with this

_WEEK_KEYS = (f"slot:{WEEK}", f"slot:{WEEK[:-1]};")  # from, up to


def all_scopes(connection: Connection) -> list[str]:
    """Query the scopes of all records."""
    return [row[0] for row in connection.execute("SELECT DISTINCT scope FROM record ORDER BY scope")]


def daily_log_days(connection: Connection, scope: str, until: str) -> list[str]:
    """Query the days up to `until`, in order, whose logs in a scope still hold live facts."""
    rows = connection.execute(
        f"SELECT DISTINCT day FROM record WHERE scope = ? AND {LIVE} AND tier = 'daily' AND day <= ? AND {FACTS} "
        "ORDER BY day",
        (scope, until),
    )
    return [row[0] for row in rows]


def list_logged_between(connection: Connection, scope: str, first: str, last: str) -> list[Record]:
    """Query the live facts told on the days from `first` to `last` that are in logs, archived or not, in order."""
    where = (
        f"day >= ? AND day <= ? AND {LIVE} AND {IN_LOGS} AND {FACTS} AND source != 'sleep' AND {NO_OWNER_PREFERENCE}"
    )
    return select(connection, where, (first, last), (scope,), order="day, id")


def daily_record_ids(connection: Connection, scope: str, day: str) -> list[int]:
    """Query the live facts of a day that are still in its log, those that sleep made included."""
    where = f"day = ? AND {LIVE} AND tier = 'daily' AND {FACTS} AND {NO_OWNER_PREFERENCE}"
    return select_ids(connection, where, (day,), (scope,))


def week_summaries(connection: Connection, scope: str) -> list[Record]:
    """Query the summaries of weeks that are still in the hot tree."""
    where = f"form = 'summary' AND tier = 'daily' AND {LIVE} AND key >= ? AND key < ?"
    return select(connection, where, _WEEK_KEYS, (scope,), order="key")


def list_forgotten_weeks(connection: Connection, scope: str) -> tuple[set[str], set[str]]:
    """Query the weeks whose summaries were forgotten with a fact in them, and those forgotten for their own sake."""
    rows = connection.execute(
        "SELECT substr(key, length(?) + 1), (SELECT json_extract(data, '$.part_of') FROM event WHERE record_id = "
        "record.id AND type = 'forgotten' ORDER BY event.id DESC LIMIT 1) FROM record WHERE scope = ? "
        "AND form = 'summary' AND status = 'forgotten' AND key >= ? AND key < ? ORDER BY record.id",
        (_WEEK_KEYS[0], scope, *_WEEK_KEYS),
    )
    lost = dict(rows.fetchall())
    unwanted = {week for week, part_of in lost.items() if part_of is None}
    return lost.keys() - unwanted, unwanted


def list_derived_from(connection: Connection, record: int) -> set[int]:
    """Query the records that a summary was derived from."""
    rows = connection.execute("SELECT dst FROM link WHERE src = ? AND type = 'derived'", (record,))
    return {row[0] for row in rows}


def ids_in_week_summaries(connection: Connection, scope: str, records: Sequence[int]) -> set[int]:
    """Query those of `records` of a scope that the live summary of a week was derived from."""
    rows = connection.execute(
        "SELECT DISTINCT dst FROM link JOIN record ON record.id = link.src WHERE record.scope = ? "
        f"AND {LIVE} AND form = 'summary' AND category = 'week' AND type = 'derived' AND dst {AMONG}",
        (scope, json.dumps(list(records))),
    )
    return {row[0] for row in rows}


def has_ended_source(connection: Connection, scope: str, summary: int) -> bool:
    """Return whether a record that a summary of a scope was derived from ended after the summary was written."""
    row = connection.execute(
        "SELECT 1 FROM link JOIN record ON record.id = link.dst WHERE link.src = ? AND link.type = 'derived' "
        "AND record.scope = ? AND record.status != 'active' AND max(record.updated, coalesce(record.valid_to, '')) > "
        "(SELECT updated FROM record WHERE id = ?) LIMIT 1",
        (summary, scope, summary),
    ).fetchone()
    return row is not None


def ref_file_counts(connection: Connection, scope: str) -> dict[str, int]:
    """Count the live facts of each ref file of a scope, by name, in alphabetical order."""
    rows = connection.execute(
        f"SELECT tier, count(*) FROM record WHERE scope = ? AND {FACTS} AND tier >= ? AND tier < ? AND {LIVE} "
        "GROUP BY tier ORDER BY tier",
        (scope, REF, f"{REF[:-1]};"),
    )
    return {tier.removeprefix(REF): count for tier, count in rows}


def in_tier(connection: Connection, scope: str, tier: str) -> list[Record]:
    """Query the live facts of a tier, in the order they came."""
    return select(connection, f"{FACTS} AND tier = ? AND {LIVE}", (tier,), (scope,))


def list_archived_day(connection: Connection, scope: str, day: str) -> list[Record]:
    """Query the facts in a scope's archived log of one day, in the order they came."""
    where = f"day = ? AND {LIVE} AND tier = 'archive' AND {FACTS} AND source != 'sleep'"
    return select(connection, where, (day,), (scope,))


def former_tiers(connection: Connection, event: int) -> dict[int, set[str]]:
    """Query the tiers that records have left since an event."""
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
    """Query the tiers that sleep has moved a record out of since an event."""
    rows = connection.execute(
        "SELECT json_extract(data, '$.was.tier') FROM event WHERE record_id = ? AND id > ? AND actor = 'sleep' "
        "AND json_extract(data, '$.was.tier') IS NOT NULL",
        (record, event),
    )
    return {row[0] for row in rows}


def last_tier_movers(connection: Connection, records: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Query the actor that last moved each of `records` into its tier, or else created the record, and the time.

    A record that was rebuilt from its files has no mover.
    """
    rows = connection.execute(
        "SELECT event.record_id, event.actor, event.at, max(event.id) FROM event "
        f"WHERE event.record_id {AMONG} "
        "AND (json_extract(data, '$.was.tier') IS NOT NULL OR event.type IN ('created', 'imported')) "
        "GROUP BY event.record_id",
        (json.dumps(list(records)),),
    )
    return {record: (actor, at) for record, actor, at, _ in rows}
