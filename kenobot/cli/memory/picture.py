"""`kenobot memory graph` and `kenobot memory timeline`: how memory hangs together and how it grew, also as pictures."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.pictures import memory_pictures
from kenobot.cli.pictures.memory_pictures import Lifeline, Words
from kenobot.cli.table import print_table
from kenobot.cognitive.memory import Inspection, Memory
from kenobot.core.redaction import one_line
from kenobot.ports.browsing import HAPPENINGS, Days, Graph, Happening, RecordFilter, TimelinePeriod
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection

_NOTHING = "Nothing is remembered here yet: `kenobot memory remember TEXT` begins."
_LISTED = 1000  # nodes of a list
_LOOKED_AT = 500  # newest memories among which the lines of a picture are chosen
_LINES = 16
_SPANS = {"day": 45, "week": 26 * 7, "month": 3 * 365}
_LASTING = ("note", "episode", "procedure", "profile")
_WORDS: dict[Happening, str] = {
    "learned": "learned",
    "confirmed": "confirmed",
    "replaced": "replaced by another",
    "faded": "faded",
    "forgotten": "forgotten",
    "undone": "undone",
}
_NAMES: dict[str, Happening] = {kind: name for name, kinds in HAPPENINGS.items() for kind in kinds}


def graph(context: CommandContext) -> int:
    """Print whom and what memory is about, or draw it."""
    args = context.args
    most = memory_pictures.MOST_NODES if args.svg else _LISTED
    with context.read() as connection:
        found = Inspection.draw_graph(connection, context.scopes, args.detail, most, subject=args.subject)
    if not found.nodes:
        return options.print_failure(_NOTHING)
    if args.svg:
        memory_pictures.draw_graph(found, _words(say("What memory is about")), Path(args.svg))
        return _say_drawn(args.svg, found.left_out)
    return _print_graph(found, as_json=args.json)


def timeline(context: CommandContext) -> int:
    """Print what happened to memory by period, or draw it."""
    args = context.args
    today = context.now.astimezone(context.zone).date()
    since = context.moment(args.since)
    first = since.astimezone(context.zone).date() if since is not None else today - timedelta(days=_SPANS[args.by] - 1)
    days = Days(min(first, today), today, context.zone)
    with context.read() as connection:
        periods = Memory.history.count_by_period(connection, context.scopes, days, args.by, subject=args.subject)
        lives = _find_lives(connection, context, days) if args.svg else []
    if not periods:
        return options.print_failure(say("Nothing happened to memory since {day}.", day=days.first.isoformat()))
    if args.svg:
        words = _words(say("How memory grew"))
        memory_pictures.draw_timeline(periods[::-1], lives, words, Path(args.svg))
        return _say_drawn(args.svg, 0)
    return _print_periods(periods, as_json=args.json)


def _print_graph(found: Graph, *, as_json: bool) -> int:
    if as_json:
        row = {**asdict(found), "nodes": [asdict(node) for node in found.nodes]}
        return options.print_row(row, True, "")
    rows = [(say(node.kind), node.weight, one_line(node.label)) for node in found.nodes]
    print_table(("what", "memories", "name"), rows)
    return 0


def _print_periods(periods: Sequence[TimelinePeriod], *, as_json: bool) -> int:
    rows: list[dict[str, Any]] = [{"first": each.first, "last": each.last} | dict(each.counts) for each in periods]
    if as_json:
        return options.print_rows(rows, True, str)
    cells = [(row["first"], *(row.get(name, 0) or "-" for name in HAPPENINGS)) for row in rows]
    print_table(("from", *_WORDS.values()), cells)
    return 0


def _find_lives(connection: Connection, context: CommandContext, days: Days) -> list[Lifeline]:
    """Choose the memories of some days to which the most happened, and tell their lives, the oldest first."""
    wanted = RecordFilter(forms=_LASTING, subject=context.args.subject, last_day=days.last.isoformat())
    last = Memory.records.last_number(connection) + 1
    records = Memory.records.list_page(connection, context.scopes, wanted, before=last, limit=_LOOKED_AT)
    lives = [(record, _tell_life(connection, record, days)) for record in records if record.status != "forgotten"]
    seen = [(record, life) for record, life in lives if life.end is None or life.end.date() >= days.first]
    seen.sort(key=lambda pair: (-len(pair[1].marks), -pair[0].use_count, -pair[0].id))
    return [life for _, life in sorted(seen[:_LINES], key=lambda pair: (pair[1].begin, pair[0].id))]


def _tell_life(connection: Connection, record: Record, days: Days) -> Lifeline:
    begin, marks = max(_moment(record.created), _first_moment(days.first)), list[tuple[datetime, Happening]]()
    for event in Memory.history.list_events(connection, record.id):
        at = _moment(event.at)
        if event.kind in _NAMES and at >= begin:
            marks.append((at, _NAMES[event.kind]))
    ended = _moment(record.valid_to) if record.status != "active" and record.valid_to else None
    return Lifeline(record.text, begin, ended, marks)


def _moment(text: str) -> datetime:
    """Return a stored moment in UTC, as the axis of a plot takes it."""
    at = datetime.fromisoformat(text)
    return at.astimezone(UTC).replace(tzinfo=None) if at.tzinfo is not None else at


def _first_moment(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time())


def _words(title: str) -> Words:
    return Words(
        title,
        {name: say(word) for name, word in _WORDS.items()},
        {"subject": say("people and things"), "topic": say("topics"), "memory": say("memories")},
        say("you"),
    )


def _say_drawn(file: str, left_out: int) -> int:
    print(say("Drawn: {file}", file=file))
    if left_out:
        print(say("Not in the picture, which shows what has the most memories: {count}", count=left_out))
    return 0
