"""`kenobot memory recall`, `context` and `stats`: what comes out of memory, and how it is doing. Read-only."""

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.memory_options import add_as_of, add_scope, examples_epilog, requested_scopes
from kenobot.cli.options import clock_of, home_of

_NO_SESSION = "none"

if TYPE_CHECKING:
    from pathlib import Path

    from kenobot.cognitive.recall.memory import SearchReport
    from kenobot.core.settings.home import Home
    from kenobot.ports.clock import Clock
    from kenobot.storage.connection import Connection


def add(parts: Any, home: argparse.ArgumentParser) -> None:
    found = parts.add_parser(
        "recall",
        parents=[home],
        help="what would be recalled for a message, and why",
        description="What would be recalled for a message, with the X-ray: why each memory was chosen, of what its "
        "score is made, and what was left out. Nothing counts as used by this.",
        **examples_epilog("kenobot memory recall where do I live?", "kenobot memory recall --as-of 2026-03-01 my job"),
    )
    found.add_argument("text", metavar="TEXT", nargs="+", help="the message")
    found.add_argument("--limit", type=options.positive_int, default=12, metavar="N", help="at most N memories (12)")
    found.add_argument(
        "--budget", type=options.positive_int, default=1200, metavar="TOKENS", help="at most so long (1200)"
    )
    add_scope(found)
    add_as_of(found)
    found.add_argument("--markdown", action="store_true", help="the X-ray as Markdown")
    options.add_json(found)
    found.set_defaults(command=recall)
    prompt = parts.add_parser(
        "context",
        parents=[home],
        help="what a prompt would hold of memory",
        description="What a prompt of the owner's would hold of memory: with a message what is recalled for it, "
        "without one what every conversation begins with.",
        **examples_epilog("kenobot memory context", "kenobot memory context what is my address?"),
    )
    prompt.add_argument("text", metavar="TEXT", nargs="*", help="the message")
    prompt.add_argument(
        "--budget", type=options.positive_int, metavar="TOKENS", help="at most so long (as the settings say)"
    )
    add_scope(prompt)
    options.add_json(prompt)
    prompt.set_defaults(command=context)
    figures = parts.add_parser(
        "stats",
        parents=[home],
        help="how much there is, what waits, what it takes",
        description="How many memories there are, what waits to be read or indexed, and what it takes on disk.",
        **examples_epilog("kenobot memory stats", "kenobot memory stats --json"),
    )
    add_scope(figures)
    options.add_json(figures)
    figures.set_defaults(command=stats)


def recall(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cognitive.recall import xray

    pack = _recalled(arguments, clock, " ".join(arguments.text), arguments.budget, arguments.limit)
    seen = xray.xray(pack, " ".join(arguments.text))
    if arguments.json:
        print(json.dumps(xray.as_json(seen)))
    elif pack.memories or pack.excerpts:
        from kenobot.core.terminal import escape_controls

        print(escape_controls(xray.as_markdown(seen) if arguments.markdown else xray.as_text(seen)))
    if not (pack.memories or pack.excerpts):
        return options.NOT_FOUND if arguments.json else options.print_failure("Nothing is remembered of that.")
    return 0


def context(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.core.terminal import escape_controls

    text = _recalled_text(arguments, clock) if arguments.text else _loaded_text(arguments, clock)
    if not text:
        return options.print_failure("Nothing of memory would be in it.")
    print(json.dumps({"context": text}) if arguments.json else escape_controls(text))
    return 0


def _recalled_text(arguments: argparse.Namespace, clock: "Clock | None") -> str:
    pack = _recalled(arguments, clock, " ".join(arguments.text), arguments.budget or 0, 0)
    return "\n".join([*(item.line for item in pack.memories), *(item.line for item in pack.excerpts)])


def _loaded_text(arguments: argparse.Namespace, clock: "Clock | None") -> str:
    from zoneinfo import ZoneInfo

    from kenobot.cli import db_read
    from kenobot.cognitive.recall.full_load import FullLoader
    from kenobot.cognitive.recall.memory import MemoryQuery, Section
    from kenobot.core.settings.load import load_settings as settings

    home = home_of(arguments)
    loaded = settings(home, os.environ).settings
    scope = arguments.scope or "owner"
    query = MemoryQuery(
        "",
        (scope,),
        clock_of(clock).now(),
        ZoneInfo(loaded.bot.timezone),
        scope.removeprefix("chat:") if scope.startswith("chat:") else _NO_SESSION,
        mode=loaded.memory.recall,
        prefix_tokens=arguments.budget or loaded.context.memory_tokens,
        recent_days=loaded.memory.days,
    )
    with db_read.open_readonly(home) as connection:
        pack = FullLoader().load(connection, query)
    sections: tuple[Section, ...] = ("long_term", "recent", "chat", "context")
    return "\n\n".join(pack[name] for name in sections if pack[name])


def _recalled(
    arguments: argparse.Namespace, clock: "Clock | None", text: str, budget: int, limit: int
) -> "SearchReport":
    from zoneinfo import ZoneInfo

    from kenobot.cli import db_read, vectors
    from kenobot.cognitive.recall.index.index import SideIndex
    from kenobot.cognitive.recall.memory import MemoryQuery
    from kenobot.cognitive.recall.recall import recall as remembered
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    zone = ZoneInfo(load_settings(home, os.environ).settings.bot.timezone)
    as_of = options.since_moment(getattr(arguments, "as_of", None), clock)
    query = MemoryQuery(
        text,
        requested_scopes(arguments),
        clock_of(clock).now(),
        zone,
        budget=budget,
        limit=limit,
        as_of=as_of,
        force=True,
    )
    index = SideIndex(home.index)
    try:
        with db_read.open_readonly(home) as connection:
            connection.row_factory = None
            connection.execute("BEGIN")
            _filled(index, connection)
            if as_of is None:
                vectors.enable_vector_search(home, connection, index, text, clock_of(clock))
            return remembered(connection, index, query)
    finally:
        index.close()


def _filled(index: Any, connection: "Connection") -> None:
    """Without a running bot nobody else fills the index in: a person waits for it here."""
    index.catch_up(connection)
    while index.index_backlog(connection, 2000):
        pass


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


def stats(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read

    home = home_of(arguments)
    with db_read.open_readonly(home) as connection:
        connection.row_factory = None
        row = _figures(arguments, clock, home, connection)
    print(json.dumps(row) if arguments.json else "\n".join(_told(row)))
    return 0 if row["records"] or row["events"] else options.NOT_FOUND


def _figures(
    arguments: argparse.Namespace, clock: "Clock | None", home: "Home", connection: "Connection"
) -> dict[str, Any]:
    from zoneinfo import ZoneInfo

    from kenobot.cli import vectors
    from kenobot.cognitive.compact import summary_rows
    from kenobot.cognitive.control import stats as figures
    from kenobot.cognitive.remember.extract import buffer
    from kenobot.cognitive.store import token_budget as budget
    from kenobot.cognitive.text.calendar import local_day
    from kenobot.core.settings.load import load_settings

    loaded = load_settings(home, os.environ).settings
    day = local_day(clock_of(clock).now(), ZoneInfo(loaded.bot.timezone))
    counted = figures.collect_stats(connection, requested_scopes(arguments))
    lost = summary_rows.gap_stats(connection, requested_scopes(arguments))
    waiting = sum(
        len(buffer.pending_turns(connection, session, 10_000)) for session in buffer.sessions_with_pending(connection)
    )
    return {
        **counted,
        "turns_waiting": waiting,
        "summaries": {
            "live": summary_rows.count_summaries(connection, requested_scopes(arguments)),
            "gaps": lost.found,
            **lost.kinds,
        },
        "index_lag": _lag(home, connection),
        **vectors.vector_stats(home, connection, requested_scopes(arguments), clock_of(clock)),
        "tokens_today": budget.tokens_spent(connection, day),
        "disk": {
            "database": _size(home.database),
            "index": _size(home.index),
            "files": sum(_size(path) for path in home.memory.rglob("*") if path.is_file()),
        },
    }


def _lag(home: "Home", connection: "Connection") -> int | None:
    """How many events and messages the index has not seen; None when there is no index yet."""
    from kenobot.cognitive.recall.index.index import unindexed_count

    return unindexed_count(home.index, connection) if home.index.exists() else None


def _size(path: "Path") -> int:
    return path.stat().st_size if path.exists() else 0


def _told(row: dict[str, Any]) -> list[str]:
    def table(name: str) -> list[str]:
        return [f"  {key:<28} {count:>8}" for key, count in row[name].items()]

    lag = "no index yet" if row["index_lag"] is None else str(row["index_lag"])
    lines = [f"{'memories':<30} {row['records']:>8}"]
    for name in ("by_status", "by_scope", "by_form"):
        lines += [f"{name.replace('_', ' ')} (live)" if name != "by_status" else "by status", *table(name)]
    lines += [
        f"{'mean confidence (live)':<30} {row['mean_confidence']:>8.2f}",
        f"{'oldest':<30} {row['oldest'] or '-'}",
        f"{'newest':<30} {row['newest'] or '-'}",
        f"{'events':<30} {row['events']:>8}",
        f"{'links':<30} {row['links']:>8}",
        f"{'erased for good':<30} {row['tombstones']:>8}",
        f"{'turns that wait to be read':<30} {row['turns_waiting']:>8}",
        f"{'conversations summed up':<30} {row['summaries']['live']:>8}",
        f"{'lost by summing up':<30} {row['summaries']['gaps']:>8}",
        f"{'behind in the index':<30} {lag:>8}",
        f"{'embedder':<30} {row['embedder']}",
        *(_placed(row, name, what) for name, what in (("vectors", "memories"), ("turn_vectors", "messages"))),
        f"{'tokens today':<30} {row['tokens_today']:>8}",
    ]
    return [*filter(None, lines), *(f"{name + ' (bytes)':<30} {size:>12}" for name, size in row["disk"].items())]


def _placed(row: dict[str, Any], name: str, what: str) -> str:
    """How many of them can be found by meaning; nothing where no model places any."""
    figures = row[name]
    if figures is None:
        return ""
    waiting = f"  ({figures['waiting']} wait)" if figures["waiting"] else ""
    return f"{what + ' found by meaning':<30} {figures['placed']:>8}{waiting}"
