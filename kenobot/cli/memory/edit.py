"""`kenobot memory remember`, `correct`, `forget` and `undo`: the owner edits memory.

Each is one transaction, beside a running bot, which notices within a second, or without one: then the Markdown files
are written at once.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.memory.record_text import record_line, record_row
from kenobot.cli.memory.sync_files import make_home, sync_files
from kenobot.cognitive.control import undo as undoing
from kenobot.cognitive.control.export_format import is_scope
from kenobot.cognitive.control.find import (
    AmbiguousReference,
    certain_match,
    find_memories,
    parse_number,
    resolve_reference,
)
from kenobot.cognitive.control.forget import forget as forget_record
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit import correct as correct_record
from kenobot.cognitive.store import records
from kenobot.cognitive.store.records import Record
from kenobot.language.confidences import is_confided
from kenobot.ports.memory import CONFIDED, Candidate


def remember(context: CommandContext) -> int:
    scope: str = context.args.scope
    if not is_scope(scope):
        return options.print_failure(
            say("{scope} is no memory: say owner, chat:SESSION or user:ID.", scope=repr(scope)), options.FAILED
        )
    candidate = Candidate(
        "episode" if scope.startswith("chat:") else "note",
        scope,
        " ".join(context.args.text),
        source="command",
        tier="core" if context.args.core else "daily",
        tags=(CONFIDED,) if is_confided(" ".join(context.args.text)) else (),
    )
    make_home(context)
    with _writing(context) as connection:
        decision = admit(connection, candidate, context.owner)
        record = records.get(connection, decision.record or 0, (scope,))
        if record is None:
            return options.print_failure(say("Not remembered: {reason}.", reason=decision.reason), options.FAILED)
    row = {"action": decision.action, "reason": decision.reason, **record_row(record)}
    return options.print_row(
        row,
        context.args.json,
        f"{say(decision.action)}: {translate(decision.reason)}\n{record_line(row, context.zone)}",
    )


def correct(context: CommandContext) -> int:
    with _writing(context) as connection:
        previous = resolve_reference(connection, context.args.ref, context.scopes, live=True)
        try:
            decision = correct_record(
                connection, previous.id, " ".join(context.args.text), context.scopes, context.owner
            )
        except ValueError as error:
            return options.print_failure(say("Not corrected: {reason}.", reason=error), options.FAILED)
        record = records.get(connection, decision.record or 0, (previous.scope,))
        if record is None:
            return options.print_failure(say("Not corrected: {reason}.", reason=decision.reason), options.FAILED)
    row = {"action": decision.action, "in_place_of": previous.id, **record_row(record)}
    return options.print_row(
        row,
        context.args.json,
        f"{say('in the place of {number}:', number=f'#{previous.id}')}\n{record_line(row, context.zone)}",
    )


def forget(context: CommandContext) -> int:
    with _writing(context) as connection:
        for record in _meant(connection, [context.args.ref, *context.args.more], context):
            hidden = forget_record(connection, record.id, context.scopes, context.owner, reason="the owner said so")
            if hidden is None:
                continue  # hidden with another one, whose words it repeats
            row = {"forgotten": record.id, "event": hidden.event, "text": record.text}
            row |= {"copies": [copy.id for copy in hidden.copies], "turns": [*hidden.turns]}
            copies = say("what repeats it: {count}", count=len(hidden.copies)) if hidden.copies else ""
            turns = say("messages that told it: {count}", count=len(hidden.turns)) if hidden.turns else ""
            along = "; ".join(filter(None, (copies, turns)))
            done = say("Forgotten, with {along}", along=along) if along else say("Forgotten")
            text = f"{done}\n{record_line(record_row(record), context.zone)}\n"
            text += say("`kenobot memory undo {event}` brings it back.", event=hidden.event)
            options.print_row(row, context.args.json, text)
    return 0


def undo(context: CommandContext) -> int:
    scopes = (context.args.scope or "owner",)
    with _writing(context) as connection:
        event = context.args.event
        if event is None:
            event = undoing.last_undoable_event(connection, scopes)
        if event is None:
            return options.print_failure("Nothing to undo in that memory: `kenobot memory log` shows what happened.")
        done = undoing.undo(connection, event, context.scopes, context.owner)
    rows = [record_row(record) for record in done.after]
    row = {"undone": done.undone_event, "event": done.event, "records": rows}
    lines = "\n".join(record_line(each, context.zone) for each in rows)
    back = say("`kenobot memory undo {event}` takes that back.", event=done.event)
    return options.print_row(row, context.args.json, f"{say('Undone')} ({say(done.kind)})\n{lines}\n{back}")


def _meant(connection: sqlite3.Connection, refs: Sequence[str], context: CommandContext) -> list[Record]:
    """Find the records that numbers or keys name, or the one that words surely mean. Raises AmbiguousReference."""
    try:
        return [resolve_reference(connection, ref, context.scopes, live=True) for ref in refs]
    except AmbiguousReference:
        if all(parse_number(ref) is not None for ref in refs):
            raise
        found = find_memories(connection, " ".join(refs), context.scopes)
        record = certain_match(found)
        if record is not None:
            return [record]
        if not found:
            raise
        several = "\n".join(record_line(record_row(each.record), context.zone) for each in found)
        raise AmbiguousReference("memory.several_meant", several=several) from None


@contextmanager
def _writing(context: CommandContext) -> Iterator[sqlite3.Connection]:
    """One transaction; then the files are synchronised, unless a bot is running."""
    with context.write() as connection:
        yield connection
    sync_files(context)
