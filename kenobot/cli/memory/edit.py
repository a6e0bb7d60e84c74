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
from kenobot.cognitive.memory import Memory
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.number_words import parse_number
from kenobot.ports.identity import is_scope
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import AmbiguousReference
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence


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
        tags=tags_of_confidence([" ".join(context.args.text)]),
    )
    make_home(context)
    with _writing(context) as connection:
        decision = Memory.remember(connection, candidate, context.owner)
        record = Memory.records.get(connection, decision.record or 0, (scope,))
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
        previous = Memory.records.resolve(connection, context.args.ref, context.scopes, live=True)
        try:
            decision = Memory.correct(
                connection, previous.id, " ".join(context.args.text), context.scopes, context.owner
            )
        except ValueError as error:
            return options.print_failure(say("Not corrected: {reason}.", reason=error), options.FAILED)
        record = Memory.records.get(connection, decision.record or 0, (previous.scope,))
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
        for record in _find_meant(connection, [context.args.ref, *context.args.more], context):
            hidden = Memory.forget(
                connection, record.id, context.scopes, context.owner, reason=Sentence("reasons.owner_said")
            )
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
            event = Memory.history.find_undoable(connection, scopes)
        if event is None:
            return options.print_failure("Nothing to undo in that memory: `kenobot memory log` shows what happened.")
        done = Memory.undo(connection, event, context.scopes, context.owner)
    rows = [record_row(record) for record in done.after]
    row = {"undone": done.undone_event, "event": done.event, "records": rows}
    lines = "\n".join(record_line(each, context.zone) for each in rows)
    back = say("`kenobot memory undo {event}` takes that back.", event=done.event)
    return options.print_row(row, context.args.json, f"{say('Undone')} ({say(done.kind)})\n{lines}\n{back}")


def _find_meant(connection: sqlite3.Connection, refs: Sequence[str], context: CommandContext) -> list[Record]:
    """Find the records that numbers or keys name, or the one that words surely mean. Raises AmbiguousReference."""
    try:
        return [Memory.records.resolve(connection, ref, context.scopes, live=True) for ref in refs]
    except AmbiguousReference:
        if all(parse_number(ref) is not None for ref in refs):
            raise
        found = Memory().find(connection, " ".join(refs), context.scopes)
        record = found.certain
        if record is not None:
            return [record]
        if not found:
            raise
        several = "\n".join(record_line(record_row(each.record), context.zone) for each in found)
        raise AmbiguousReference("memory.several_meant", several=several) from None


@contextmanager
def _writing(context: CommandContext) -> Iterator[sqlite3.Connection]:
    """Run one transaction; then the files are synchronised, unless a bot is running."""
    with context.write() as connection:
        yield connection
    sync_files(context)
