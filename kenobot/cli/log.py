"""`kenobot logs`: the last lines of the log that stands in files, and what comes."""

import json
import re
import time
from collections.abc import Iterable, Iterator

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core.log_file import NAME, follow, last_lines, list_ended_files
from kenobot.core.redaction import escape_controls

LEVELS = ("debug", "info", "warning", "error", "critical")
_PLAIN = re.compile(rf"\S+ ({'|'.join(LEVELS)}) \S+?(?: \[([^\]]*)\])?: ")
_LOOK_SECONDS = 0.25


def logs(context: CommandContext) -> int:
    """Show the last lines that fit, and follow what comes where that is asked for."""
    args, folder = context.args, context.home.logs
    if not (folder / NAME).exists() and not list_ended_files(folder):
        if context.loaded.settings.log.to == "stderr":
            return options.print_failure(
                'There is no log file: the log goes to standard error. Set [log] to = "file" for one in the home, '
                "or see that of the service with `kenobot service logs`."
            )
        print(say("There is no log file yet: the bot has not run since it was set."))
        if not args.follow:
            return 0
    for line in last_lines(folder, args.lines, lambda lines: filter_lines(lines, args.level, args.trace)):
        print(escape_controls(line))
    if args.follow:
        coming = follow(folder, lambda: time.sleep(_LOOK_SECONDS))
        for line in filter_lines(coming, args.level, args.trace):
            print(escape_controls(line), flush=True)
    return 0


def filter_lines(lines: Iterable[str], level: str, trace: str | None) -> Iterator[str]:
    """Yield the lines of a trace and of at least a level, each with its traceback."""
    fits = False
    for line in lines:
        if (found := _level_and_trace(line)) is not None:
            fits = LEVELS.index(found[0]) >= LEVELS.index(level) and trace in (None, found[1])
        if fits:
            yield line


def _level_and_trace(line: str) -> tuple[str, str] | None:
    """Return the level and the trace of a line, plain or JSON; None for one that goes on the line before it."""
    if match := _PLAIN.match(line):
        return match[1], match[2] or ""
    try:
        entry = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return None
    level = entry.get("level") if isinstance(entry, dict) else None
    return (level, str(entry.get("trace", ""))) if level in LEVELS else None
