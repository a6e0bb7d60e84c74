"""`kenobot memory export`, `import`, `sync` and `rebuild`: memory out, in, and out of its Markdown files."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.memory_options import (
    BOT_IS_RUNNING,
    add_scope,
    examples_epilog,
    owner_context,
    progress,
    requested_scopes,
    sync_files,
)
from kenobot.cli.options import clock_of, home_of

if TYPE_CHECKING:
    from kenobot.cognitive.control.export import MemoryImportReport
    from kenobot.ports.clock import Clock

_FAILED = 1


def add(parts: Any, home: argparse.ArgumentParser) -> None:
    out = parts.add_parser(
        "export",
        parents=[home],
        help="write all of memory into one file",
        description="Write all of memory into one file of JSON lines: every memory whatever its state, its past, its "
        "links, the conversations that it came from, and what was erased (without content).",
        **examples_epilog(
            "kenobot memory export memory.jsonl", "kenobot memory export - --scope owner | gzip > owner.gz"
        ),
    )
    out.add_argument("file", metavar="FILE", help="where to; - is standard output")
    add_scope(out)
    out.set_defaults(command=export)
    back = parts.add_parser(
        "import",
        parents=[home],
        help="bring in what `export` wrote",
        description="Bring in what `export` wrote: all of it, or nothing when anything is wrong with the file. What is "
        "here already wins, and what was erased for good here stays away.",
        **examples_epilog("kenobot memory import memory.jsonl --dry-run", "kenobot memory import memory.jsonl"),
    )
    back.add_argument("file", metavar="FILE", help="where from; - is standard input")
    back.add_argument("--dry-run", action="store_true", help="only say what would be brought in")
    options.add_json(back)
    back.set_defaults(command=import_)
    agree = parts.add_parser(
        "sync",
        parents=[home],
        help="take in edits of the Markdown files, and write what is new",
        description="Take in what people wrote into the Markdown files, and write what is new into them. A running bot "
        "does so by itself before each answer.",
        **examples_epilog("kenobot memory sync"),
    )
    options.add_json(agree)
    agree.set_defaults(command=sync)
    again = parts.add_parser(
        "rebuild",
        parents=[home],
        help="make memory again from its Markdown files",
        description="Make memory again from its Markdown files, for when the database is lost. Conversations and the "
        "past of memories are not in the files.",
        **examples_epilog("kenobot memory rebuild --dry-run", "kenobot memory rebuild"),
    )
    again.add_argument("--replace", action="store_true", help="throw away what the database holds of memory")
    again.add_argument("--dry-run", action="store_true", help="only say what would be made")
    options.add_json(again)
    again.set_defaults(command=rebuild)


def export(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cognitive.control import export as portable

    tell = progress(arguments)
    try:
        with db_read.open_readonly(home_of(arguments)) as connection:
            connection.row_factory = None
            connection.execute("BEGIN")
            lines = portable.export(connection, requested_scopes(arguments), clock_of(clock).now())
            if arguments.file == "-":
                count = sum(1 for _ in map(print, lines))
            else:
                count = _write(Path(arguments.file), lines, tell)
    except OSError as error:
        return options.print_failure(f"{arguments.file} cannot be written: {error.strerror}.", _FAILED)
    if arguments.file != "-":
        print(f"{arguments.file}: {count} lines. It holds what you told the bot: keep it where only you can read it.")
    return 0


def import_(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_write
    from kenobot.cognitive.control import export as portable
    from kenobot.cognitive.mirror.lists.list_paths import is_memory_file
    from kenobot.core.settings.load import load_settings
    from kenobot.storage.connection import savepoint

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    _make(home)
    try:
        with _lines(arguments.file) as lines, db_write.transaction(home) as connection:
            at = owner_context(loaded, clock_of(clock).now())
            try:
                with savepoint(connection, "import"):
                    report = portable.import_lines(connection, lines, at, is_memory_file, progress(arguments))
                    if arguments.dry_run:
                        raise _Rehearsed(report)
            except _Rehearsed as rehearsed:
                report = rehearsed.report
    except (OSError, UnicodeDecodeError) as error:
        return options.print_failure(f"{arguments.file} cannot be read: {error}.", _FAILED)
    if not arguments.dry_run:
        sync_files(home, loaded, clock)
    _tell(arguments, report)
    return 0


def sync(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    options.require_database(home)
    touched = sync_files(home, loaded, clock)
    if touched is None:
        print(json.dumps({"running": True}) if arguments.json else BOT_IS_RUNNING)
        return 0
    told = f"Files and memory agree: {touched} facts were taken in from your edits."
    print(json.dumps({"running": False, "touched": touched}) if arguments.json else told)
    return 0


def rebuild(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_write
    from kenobot.cognitive.mirror import rebuild as rebuilding
    from kenobot.core.settings.load import load_settings
    from kenobot.storage.connection import savepoint

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    if not home.memory.exists():
        return options.print_failure(f"There are no files in {home.memory}.")
    at = clock_of(clock).now()
    told = progress(arguments)
    with home.lock():
        _make(home)
        with db_write.transaction(home) as connection, savepoint(connection, "rebuild"):
            report = rebuilding.rebuild(
                connection,
                home.memory,
                at,
                replace_all=arguments.replace,
                dry_run=arguments.dry_run,
                progress=(lambda done, _: told(done)) if told else None,
            )
    if not arguments.dry_run:
        sync_files(home, loaded, clock)
    if arguments.json:
        print(json.dumps(asdict(report)))
        return 0
    for problem in report.problems:
        print(problem, file=sys.stderr)
    states = ", ".join(f"{count} {status}" for status, count in report.by_status.items())
    print(
        f"{'Would make' if arguments.dry_run else 'Made'} {report.records} memories ({states}), {report.links} links."
    )
    return 0


# ── how it is done ───────────────────────────────────────────────────────────────────────────────────────────────


class _Rehearsed(Exception):
    """Undoes what a dry run wrote."""

    def __init__(self, report: "MemoryImportReport") -> None:
        super().__init__()
        self.report = report


def _make(home: Any) -> None:
    """A database to write to, where there is none yet."""
    from kenobot.storage import migrate

    if not home.database.exists() or not home.database.stat().st_size:
        home.prepare()
        migrate.migrate(home.database, home.backups)


class _lines:  # noqa: N801 - used like open()
    """The lines of a file or of standard input, without their ends."""

    def __init__(self, name: str) -> None:
        self._file = sys.stdin if name == "-" else Path(name).open(encoding="utf-8")  # noqa: SIM115 - closed on exit

    def __enter__(self) -> Iterator[str]:
        return (line.rstrip("\n") for line in self._file)

    def __exit__(self, *_: object) -> None:
        if self._file is not sys.stdin:
            self._file.close()


def _write(path: Path, lines: Iterator[str], tell: Any) -> int:
    """All of it or nothing, for the owner's eyes only; returns how many lines."""
    draft = path.with_name(f".{path.name}.partial")
    count = 0
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            for count, line in enumerate(lines, 1):
                file.write(f"{line}\n")
                if tell is not None and count % 1000 == 0:
                    tell(count)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return count


def _tell(arguments: argparse.Namespace, report: "MemoryImportReport") -> None:
    if arguments.json:
        print(json.dumps({"dry_run": arguments.dry_run, **asdict(report)}))
        return
    print("Would be brought in:" if arguments.dry_run else "Brought in:")
    for kind, count in report.added.items():
        if count or report.already_known[kind]:
            print(f"  {kind:<10} {count:>8} new  {report.already_known[kind]:>8} known")
    for why, count in report.skipped.items():
        print(f"  {count} left out: {why}")
