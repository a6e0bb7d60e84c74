"""`kenobot memory list`, `show`, `history` and `why`: records and their provenance. Read-only."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.memory.record_text import origin_text, print_records, record_row, record_text
from kenobot.cli.table import flat
from kenobot.cognitive.memory import Inspection, Memory
from kenobot.core.redaction import escape_controls, one_line
from kenobot.ports.browsing import RecordFilter
from kenobot.ports.explanations import ReplyExplanation, UsedMemory
from kenobot.ports.records import Record
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

_STATUSES = ("active", "superseded", "expired", "archived", "forgotten", "invalidated")
_FORMS = ("note", "episode", "scratchpad", "profile", "procedure", "entity", "box", "summary", "question")
_LINKS = 20
_SHOWN_FORMS = tuple(form for form in _FORMS if form != "box")
_ALL = 1_000_000
_SHOWN = (  # columns for people, where they hold something; --json has all
    "form",
    "category",
    "scope",
    "trust",
    "status",
    "effective_confidence",
    "created",
    "updated",
    "valid_from",
    "valid_until",
    "expires",
    "last_used",
    "subject",
    "attributes",
    "tags",
    "source",
)
_WORDS = ("form", "category", "trust", "tier", "status", "source", "lifecycle")  # columns of fixed values
_TIMES = ("created", "updated", "valid_from", "valid_until", "last_seen", "last_used", "expires")
_NAMES = {
    "effective_confidence": "confidence",
    "valid_from": "valid from",
    "valid_until": "valid until",
    "last_used": "last used",
}
_NOTHING = "Nothing is remembered here yet: `kenobot memory remember TEXT` begins."


def list_(context: CommandContext) -> int:
    args = context.args
    moment = context.moment(args.as_of)
    forms = (args.form,) if args.form else _SHOWN_FORMS
    with context.read() as connection:
        if moment is not None:
            wanted = RecordFilter(forms=forms)
            records = Memory.records.list_as_of(connection, context.scopes, moment, wanted, limit=_ALL)
        else:
            statuses = () if args.status == "all" else (args.status,)
            records = Memory.records.list_records(connection, context.scopes, statuses, forms, _ALL)
    sure = (record for record in records if record.confidence >= args.min_confidence)
    return _print(context, [record_row(record) for record in islice(sure, args.limit)])


def _print(context: CommandContext, rows: list[dict[str, Any]]) -> int:
    """Print records, or why there are none. Returns the exit code."""
    args = context.args
    if not rows:
        fit = options.find_filters(args, "--scope", "--status", "--form", "--min-confidence", "--as-of")
        return options.print_failure(say("No memory fits {fit}.", fit=fit) if fit else _NOTHING)
    if args.json:
        return options.print_rows(rows, True, str)
    print_records(rows, context.zone)
    return 0


def show(context: CommandContext) -> int:
    if context.args.ref is not None:
        with context.read() as connection:
            return _show_one(context, connection, Memory.records.resolve(connection, context.args.ref, context.scopes))
    with context.read() as connection:
        records = Memory.records.list_records(connection, context.scopes, ("active",), _SHOWN_FORMS, _ALL)
    rows = [record_row(each) for each in sorted(records, key=lambda each: (each.scope, each.created, each.id))]
    return _print(context, rows)


def _show_one(context: CommandContext, connection: Connection, record: Record) -> int:
    moment = context.moment(context.args.as_of)
    if moment is not None:
        then = Memory.records.get(connection, record.id, context.scopes, at=moment)
        if then is None:
            return options.print_failure(say("#{id} was not there yet.", id=record.id))
        record = then
    row = record_row(record)
    row["effective_confidence"] = round(Inspection.strength(record, moment or context.now), 3)
    row["links"] = [
        {"to": link.dst if link.src == record.id else link.src, "type": link.type, "confidence": link.confidence}
        for link in Memory.records.list_links(connection, record.id, context.scopes, _LINKS)
    ]
    return options.print_rows([row], context.args.json, partial(_record_text, context))


def history(context: CommandContext) -> int:
    with context.read() as connection:
        record = Memory.records.resolve(connection, context.args.ref, context.scopes)
        rows = [asdict(change) for change in Memory.history.list_steps(connection, record.id, context.scopes)]
    return options.print_rows(rows, context.args.json, partial(_change_lines, context), "Nothing is known of its past.")


def why(context: CommandContext) -> int:
    args = context.args
    with context.read() as connection:
        if args.ref is not None:
            rows = [_origin(connection, Memory.records.resolve(connection, args.ref, context.scopes), context)]
        else:
            session = args.session or conversation.last_answered_session(connection)
            reply = Memory.history.explain_reply(connection, session, context.scopes) if session else None
            if reply is None:
                return options.print_failure("Nothing was answered there yet: `kenobot chat` begins a conversation.")
            return _print_why(connection, reply, context)
    return options.print_rows(rows, args.json, partial(_origin_lines, context))


def _print_why(connection: Connection, reply: ReplyExplanation, context: CommandContext) -> int:
    """Print the memories behind a reply, then those that were only in view."""
    as_json = context.args.json
    if not as_json:
        print(one_line(f"{context.local_time(reply.at)}  {reply.session}  {_shorten(reply.question)}"))
    behind, others = Memory.history.split_used(reply)
    parts = ((behind, True, "Behind the answer:"), (others, False, "In view besides, without a word of it:"))
    for used, is_behind, heading in parts:
        rows = [_used_row(connection, each, context) | {"behind": is_behind} for each in used]
        if rows and not as_json:
            print(say(heading))
        if rows:
            options.print_rows(rows, as_json, partial(_origin_lines, context))
    if not behind:
        return options.print_failure("No memory stands behind the answer: only the conversation itself.")
    return 0


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _origin(connection: Connection, record: Record, context: CommandContext) -> dict[str, Any]:
    """Describe where a record is from: how, by whom, and its source messages, where they are kept and may be shown."""
    said = [
        {"turn": turn, "trust": message.trust, "at": message.at, "session": message.session, "text": message.text}
        for turn, message in Memory.history.list_quotations(connection, record.source_message_ids, context.scopes)
    ]
    names = ("id", "form", "text", "scope", "status", "source", "origin", "trust", "created")
    return {name: getattr(record, name) for name in names} | {"said": said}


def _used_row(connection: Connection, used: UsedMemory, context: CommandContext) -> dict[str, Any]:
    if used.record is None:
        return {"id": used.record_id, "where": used.where, "text": None}
    row = _origin(connection, used.record, context) | {"where": used.where}
    if used.reason is not None:
        row |= {"why": used.reason.as_json(), "because": used.reason.sentence()}
    return row


def _origin_lines(context: CommandContext, row: Mapping[str, Any]) -> str:
    if row["text"] is None:
        return f"  {row['id']:>5}  {say('(forgotten, or not to be shown)')}"
    by = f"({origin_text(row['origin'])}, {context.local_time(row['created'])})"
    lines = [f"  {row['id']:>5}  {flat(record_text(row))}  {by}"]
    if row.get("because"):
        lines.append(f"         {flat(translate(row['because']))}")
    for said in row["said"]:
        at = context.local_time(said["at"])
        head = say("{trust} in {session}, {at}:", trust=say(said["trust"]), session=said["session"], at=at)
        lines.append(f"         {head} {flat(_shorten(said['text']))}")
    return "\n".join(lines)


def _record_text(context: CommandContext, row: Mapping[str, Any]) -> str:
    """Return a record: its text, of a summary its beginning, then what is known about it."""
    shown = {name: row[name] for name in _SHOWN if row.get(name) not in ("", None, [], {})}
    shown |= {name: context.local_time(shown[name]) for name in _TIMES if name in shown}
    for repeated in ("updated", "valid_from"):
        if shown.get(repeated) == shown["created"]:
            del shown[repeated]
    lines = [
        f"  {say(_NAMES.get(name, name)) + ':':<14} {one_line(_render_value(name, value))}"
        for name, value in shown.items()
    ]
    linked = ", ".join(f"#{link['to']} ({say(link['type'])})" for link in row["links"])
    links = [f"  {say('links') + ':':<14} {linked}"] if linked else []
    return "\n".join([f"#{row['id']}  {escape_controls(record_text(row))}", *lines, *links])


def _render_value(name: str, value: object) -> str:
    """Return a column's value in plain words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {each}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        return "-"
    return say(str(value)) if name in _WORDS else str(value)


def _change_lines(context: CommandContext, row: Mapping[str, Any]) -> str:
    undone = f" ({say('undone')})" if row["undone"] else ""
    by = say("by {actor}", actor=say(row["actor"]))
    head = f"{row['event']:>6}  {context.local_time(row['at'])}  {say(row['kind'])}{undone} {by}"
    lines = [head + (f": {translate(row['reason'])}" if row["reason"] else "")]
    lines += [
        f"          {say(name)}: {' → '.join(_shorten(_render_value(name, each)) for each in change)}"
        for name, *change in row["changes"]
    ]
    others = [("before, #{id}: {text}", each) for each in row["former"]]
    others += [("now, #{id}: {text}", row["current"])] if row["current"] else []
    lines += [f"          {say(words, id=each['record'], text=_shorten(each['text']))}" for words, each in others]
    return "\n".join(map(one_line, lines))


def _shorten(text: str, longest: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
