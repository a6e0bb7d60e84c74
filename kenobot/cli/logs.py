"""`kenobot signals` and `kenobot memory log`: the audit log and the event log of memory. Read-only.

A person reads times of their own zone, what each entry means and no more; `--json` has every column as it is stored.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import quote, say, translate
from kenobot.cli.table import flat, print_table
from kenobot.cognitive.memory import Memory
from kenobot.core.plugins import find_near
from kenobot.ports.records import Record, read_reason
from kenobot.ports.sentences import Sentence, unpack
from kenobot.ports.signals import ALL_SIGNALS, FORMER_NAMES

_Row = dict[str, Any]

BEHIND = ("recalled", "judged", "extracted", "discarded", "boxed", "sealed", "lifecycle", "asked")
"""Types of events that change no text of memory."""

_NO_PART_OF_IMPORT = "(type != 'brought' or json_type(data, '$.part_of') is null)"  # which has hundreds of parts
_ROUTINE = ("thinking:start", "thinking:end", "reply:graded", "config:changed")  # of each turn
_SHOWN_TEXT = 60  # characters of a memory


def signals(context: CommandContext) -> int:
    args = context.args
    name = FORMER_NAMES.get(args.type, args.type)
    select = "select id, at, name, source, trace, payload from signal"
    conditions: list[tuple[str, object]] = [("name = ?", name), ("trace = ?", args.trace)]
    if not (args.json or name or args.trace):
        conditions.append((f"name not in {_ROUTINE}", True))
    with context.read(rows=True) as connection:
        rows = _read_rows(connection, context, select, conditions, parsed="payload")
    if rows and not args.json:
        print_table(("time", "signal", "meaning"), [_signal(context, row) for row in rows])
        return 0
    near = find_near(name, ALL_SIGNALS) if name and name not in ALL_SIGNALS else ""
    if near:
        return options.print_failure(
            Sentence('There is no signal {name}; did you mean "{near}"?', name=name, near=near)
        )
    fit = options.find_filters(args, "--type", "--trace", "--since")
    nothing = say("No signal fits {fit}.", fit=fit) if fit else "No signal was sent yet: the bot has not run."
    return options.print_rows(rows, args.json, str, nothing)


def memory_log(context: CommandContext) -> int:
    args = context.args
    select = "select id, at, session, actor, type, record_id, data from event"
    # Reading memory is logged as well. People ask for what has changed.
    changing = [] if args.json else [(f"type not in {BEHIND}", True), (_NO_PART_OF_IMPORT, True)]
    with context.read(rows=True) as connection:
        rows = _read_rows(connection, context, select, changing, parsed="data")
        ids = [] if args.json else [row["record_id"] for row in rows if row["record_id"] is not None]
        records = Memory.records.get_all(connection, ids, context.scopes) if ids else {}
    if rows and not args.json:
        cells = [_event(context, row, records.get(row["record_id"])) for row in rows]
        print_table(("#", "time", "what", "by", "memory"), cells)
        return 0
    fit = options.find_filters(args, "--since")
    nothing = (
        say("Nothing has happened to memory with {fit}.", fit=fit) if fit else "Nothing has happened to memory yet."
    )
    return options.print_rows(rows, args.json, str, nothing)


def _read_rows(
    connection: sqlite3.Connection,
    context: CommandContext,
    select: str,
    conditions: Sequence[tuple[str, object]],
    parsed: str,
) -> list[_Row]:
    """Read the last rows that fit, oldest first. Conditions without a value do not count. parsed: a column of JSON."""
    given = [each for each in (*conditions, ("at >= ?", context.since)) if each[1] is not None]
    where = f" where {' and '.join(condition for condition, _ in given)}" if given else ""
    values = [*(value for condition, value in given if "?" in condition), context.args.limit]
    rows = [dict(row) for row in connection.execute(f"{select}{where} order by id desc limit ?", values)]
    for row in rows:
        row[parsed] = json.loads(row[parsed] or "{}")
    return rows[::-1]


def _signal(context: CommandContext, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Render a signal as the cells of a table: with its payload, and the trace that `--trace` takes."""
    signal = ALL_SIGNALS.get(row["name"])
    payload = dict(row["payload"])
    if said := unpack(payload.pop("said", "")):
        payload["reason"] = translate(said)
    details = [f"{name} {value}" for name, value in payload.items() if value not in ("", None)]
    about = f": {', '.join(details)}" if details else ""
    trace = f" [{row['trace']}]" if row["trace"] else ""
    return context.local_time(row["at"]), row["name"], f"{translate(signal.meaning) if signal else ''}{about}{trace}"


def _event(context: CommandContext, row: Mapping[str, Any], record: Record | None) -> tuple[object, ...]:
    """Render an event, with what its record says now, as the cells of a table."""
    about = f"#{row['record_id']} " if row["record_id"] is not None else ""
    if record is not None and record.text and record.status != "forgotten":
        text = flat(record.text)
        about += quote(text if len(text) <= _SHOWN_TEXT else f"{text[: _SHOWN_TEXT - 1]}…") + " "
    reason = translate(read_reason(row["data"])) if row["type"] != "created" else ""
    told = f"{about}{f'({reason})' if reason else ''}".strip()
    return row["id"], context.local_time(row["at"]), say(row["type"]), say(row["actor"]), told
