"""Records as rows of JSON and as lines of text."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.cli.language import say
from kenobot.cli.table import flat, print_table
from kenobot.language.calendar import local_day
from kenobot.ports.records import Record

_LEFT_OUT = ("changed_event", "day", "by")
_WHOLE = ("note", "episode", "question")  # forms that say one thing
_TWO_LINES = 110  # characters of a summary that two lines of a screen have room for


def record_row(record: Record) -> dict[str, Any]:
    """Return a record for programs: JSON columns as what they hold."""
    row = {name: value for name, value in record._asdict().items() if name not in _LEFT_OUT}
    tags = json.loads(record.tags)
    sources = [*record.source_message_ids]
    tags = tags if isinstance(tags, list) else []
    return row | {"attributes": record.attribute_map, "tags": tags, "source_messages": sources}


_ORIGINS = {
    "tag": "kept by a reply",
    "extraction": "read from a conversation",
    "edit": "written in a file",
    "command": "told or corrected directly",
    "sleep": "made of other memories",
    "chat": "summary of a chat",
    "import": "imported",
}


def origin_text(origin: str) -> str:
    """Return how a record came about, in words."""
    return say(_ORIGINS.get(origin, origin))


def record_text(row: Mapping[str, Any]) -> str:
    """Return what a record says; of a summary and the like as much as fits on two lines."""
    text = str(row["text"])
    line = " ".join(text.split())
    if row.get("form") in _WHOLE or len(line) <= _TWO_LINES:
        return text
    return f"{line[: _TWO_LINES - 1]}…"


def record_day(row: Mapping[str, Any], zone: ZoneInfo) -> str:
    """Return the owner's day on which a record was made."""
    return local_day(datetime.fromisoformat(str(row["created"])), zone)


def record_line(row: Mapping[str, Any], zone: ZoneInfo) -> str:
    """Return a record as one line beside a message about it."""
    about = [say(str(row["category"]))]
    if row["trust"] != "owner":
        about.append(say("from {trust}", trust=say(str(row["trust"]))))
    if (row["mentions"] or 0) > 1:
        about.append(say("seen {count} times", count=row["mentions"]))
    if row.get("status", "active") != "active":
        about.append(say(str(row["status"])))
    return f"  {row['id']:>5}  {flat(record_text(row))}  ({flat(', '.join([*about, record_day(row, zone)]))})"


def print_records(rows: Sequence[Mapping[str, Any]], zone: ZoneInfo) -> None:
    """Print records as a table, summaries shortened; their states where not all are active."""
    heads, columns = ["#", "since", "scope", "kind"], ["id", "created", "scope", "category"]
    if any(row["status"] != "active" for row in rows):
        heads.append("state")
        columns.append("status")
    table = [[_cell(name, row, zone) for name in columns] + [record_text(row)] for row in rows]
    print_table([*heads, "memory"], table)


def _cell(name: str, row: Mapping[str, Any], zone: ZoneInfo) -> object:
    if name == "created":
        return record_day(row, zone)
    return say(str(row[name])) if name in ("category", "status") else row[name]
