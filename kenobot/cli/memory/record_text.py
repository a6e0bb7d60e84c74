"""Records as rows of JSON and as lines of text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kenobot.cli.language import say
from kenobot.cli.table import flat, print_table
from kenobot.cognitive.store.records import Record

_LEFT_OUT = ("changed_event", "day", "by")


def record_row(record: Record) -> dict[str, Any]:
    """A record for programs: JSON columns as what they hold."""
    row = {name: value for name, value in record._asdict().items() if name not in _LEFT_OUT}
    tags = json.loads(record.tags)
    sources = [*record.source_message_ids]
    tags = tags if isinstance(tags, list) else []
    return row | {"attributes": record.attribute_map, "tags": tags, "source_messages": sources}


def record_line(row: Mapping[str, Any]) -> str:
    """A record as one line beside a message about it."""
    about = [say(str(row["category"]))]
    if row["trust"] != "owner":
        about.append(say("from {trust}", trust=say(str(row["trust"]))))
    if (row["mentions"] or 0) > 1:
        about.append(say("seen {count} times", count=row["mentions"]))
    if row.get("status", "active") != "active":
        about.append(say(str(row["status"])))
    return f"  {row['id']:>5}  {flat(row['text'])}  ({flat(', '.join([*about, str(row['created'])[:10]]))})"


def print_records(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print records as a table, one a line; their states where not all are active."""
    heads, columns = ["#", "since", "scope", "kind"], ["id", "created", "scope", "category"]
    if any(row["status"] != "active" for row in rows):
        heads.append("state")
        columns.append("status")
    table = [[_cell(name, row[name]) for name in columns] + [row["text"]] for row in rows]
    print_table([*heads, "memory"], table)


def _cell(name: str, value: object) -> object:
    if name == "created":
        return str(value)[:10]
    return say(str(value)) if name in ("category", "status") else value
