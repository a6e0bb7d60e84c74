"""`kenobot signals` and `kenobot memory log`: the audit log and the event log of memory. Read-only."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.core.plugins import did_you_mean
from kenobot.core.redaction import one_line
from kenobot.ports.signals import ALL_SIGNALS, FORMER_NAMES


def signals(context: CommandContext) -> int:
    args = context.args
    name = FORMER_NAMES.get(args.type, args.type)
    select = "select id, at, name, source, trace, payload from signal"
    rows = _latest(context, select, [("name = ?", name), ("trace = ?", args.trace)], parsed="payload")
    hint = did_you_mean(name, ALL_SIGNALS) if name and name not in ALL_SIGNALS else ""
    return options.print_rows(rows, args.json, _signal_line, f"No signal fits{hint or '.'}")


def memory_log(context: CommandContext) -> int:
    rows = _latest(context, "select id, at, session, actor, type, record_id, data from event", [], parsed="data")
    return options.print_rows(rows, context.args.json, _event_line, "Nothing has happened to memory in that time.")


def _latest(
    context: CommandContext, select: str, conditions: Sequence[tuple[str, object]], parsed: str
) -> list[dict[str, Any]]:
    """The last rows that fit, oldest first. Conditions without a value do not count. parsed: a column of JSON."""
    given = [each for each in (*conditions, ("at >= ?", context.since)) if each[1] is not None]
    where = f" where {' and '.join(condition for condition, _ in given)}" if given else ""
    values = [*(value for _, value in given), context.args.limit]
    with context.read(rows=True) as connection:
        rows = [dict(row) for row in connection.execute(f"{select}{where} order by id desc limit ?", values)]
    for row in rows:
        row[parsed] = json.loads(row[parsed] or "{}")
    return rows[::-1]


def _signal_line(row: Mapping[str, Any]) -> str:
    return _line(row["at"], row["name"], row["source"], row["trace"] or "-", row["payload"])


def _event_line(row: Mapping[str, Any]) -> str:
    record = f"#{row['record_id']}" if row["record_id"] is not None else "-"
    return _line(f"{row['id']:>6}", row["at"], row["type"], record, row["actor"], row["session"], row["data"])


def _line(*parts: object) -> str:
    """A row as a line. The last part is written as JSON."""
    data = json.dumps(parts[-1], ensure_ascii=False) if parts[-1] else ""
    return one_line("  ".join(str(part) for part in (*parts[:-1], data) if part))
