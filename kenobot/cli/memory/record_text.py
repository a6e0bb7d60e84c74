"""Records as rows of JSON and as lines of text."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cognitive.store.records import Record
from kenobot.core.terminal import escape_controls, one_line

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


def print_row(context: CommandContext, row: Mapping[str, Any], lines: str) -> int:
    """Print one row, as JSON or as lines. Returns the exit code."""
    print(json.dumps(row) if context.args.json else escape_controls(lines))
    return 0


def progress(context: CommandContext) -> Callable[[int], None] | None:
    """Shows the progress of long work on a person's stderr."""
    if context.args.json or not sys.stderr.isatty():
        return None
    return lambda done: options.show_progress(f"{done} lines …")
