"""`kenobot memory remember`, `correct`, `forget`, `purge` and `undo`: the owner's hands on memory.

Each is one transaction, beside a running bot, which notices within a second, or without one: then the Markdown files
are written at once.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.memory_options import (
    add_scope,
    examples_epilog,
    owner_context,
    record_line,
    record_row,
    requested_scopes,
    sync_files,
)
from kenobot.cli.options import clock_of, home_of

if TYPE_CHECKING:
    import sqlite3

    from kenobot.agent.background.purge import ErasureResult
    from kenobot.cognitive.control.forget import PurgePlan
    from kenobot.cognitive.remember.admit_context import AdmitContext
    from kenobot.core.settings.home import Home
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.clock import Clock

    Work = Callable[[sqlite3.Connection, AdmitContext], int]

_FAILED = 1
_event = options.id_number("no number of a change: `kenobot memory log --json` shows them")
_YES = frozenset({"y", "yes", "s", "si", "sí"})


def add(parts: Any, home: argparse.ArgumentParser) -> None:
    kept = parts.add_parser(
        "remember",
        parents=[home],
        help="remember something",
        description="Remember something as the owner's own word.",
        **examples_epilog(
            "kenobot memory remember I am allergic to nuts", "kenobot memory remember --scope user:telegram-2 …"
        ),
    )
    kept.add_argument("text", metavar="TEXT", nargs="+", help="what to remember")
    kept.add_argument("--scope", metavar="SCOPE", default="owner", help="whose memory: owner, chat:SESSION or user:ID")
    kept.add_argument("--core", action="store_true", help="into MEMORY.md, not the day's log")
    options.add_json(kept)
    kept.set_defaults(command=remember)
    right = _add_named(
        parts, home, "correct", correct, "put other words in the place of a memory",
        "kenobot memory correct 12 I live in Lyon",
    )  # fmt: skip
    right.add_argument("text", metavar="TEXT", nargs="+", help="what is true")
    gone = _add_named(
        parts, home, "forget", forget, "hide a memory everywhere, so that it can be undone", "kenobot memory forget 12"
    )
    gone.add_argument("more", metavar="MEMORY", nargs="*", help="more of them")
    erased = _add_named(
        parts, home, "purge", purge, "erase a memory for good, with the words that told it",
        "kenobot memory purge 12 --dry-run", "kenobot memory purge 12 --yes",
    )  # fmt: skip
    erased.add_argument("--yes", action="store_true", help="do not ask")
    erased.add_argument("--dry-run", action="store_true", help="only say what would be erased")
    back = parts.add_parser(
        "undo",
        parents=[home],
        help="take back a change",
        description="Take back the last change of what is remembered, or the change of a number; an undo too.",
        **examples_epilog(
            "kenobot memory undo", "kenobot memory undo 345", "kenobot memory undo --scope chat:telegram-1"
        ),
    )
    back.add_argument("event", metavar="CHANGE", nargs="?", type=_event, help="as `kenobot memory log` shows it")
    add_scope(back, "whose last change (owner)")
    options.add_json(back)
    back.set_defaults(command=undo)


def _add_named(
    parts: Any, home: argparse.ArgumentParser, name: str, command: Any, meaning: str, *examples: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parts.add_parser(
        name,
        parents=[home],
        help=meaning,
        description=f"{meaning[0].upper()}{meaning[1:]}.",
        **examples_epilog(*examples),
    )
    parser.add_argument("ref", metavar="MEMORY", help="its number, or the beginning of its key")
    add_scope(parser)
    options.add_json(parser)
    parser.set_defaults(command=command)
    return parser


# ── the commands ─────────────────────────────────────────────────────────────────────────────────────────────────


def remember(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    def work(connection: "sqlite3.Connection", at: "AdmitContext") -> int:
        from kenobot.cognitive.control.export_format import is_scope
        from kenobot.cognitive.remember.admit import admit
        from kenobot.cognitive.store import records as store
        from kenobot.ports.memory import Candidate

        if not is_scope(arguments.scope):
            return options.print_failure(
                f"{arguments.scope!r} is no memory: say owner, chat:SESSION or user:ID.", _FAILED
            )
        candidate = Candidate(
            "episode" if arguments.scope.startswith("chat:") else "note",
            arguments.scope,
            " ".join(arguments.text),
            source="command",
            tier="core" if arguments.core else "daily",
        )
        decision = admit(connection, candidate, at)
        record = store.get(connection, decision.record or 0, (arguments.scope,))
        if record is None:
            return options.print_failure(f"Not remembered: {decision.reason}.", _FAILED)
        row = {"action": decision.action, "reason": decision.reason, **record_row(record)}
        return _told(arguments, row, f"{decision.action}: {decision.reason}\n{record_line(row)}")

    return _change(arguments, clock, work)


def correct(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    def work(connection: "sqlite3.Connection", at: "AdmitContext") -> int:
        from kenobot.cognitive.control.find import resolve_reference
        from kenobot.cognitive.remember import admit
        from kenobot.cognitive.store import records as store

        known = resolve_reference(connection, arguments.ref, requested_scopes(arguments), live=True)
        try:
            decision = admit.correct(connection, known.id, " ".join(arguments.text), requested_scopes(arguments), at)
        except ValueError as error:
            return options.print_failure(f"Not corrected: {error}.", _FAILED)
        record = store.get(connection, decision.record or 0, (known.scope,))
        if record is None:
            return options.print_failure(f"Not corrected: {decision.reason}.", _FAILED)
        row = {"action": decision.action, "in_place_of": known.id, **record_row(record)}
        return _told(arguments, row, f"in the place of #{known.id}:\n{record_line(row)}")

    return _change(arguments, clock, work)


def forget(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    def work(connection: "sqlite3.Connection", at: "AdmitContext") -> int:
        from kenobot.cognitive.control.find import resolve_reference
        from kenobot.cognitive.control.forget import forget

        reach = requested_scopes(arguments)
        records = [resolve_reference(connection, ref, reach, live=True) for ref in (arguments.ref, *arguments.more)]
        for record in records:
            hidden = forget(connection, record.id, reach, at, reason="the owner said so")
            if hidden is None:
                continue  # it went with another one, whose words it repeats
            row = {"forgotten": record.id, "event": hidden.event, "text": record.text}
            row |= {"copies": [copy.id for copy in hidden.copies], "turns": [*hidden.turns]}
            also = f" and {len(hidden.copies)} that repeat it" if hidden.copies else ""
            told = f", and {len(hidden.turns)} messages that told it" if hidden.turns else ""
            undo_it = f"`kenobot memory undo {hidden.event}` brings it back."
            _told(arguments, row, f"forgotten{also}{told}:\n{record_line(record_row(record))}\n{undo_it}")
        return 0

    return _change(arguments, clock, work)


def undo(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    def work(connection: "sqlite3.Connection", at: "AdmitContext") -> int:
        from kenobot.cognitive.control import undo as undoing

        scopes = (arguments.scope or "owner",)
        event = arguments.event if arguments.event is not None else undoing.last_undoable_event(connection, scopes)
        if event is None:
            return options.print_failure("There is nothing to undo there: `kenobot memory log` shows what happened.")
        done = undoing.undo(connection, event, requested_scopes(arguments), at)
        row = {
            "undone": done.undone_event,
            "event": done.event,
            "records": [record_row(record) for record in done.after],
        }
        lines = "\n".join(record_line(record_row(record)) for record in done.after)
        back = f"`kenobot memory undo {done.event}` takes that back."
        return _told(arguments, row, f"undone ({done.kind}):\n{lines}\n{back}")

    return _change(arguments, clock, work)


def purge(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cli.memory_purge import finish_interrupted_purge, purge_files, purge_plan_text
    from kenobot.cognitive.control.find import AmbiguousReference, resolve_reference
    from kenobot.cognitive.control.forget import plan_purge
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    try:
        if not arguments.dry_run:
            finish_interrupted_purge(home, loaded, clock)
        with db_read.open_readonly(home) as connection:
            record = resolve_reference(connection, arguments.ref, requested_scopes(arguments))
            doomed = plan_purge(connection, record.id, requested_scopes(arguments))
    except AmbiguousReference as error:
        return options.print_failure(str(error))
    assert doomed is not None
    print(purge_plan_text(doomed, home), file=sys.stderr if arguments.json else sys.stdout)
    if arguments.dry_run:
        return 0
    if not arguments.yes and not _agreed():
        return options.print_failure("Nothing was erased.")
    doomed, erased = _erase(home, loaded, doomed, arguments, clock)
    left = purge_files(home, loaded, clock, doomed)
    row = {"purged": [each.id for each in doomed.records], "turns": [*doomed.turns], "left": left}
    row |= {"messages": len(erased.messages), "backups": [str(path) for path in sorted(home.backups.glob("*.db"))]}
    what = f"Erased: {len(doomed.records)} memories, {len(erased.messages)} messages, {erased.letters} letters."
    rest = "".join(f"\nIts words still stand in {place}." for place in left)
    return _told(arguments, row, what + rest)


def _erase(
    home: "Home", loaded: "ResolvedSettings", doomed: "PurgePlan", arguments: argparse.Namespace, clock: "Clock | None"
) -> "tuple[PurgePlan, ErasureResult]":
    from kenobot.agent.background import purge as erasure
    from kenobot.cli import db_write

    with db_write.transaction(home) as connection:
        return erasure.execute_purge(
            connection, doomed, requested_scopes(arguments), owner_context(loaded, clock_of(clock).now())
        )


# ── how it is done ───────────────────────────────────────────────────────────────────────────────────────────────


def _change(arguments: argparse.Namespace, clock: "Clock | None", work: "Work") -> int:
    """Run `work` in one transaction; then let the files follow, unless a bot is there to do it."""
    from kenobot.cli import db_write
    from kenobot.cognitive.control.find import AmbiguousReference
    from kenobot.core.settings.load import load_settings

    home = home_of(arguments)
    loaded = load_settings(home, os.environ)
    try:
        with db_write.transaction(home) as connection:
            code = work(connection, owner_context(loaded, clock_of(clock).now()))
    except AmbiguousReference as error:
        return options.print_failure(str(error))
    if code == 0:
        sync_files(home, loaded, clock)
    return code


def _told(arguments: argparse.Namespace, row: Mapping[str, Any], lines: str) -> int:
    from kenobot.core.terminal import escape_controls

    print(json.dumps(row) if arguments.json else escape_controls(lines))
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        print("Nobody is there to be asked: say --yes if it is meant.", file=sys.stderr)
        return False
    return input("Erase this for good? [y/N] ").strip().lower() in _YES
