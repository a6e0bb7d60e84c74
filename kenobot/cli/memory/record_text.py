"""Records as rows of JSON and as lines of text."""

import json
from collections.abc import Mapping
from typing import Any

from kenobot.cognitive.store.records import Record
from kenobot.core.redaction import one_line

_LEFT_OUT = ("changed_event", "day", "by")


def record_row(record: Record) -> dict[str, Any]:
    """A record for programs: JSON columns as what they hold."""
    row = {name: value for name, value in record._asdict().items() if name not in _LEFT_OUT}
    tags = json.loads(record.tags)
    sources = [*record.source_message_ids]
    tags = tags if isinstance(tags, list) else []
    return row | {"attributes": record.attribute_map, "tags": tags, "source_messages": sources}


def record_line(row: Mapping[str, Any]) -> str:
    """A record as one line of a list."""
    seen = f", seen {row['mentions']} times" if (row["mentions"] or 0) > 1 else ""
    state = "" if row.get("status", "active") == "active" else f", {row['status']}"
    about = f"{row['form']}, {row['category']}, from {row['trust']}{seen}{state}, {str(row['created'])[:10]}"
    return f"  {row['id']:>5}  {one_line(str(row['text']))}  ({one_line(about)})"
