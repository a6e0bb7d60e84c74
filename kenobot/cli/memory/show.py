"""`kenobot memory list`, `show`, `history` and `why`: records and their provenance. Read-only."""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.memory.record_text import record_line, record_row
from kenobot.cognitive.beliefs import value
from kenobot.cognitive.control import history as past
from kenobot.cognitive.control.find import resolve_reference
from kenobot.cognitive.recall.prompt.usage import UsedMemory
from kenobot.cognitive.store import feedback
from kenobot.cognitive.store import links as record_links
from kenobot.cognitive.store.records import Record, list_records
from kenobot.core.redaction import escape_controls, one_line
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

_STATUSES = ("active", "superseded", "expired", "archived", "forgotten", "invalidated")
_FORMS = ("note", "episode", "scratchpad", "profile", "procedure", "entity", "box", "summary", "question")
_LINKS = 20
_SHOWN_FORMS = tuple(form for form in _FORMS if form != "box")
_ALL = 1_000_000
_NOTHING = "Nothing is remembered here yet."


def list_(context: CommandContext) -> int:
    args = context.args
    moment = context.moment(args.as_of)
    forms = (args.form,) if args.form else _SHOWN_FORMS
    with context.read() as connection:
        if moment is not None:
            records = past.alive_at(connection, context.scopes, moment, forms, args.limit)
        else:
            statuses = () if args.status == "all" else (args.status,)
            records = list_records(connection, context.scopes, statuses, forms, args.limit)
    rows = [record_row(record) for record in records if record.confidence >= args.min_confidence]
    return options.print_rows(rows, args.json, record_line, _NOTHING)


def show(context: CommandContext) -> int:
    if context.args.ref is not None:
        with context.read() as connection:
            return _show_one(context, connection, resolve_reference(connection, context.args.ref, context.scopes))
    with context.read() as connection:
        records = list_records(connection, context.scopes, ("active",), _SHOWN_FORMS, _ALL)
    rows = [record_row(each) for each in sorted(records, key=lambda each: (each.scope, each.created, each.id))]
    if context.args.json or not rows:
        return options.print_rows(rows, context.args.json, record_line, _NOTHING)
    for number, (scope, group) in enumerate(groupby(rows, key=lambda row: str(row["scope"]))):
        print(("\n" if number else "") + one_line(scope))
        for row in group:
            print(record_line(row))
    return 0


def _show_one(context: CommandContext, connection: Connection, record: Record) -> int:
    moment = context.moment(context.args.as_of)
    if moment is not None:
        then = past.as_of(connection, record.id, moment, context.scopes)
        if then is None:
            return options.print_failure(f"#{record.id} was not there yet.")
        record = then
    row = record_row(record)
    row["effective_confidence"] = round(value.strength(record, moment or context.now), 3)
    row["links"] = [
        {"to": link.dst if link.src == record.id else link.src, "type": link.type, "confidence": link.confidence}
        for link in record_links.links_around(connection, record.id, context.scopes, _LINKS)
    ]
    return options.print_rows([row], context.args.json, _record_text)


def history(context: CommandContext) -> int:
    with context.read() as connection:
        record = resolve_reference(connection, context.args.ref, context.scopes)
        rows = [asdict(change) for change in past.history(connection, record.id, context.scopes)]
    return options.print_rows(rows, context.args.json, _change_lines, "Nothing is known of its past.")


def why(context: CommandContext) -> int:
    args = context.args
    with context.read() as connection:
        if args.ref is not None:
            rows = [_origin(connection, resolve_reference(connection, args.ref, context.scopes), context)]
        else:
            session = args.session or conversation.last_answered_session(connection)
            reply = past.explain_last_reply(connection, session, context.scopes) if session else None
            if reply is None:
                return options.print_failure("Nothing was answered there yet: `kenobot chat` begins a conversation.")
            return _print_why(connection, reply, context)
    return options.print_rows(rows, args.json, _origin_lines)


def _print_why(connection: Connection, reply: past.ReplyExplanation, context: CommandContext) -> int:
    """Print the memories behind a reply, then those that were only in view."""
    as_json = context.args.json
    if not as_json:
        print(one_line(f"{reply.at[:16]}  {reply.session}  {_short(reply.question)}"))
    behind, others = reply.told_apart()
    parts = ((behind, True, "Behind the answer:"), (others, False, "In view besides, without a word of it:"))
    for used, is_behind, heading in parts:
        rows = [_used_row(connection, each, context) | {"behind": is_behind} for each in used]
        if rows and not as_json:
            print(heading)
        if rows:
            options.print_rows(rows, as_json, _origin_lines)
    if not behind:
        return options.print_failure("No memory stands behind the answer: only the conversation itself.")
    return 0


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _origin(connection: Connection, record: Record, context: CommandContext) -> dict[str, Any]:
    """The provenance of a record: how, by whom, and the source messages, as far as they are kept and may be shown."""
    messages = (
        (turn, feedback.quotable_message(connection, turn, context.scopes)) for turn in record.source_message_ids
    )
    said = [
        {"turn": turn, "trust": message.trust, "at": message.at, "session": message.session, "text": message.text}
        for turn, message in messages
        if message is not None
    ]
    names = ("id", "text", "scope", "status", "source", "trust", "created")
    return {name: getattr(record, name) for name in names} | {"said": said}


def _used_row(connection: Connection, used: UsedMemory, context: CommandContext) -> dict[str, Any]:
    if used.record is None:
        return {"id": used.record_id, "where": used.where, "text": None}
    row = _origin(connection, used.record, context) | {"where": used.where}
    if used.reason is not None:
        row |= {"why": used.reason.as_json(), "because": used.reason.sentence()}
    return row


def _origin_lines(row: Mapping[str, Any]) -> str:
    if row["text"] is None:
        return f"  {row['id']:>5}  (forgotten, or not to be shown)"
    lines = [f"  {row['id']:>5}  {one_line(str(row['text']))}  (by {row['source']}, {str(row['created'])[:16]})"]
    if row.get("because"):
        lines.append(f"         {one_line(str(row['because']))}")
    lines += [
        f"         {said['trust']} in {said['session']}, {said['at'][:16]}: {one_line(_short(said['text']))}"
        for said in row["said"]
    ]
    return "\n".join(lines)


def _record_text(row: Mapping[str, Any]) -> str:
    skipped = ("text", "links")
    head = [f"{name + ':':<22} {one_line(str(value))}" for name, value in row.items() if name not in skipped and value]
    links = [f"{'link:':<22} {link['type']} #{link['to']} ({link['confidence']:.2f})" for link in row["links"]]
    return "\n".join([*head, *links, "", escape_controls(row["text"])])


def _change_lines(row: Mapping[str, Any]) -> str:
    undone = " (undone)" if row["undone"] else ""
    head = f"{row['event']:>6}  {row['at'][:19]}  {row['kind']}{undone} by {row['actor']}"
    lines = [head + (f": {row['reason']}" if row["reason"] else "")]
    lines += [
        f"          {name}: {_short(str(before))} → {_short(str(after))}" for name, before, after in row["changes"]
    ]
    return "\n".join(one_line(line) for line in lines)


def _short(text: str, longest: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
