"""`kenobot stats`: how long answers took, what the time went into, and what came of the messages."""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kenobot.agent.answer_stats import AnswerStats, as_json, read_stats
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.pictures import plots
from kenobot.cli.table import print_table
from kenobot.core.percentiles import Distribution
from kenobot.ledger.prices import PICODOLLARS
from kenobot.storage import turn_stats
from kenobot.storage.model_calls import Spending
from kenobot.storage.turn_stats import GroupStats, MessageCounts

_MILLI = 1000
_LONG = 100  # seconds, from which on tenths of one mean nothing


def stats(context: CommandContext) -> int:
    """Print the times of the last days. Exit code 2 when there was no message in them."""
    args = context.args
    with context.read() as connection:
        found = read_stats(connection, context.now, context.zone, args.days, args.by)
    if found.is_empty:
        return options.print_failure(say("No message came in within {days} days.", days=args.days))
    if args.json:
        print(json.dumps(as_json(found)))
    elif args.plot:
        draw_stats(found, Path(args.plot))
        print(say("Drawn: {file}", file=args.plot))
    elif args.csv:
        _write_csv(args.by, [*found.groups, *found.total])
    else:
        _print(found)
    return 0


def draw_stats(stats: AnswerStats, file: Path) -> None:
    """Draw how long answers took, and what that time went into. Raises ConfigError when nothing here can draw."""
    figure = plots.figure(9, 1.6 + 0.5 * max(2, len(stats.groups)))
    left, right = figure.subplots(1, 2)
    _draw_times(left, stats.groups)
    _draw_phases(right, stats.total[0].phases if stats.total else {})
    plots.save(figure, file, dots=120)


def _draw_times(axes: Any, groups: Sequence[GroupStats]) -> None:
    """Draw the middle and the longest tenth of the times of each group."""
    plots.set_quiet(axes)
    axes.set_title(say("seconds from the message to the answer"), fontsize=10, color=plots.INK, loc="left")
    places = range(len(groups))
    for name, colour, height in (("p95", plots.LINE, 0.7), ("p50", plots.ACCENT, 0.4)):
        values = [getattr(group.times, name) / _MILLI for group in groups]
        axes.barh(list(places), values, height, color=colour, label=name)
    axes.set_yticks(list(places), [group.name or say("in all") for group in groups])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize=9, labelcolor=plots.MUTED)


def _draw_phases(axes: Any, phases: Mapping[str, Distribution]) -> None:
    """Draw the middle time of each phase of an answer."""
    plots.set_quiet(axes)
    axes.set_title(
        say("where the time of an answer goes:").rstrip(":") + " (p50, s)", fontsize=10, color=plots.INK, loc="left"
    )
    names = [name for name, times in phases.items() if times.measured]
    axes.barh(range(len(names)), [phases[name].p50 / _MILLI for name in names], 0.6, color=plots.WARM)
    axes.set_yticks(range(len(names)), [say(name) for name in names])
    axes.invert_yaxis()


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_csv(by: str, groups: Sequence[GroupStats]) -> None:
    """Write a line for each group and phase; the phase of whole answers is "whole", the group of all is "all"."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow((by, "phase", *Distribution._fields, "turns", "retries", "tokens_in", "tokens_out"))
    for group in groups:
        phases: Mapping[str, Distribution] = {"whole": group.times, **group.phases}
        for name, times in phases.items():
            figures = (group.turns, group.retries, group.tokens_in, group.tokens_out)
            writer.writerow((_cell(group.name or "all"), name, *times, *figures))


def _cell(text: str) -> str:
    """Return a name that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and text != "-" else text


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _print(stats: AnswerStats) -> None:
    by, days, groups, total = stats.by, stats.days, stats.groups, stats.total
    if total:
        rows = [(group.name, *_times(group.times), group.retries, group.turns) for group in groups]
        if len(groups) > 1:
            rows.append((say("in all"), *_times(total[0].times), total[0].retries, total[0].turns))
        print_table((by, "p50", "p95", "p99", "longest", "retries", "answers"), rows)
        print("\n" + say("where the time of an answer goes:"))
        phases = [(say(name), *_times(times)) for name, times in total[0].phases.items()]
        print_table(("phase", "p50", "p95", "p99", "longest"), phases)
        print()
    else:
        print(say("No answer of a model within {days} days.", days=days))
    _print_messages(days, stats.messages, total, stats.spent)


def _print_messages(days: int, messages: MessageCounts, total: Sequence[GroupStats], spent: Spending) -> None:
    ends = ", ".join(f"{say(name)} {count}" for name, count in messages.ends.items())
    kept = min(days, turn_stats.MESSAGES_KEPT_DAYS)
    print(say("messages of the last {days} days: {count}", days=kept, count=messages.received) + f" ({ends or '-'})")
    if messages.waiting:
        print(say("messages without an answer yet: {count}", count=messages.waiting))
    print(say("without an answer in the end: {share} %", share=f"{100 * messages.failure_rate:.1f}"))
    retries = sum(group.retries for group in total)
    if retries:
        print(say("attempts and calls that had to be made again: {count}", count=retries))
    usd = f"{spent.cost / PICODOLLARS:.4f}"
    print(say("calls of models: {calls}, {tokens} tokens, {usd} $", calls=spent.calls, tokens=spent.tokens, usd=usd))


def _times(times: Distribution) -> tuple[str, str, str, str]:
    if not times.measured:
        return ("-", "-", "-", "-")
    return (
        _render_millis(times.p50),
        _render_millis(times.p95),
        _render_millis(times.p99),
        _render_millis(times.longest),
    )


def _render_millis(millis: int) -> str:
    """Word a time: 12 ms, 3.4 s, 250 s."""
    if millis < _MILLI:
        return f"{millis} ms"
    seconds = millis / _MILLI
    return f"{seconds:.1f} s" if seconds < _LONG else f"{seconds:.0f} s"
