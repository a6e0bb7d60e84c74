"""`kenobot memory export`, `import`, `sync` and `rebuild`: memory as JSON Lines, and from its Markdown files."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.memory.sync_files import BOT_IS_RUNNING, make_home, sync_files
from kenobot.cognitive.memory import Transfers
from kenobot.core.redaction import one_line
from kenobot.identity import identity_transfer
from kenobot.ports.errors import StoreError
from kenobot.ports.memory_files import MemoryImportReport
from kenobot.storage.transactions import write_once


def export(context: CommandContext) -> int:
    file: str = context.args.file
    try:
        with context.read() as connection:
            whole = context.args.scope is None
            identity = identity_transfer.read_texts(context.home.identity) if whole else None
            lines = Transfers.export(connection, context.scopes, context.now, identity)
            if file == "-":
                for line in lines:
                    print(line)
                return 0
            count = _write(Path(file), lines, _progress(context))
            told = Transfers.count_confidences(connection, context.scopes)
    except OSError as error:
        return options.print_failure(StoreError("files.unwritable", path=file, reason=error), options.FAILED)
    kept = "{file}: {count} lines. It holds what you told the bot: keep it where only you can read it."
    print(say(kept, file=one_line(file), count=count))
    if told:
        print(say("{count} of what it holds was told in confidence, and keeps that mark.", count=told))
    return 0


def import_(context: CommandContext) -> int:
    args = context.args
    try:
        with _open_lines(args.file) as found, tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
            lines.writelines(f"{line}\n" for line in found)  # it is read twice, and standard input only once
            make_home(context)
            report = (_try_import if args.dry_run else _import)(context, lines)
    except (OSError, UnicodeError) as error:
        return options.print_failure(StoreError("files.unreadable", path=args.file, reason=error), options.FAILED)
    if not args.dry_run:
        sync_files(context)
    return _print_report(context, report)


def _try_import(context: CommandContext, lines: TextIO) -> MemoryImportReport:
    """Import into a copy, so that a bot that is running does not wait."""
    with tempfile.TemporaryDirectory(prefix="kenobot-import-") as folder:
        copy = Path(folder) / "kenobot.db"
        context.copy_database(copy)
        with write_once(copy) as connection:
            report = Transfers.import_all(connection, _each(lines), context.owner, _progress(context))
            return _adopt_identity(context, lines, report)


def _import(context: CommandContext, lines: TextIO) -> MemoryImportReport:
    """Import in short transactions, between which a bot that is running writes what it has to."""
    summary = Transfers.check(_each(lines))
    with context.write_in_steps() as (connection, next_transaction):
        report = Transfers.import_checked(
            connection, _each(lines), summary, context.owner, next_transaction, _progress(context)
        )
    return _adopt_identity(context, lines, report)


def _adopt_identity(context: CommandContext, lines: TextIO, report: MemoryImportReport) -> MemoryImportReport:
    """Put the bot's character and rules in their place where nobody has written any yet; count them in the report."""
    found = Transfers.find_identity(_each(lines))
    adopted = identity_transfer.adopt_texts(context.home.identity, found, dry_run=context.args.dry_run)
    report.added["state"] += adopted
    report.already_known["state"] -= adopted
    return report


def _each(lines: TextIO) -> Iterator[str]:
    lines.seek(0)
    return (line.rstrip("\n") for line in lines)


def sync(context: CommandContext) -> int:
    context.require_database()
    outcome = sync_files(context)
    if outcome.touched is None:
        return options.print_row({"running": True}, context.args.json, translate(BOT_IS_RUNNING))
    text = say("Files and memory agree: {touched} facts were taken in from your edits.", touched=outcome.touched)
    return options.print_row({"running": outcome.by_bot, "touched": outcome.touched}, context.args.json, text)


def rebuild(context: CommandContext) -> int:
    args, home, now = context.args, context.home, context.owner.at
    if not home.memory.exists():
        return options.print_failure(say("There are no files in {memory}.", memory=home.memory))
    tell = _progress(context)
    context.make_home()
    with home.lock(), context.write() as connection:
        report = Transfers.rebuild(
            connection,
            home.memory,
            now,
            replace_all=args.replace,
            dry_run=args.dry_run,
            progress=(lambda done, _: tell(done)) if tell else None,
        )
    if not args.dry_run:
        sync_files(context)
    states = ", ".join(f"{count} {say(status)}" for status, count in report.by_status.items())
    made = "Made {records} memories ({states}), {links} links."
    if args.dry_run:
        made = "Would make {records} memories ({states}), {links} links."
    for problem in () if args.json else report.problems:
        print(translate(problem), file=sys.stderr)
    text = say(made, records=report.records, states=states, links=report.links)
    return options.print_row(asdict(report), args.json, text)


def _progress(context: CommandContext) -> Callable[[int], None] | None:
    """Show the progress of long work on a person's stderr."""
    if context.args.json or not sys.stderr.isatty():
        return None
    return lambda done: options.show_progress(f"{done} lines …")


@contextmanager
def _open_lines(name: str) -> Iterator[Iterator[str]]:
    """Open a file or standard input, and yield its lines without their ends."""
    if name == "-":
        yield (line.rstrip("\n") for line in sys.stdin)
        return
    with Path(name).open(encoding="utf-8") as file:
        yield (line.rstrip("\n") for line in file)


def _write(path: Path, lines: Iterator[str], tell: Callable[[int], None] | None) -> int:
    """Write the file whole or not at all, readable by its owner only. Returns how many lines."""
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


def _print_report(context: CommandContext, report: MemoryImportReport) -> int:
    dry_run: bool = context.args.dry_run
    lines = [say("Would be brought in:") if dry_run else say("Brought in:")]
    for kind, count in report.added.items():
        if count or report.already_known[kind]:
            known = report.already_known[kind]
            lines.append(f"  {say(kind):<10} {count:>8} {say('new')}  {known:>8} {say('known')}")
    lines += [
        say("  {count} left out: {why}", count=count, why=translate(why)) for why, count in report.skipped.items()
    ]
    return options.print_row({"dry_run": dry_run, **asdict(report)}, context.args.json, "\n".join(lines))
