"""`kenobot memory list`, `show`, `history`, `why` and `log`: what is remembered, and how it came to. Read-only."""

import argparse
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kenobot.cli import options
from kenobot.cli.memory_options import add_as_of, add_scope, examples_epilog, record_line, record_row, requested_scopes
from kenobot.cli.options import clock_of, home_of

if TYPE_CHECKING:
    from kenobot.cognitive.recall.usage import UsedMemory
    from kenobot.cognitive.store.records import Record
    from kenobot.ports.clock import Clock
    from kenobot.storage.connection import Connection

_STATUSES = ("active", "superseded", "expired", "archived", "forgotten", "invalidated")
_FORMS = ("note", "episode", "scratchpad", "profile", "procedure", "entity", "box", "summary", "question")
_LINKS = 20
_NOBODY = "Nothing is remembered here yet."


def add(parts: Any, home: argparse.ArgumentParser) -> None:
    _add_lists(parts, home)
    _add_pasts(parts, home)


def _add_lists(parts: Any, home: argparse.ArgumentParser) -> None:
    """What is remembered."""
    listed = parts.add_parser(
        "list",
        parents=[home],
        help="memories, newest first",
        description="Memories, newest first; without options all that is remembered now.",
        **examples_epilog(
            "kenobot memory list --scope owner --limit 20", "kenobot memory list --status forgotten --as-of 2w"
        ),
    )
    add_scope(listed)
    listed.add_argument(
        "--status", choices=(*_STATUSES, "all"), default="active", help="only these (active); not with --as-of"
    )
    listed.add_argument("--form", choices=_FORMS, help="only these")
    listed.add_argument(
        "--min-confidence", type=_share, default=0.0, metavar="0..1", help="only what is as sure as this"
    )
    listed.add_argument("--limit", type=options.positive_int, default=100, metavar="N", help="at most N (100)")
    add_as_of(listed)
    options.add_json(listed)
    listed.set_defaults(command=list_)
    live = parts.add_parser(
        "show",
        parents=[home],
        help="one memory whole, or all of them by scope",
        description="One memory with everything known of it; without a number all that is remembered now, by scope.",
        **examples_epilog("kenobot memory show 12", "kenobot memory show 12 --as-of 2026-03-01", "kenobot memory show"),
    )
    live.add_argument("ref", metavar="MEMORY", nargs="?", help="its number, or the beginning of its key")
    add_scope(live)
    add_as_of(live)
    options.add_json(live)
    live.set_defaults(command=show)


def _add_pasts(parts: Any, home: argparse.ArgumentParser) -> None:
    """Where it came from."""
    past = parts.add_parser(
        "history",
        parents=[home],
        help="what happened to a memory",
        description="What happened to a memory, newest first: by whom, why, and what it changed.",
        **examples_epilog("kenobot memory history 12"),
    )
    past.add_argument("ref", metavar="MEMORY", help="its number, or the beginning of its key")
    add_scope(past)
    options.add_json(past)
    past.set_defaults(command=history)
    why_ = parts.add_parser(
        "why",
        parents=[home],
        help="the memories behind a reply, or where a memory came from",
        description="The memories behind the last reply of a conversation and where each came from; or, given a "
        "memory, where that came from.",
        **examples_epilog("kenobot memory why", "kenobot memory why --session telegram-1", "kenobot memory why 12"),
    )
    why_.add_argument("ref", metavar="MEMORY", nargs="?", help="its number, or the beginning of its key")
    why_.add_argument("--session", metavar="SESSION", help="the conversation; without it the one that was last")
    add_scope(why_)
    options.add_json(why_)
    why_.set_defaults(command=why)
    log_ = parts.add_parser(
        "log",
        parents=[home],
        help="what was taken in, changed or refused, and why",
        description="What memory took in, changed or refused, and why, oldest first. Times are UTC.",
        **examples_epilog("kenobot memory log --since 1d", "kenobot memory log --json --limit 1000"),
    )
    options.add_since_and_limit(log_)
    options.add_json(log_)
    log_.set_defaults(command=log)


def list_(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cognitive.control import history as past
    from kenobot.cognitive.store.records import list_records

    moment = options.since_moment(arguments.as_of, clock)
    forms = (arguments.form,) if arguments.form else tuple(form for form in _FORMS if form != "box")
    with db_read.open_readonly(home_of(arguments)) as connection:
        reach = requested_scopes(arguments)
        if moment is not None:
            records = past.alive_at(connection, reach, moment, forms, arguments.limit)
        else:
            statuses = () if arguments.status == "all" else (arguments.status,)
            records = list_records(connection, reach, statuses, forms, arguments.limit)
    rows = [record_row(record) for record in records if record.confidence >= arguments.min_confidence]
    return options.print_rows(rows, arguments.json, record_line, _NOBODY)


def show(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read

    if arguments.ref is not None:
        return _with_record(arguments, lambda connection, record: _show_one(arguments, clock, connection, record))
    with db_read.open_readonly(home_of(arguments)) as connection:
        rows = db_read.records(connection, requested_scopes(arguments))
    if arguments.json or not rows:
        return options.print_rows(rows, arguments.json, record_line, _NOBODY)
    from kenobot.core.terminal import one_line

    for number, (scope, group) in enumerate(groupby(rows, key=lambda row: str(row["scope"]))):
        print(("\n" if number else "") + one_line(scope))
        for row in group:
            print(record_line(row))
    return 0


def _show_one(arguments: argparse.Namespace, clock: "Clock | None", connection: "Connection", record: "Record") -> int:
    from kenobot.cognitive.beliefs import value
    from kenobot.cognitive.control import history as past
    from kenobot.cognitive.store import links as graph_store

    moment = options.since_moment(arguments.as_of, clock)
    if moment is not None:
        then = past.as_of(connection, record.id, moment, requested_scopes(arguments))
        if then is None:
            return options.print_failure(f"#{record.id} was not there yet.")
        record = then
    row = record_row(record)
    row["effective_confidence"] = round(value.strength(record, moment or clock_of(clock).now()), 3)
    row["links"] = [
        {"to": link.dst if link.src == record.id else link.src, "type": link.type, "confidence": link.confidence}
        for link in graph_store.links_around(connection, record.id, requested_scopes(arguments), _LINKS)
    ]
    return options.print_rows([row], arguments.json, _whole, "")


def history(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from dataclasses import asdict

    from kenobot.cognitive.control import history as past

    def told(connection: "Connection", record: "Record") -> int:
        rows = [asdict(step) for step in past.history(connection, record.id, requested_scopes(arguments))]
        return options.print_rows(rows, arguments.json, _step, "Nothing is known of its past.")

    return _with_record(arguments, told)


def why(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cognitive.control.explain_reply import explain_last_reply
    from kenobot.cognitive.store import history as hands_store

    if arguments.ref is not None:
        return _with_record(arguments, lambda c, record: _say_origins(arguments, [_origin(c, record, arguments)]))
    with db_read.open_readonly(home_of(arguments)) as connection:
        session = arguments.session or hands_store.last_answered_session(connection)
        found = explain_last_reply(connection, session, requested_scopes(arguments)) if session else None
        if found is None:
            return options.print_failure("Nothing was answered there yet: `kenobot chat` begins a conversation.")
        rows = [_because(connection, each, arguments) for each in found.used_memories]
        if not arguments.json:
            from kenobot.core.terminal import one_line

            print(one_line(f"{found.at[:16]}  {found.session}  {_short(found.question)}"))
        return _say_origins(arguments, rows)


def log(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read

    since = options.since_moment(arguments.since, clock)
    with db_read.open_readonly(home_of(arguments)) as connection:
        rows = db_read.events(connection, since, arguments.limit)
    return options.print_rows(rows, arguments.json, _event, "Nothing has happened to memory in that time.")


# ── how it is shown ──────────────────────────────────────────────────────────────────────────────────────────────


def _with_record(arguments: argparse.Namespace, work: Any) -> int:
    """`work` on the record that was named; a plain sentence when it is not clear which."""
    from kenobot.cli import db_read
    from kenobot.cognitive.control.find import AmbiguousReference, resolve_reference

    try:
        with db_read.open_readonly(home_of(arguments)) as connection:
            result: int = work(connection, resolve_reference(connection, arguments.ref, requested_scopes(arguments)))
            return result
    except AmbiguousReference as error:
        return options.print_failure(str(error))


def _origin(connection: "Connection", record: "Record", arguments: argparse.Namespace) -> dict[str, Any]:
    """Where a record came from: how, by whom, and what was said then, as far as it is kept and may be shown."""
    from kenobot.cognitive.store import history as hands_store

    quotes = (
        (turn, hands_store.quotable_message(connection, turn, requested_scopes(arguments)))
        for turn in record.source_message_ids
    )
    said = [
        {"turn": turn, "trust": quote[0], "at": quote[1], "session": quote[2], "text": quote[3]}
        for turn, quote in quotes
        if quote is not None
    ]
    return {
        "id": record.id,
        "text": record.text,
        "scope": record.scope,
        "status": record.status,
        "source": record.source,
        "trust": record.trust,
        "created": record.created,
        "said": said,
    }


def _because(connection: "Connection", because: "UsedMemory", arguments: argparse.Namespace) -> dict[str, Any]:
    if because.record is None:
        return {"id": because.record_id, "where": because.where, "text": None}
    row = _origin(connection, because.record, arguments) | {"where": because.where}
    if because.reason is not None:
        row["why"] = because.reason.as_json()
        row["because"] = because.reason.sentence()
    return row


def _say_origins(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    return options.print_rows(rows, arguments.json, _told, "No memory stands behind it: only the conversation itself.")


def _told(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import one_line

    if row["text"] is None:
        return f"  {row['id']:>5}  (forgotten, or not to be shown)"
    head = f"  {row['id']:>5}  {one_line(str(row['text']))}  (by {row['source']}, {str(row['created'])[:16]})"
    lines = [head]
    if row.get("because"):
        lines.append(f"         {one_line(str(row['because']))}")
    lines += [
        f"         {said['trust']} in {said['session']}, {said['at'][:16]}: {one_line(_short(said['text']))}"
        for said in row["said"]
    ]
    return "\n".join(lines)


def _whole(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import escape_controls, one_line

    skipped = ("text", "links")
    head = [f"{name + ':':<22} {one_line(str(value))}" for name, value in row.items() if name not in skipped and value]
    links = [f"{'link:':<22} {link['type']} #{link['to']} ({link['confidence']:.2f})" for link in row["links"]]
    return "\n".join([*head, *links, "", escape_controls(row["text"])])


def _step(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import one_line

    undone = " (undone)" if row["undone"] else ""
    head = f"{row['event']:>6}  {row['at'][:19]}  {row['kind']}{undone} by {row['actor']}"
    lines = [head + (f": {row['reason']}" if row["reason"] else "")]
    lines += [
        f"          {name}: {_short(str(before))} → {_short(str(after))}" for name, before, after in row["changes"]
    ]
    return "\n".join(one_line(line) for line in lines)


def _event(row: Mapping[str, Any]) -> str:
    import json

    from kenobot.core.terminal import one_line

    record = f"#{row['record_id']}" if row["record_id"] is not None else "-"
    data = json.dumps(row["data"], ensure_ascii=False) if row["data"] else ""
    parts = (row["at"], row["type"], record, row["actor"], row["session"], data)
    return one_line("  ".join(str(part) for part in parts if part))


def _short(text: str, longest: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return share
