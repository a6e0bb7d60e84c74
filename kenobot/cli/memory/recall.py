"""`kenobot memory recall`, `context` and `stats`: retrieval and figures of memory. Read-only."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kenobot.agent import search_report
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.memory import vectors
from kenobot.cli.memory.record_text import origin_text
from kenobot.cli.table import flat
from kenobot.cognitive.memory import Inspection, Memory, MemoryQuery, SearchReport
from kenobot.core import lazy
from kenobot.core.redaction import escape_controls
from kenobot.language.calendar import local_day
from kenobot.ports.recall import Section
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.room import room_by_part

_NO_SESSION = "none"
_SAID = lazy.regex(r"^- \S+ \S+ (?:(?:was said|you answered)(?! in talk imported)[^:]*: )?")  # as the model is told


def recall(context: CommandContext) -> int:
    args, text = context.args, " ".join(context.args.text)
    pack = _recall(context, text, args.budget, args.limit)
    if args.json:
        print(json.dumps(search_report.as_json(pack, text)))
    elif pack.memories or pack.excerpts:
        if args.markdown or args.explain:
            full = (search_report.as_markdown if args.markdown else search_report.as_text)(pack, text)
            print(escape_controls(translate(full)))
        else:
            print(escape_controls("\n".join(_iterate_found(context, pack))))
    if not (pack.memories or pack.excerpts):
        return options.NOT_FOUND if args.json else options.print_failure(_nothing_fits(context))
    return 0


def _iterate_found(context: CommandContext, pack: SearchReport) -> Iterator[str]:
    """Yield what was found, each with the reason, for people; `--explain` has the figures."""
    for memory in pack.memories:
        record, why = memory.record, memory.explain()
        yield f"  {record.id:>5}  {flat(record.text)}"
        day = context.local_time(record.created)[:10]
        told = f"{say(record.category)}, {day}, {origin_text(record.origin)}"
        reasons = translate(why.sentence(with_steps=False))
        yield f"         {told}{f': {reasons}' if reasons else ''}"
    for former in pack.former:
        yield f"  {former.record.id:>5}  {flat(former.record.text)}"
        ended = "so until {day}" if former.held else "told before, replaced on {day}"
        yield f"         {context.local_time(former.record.created)[:10]}, {say(ended, day=former.ended)}"
    matching = [each for each in pack.excerpts if each.matched]
    if not matching and not pack.memories:
        matching = [*pack.excerpts]
    for each in matching:
        yield f"      ·  {flat(_SAID.sub('', each.line))}"
        said = "said in a chat, {at}" if each.turn.role == "user" else "answered in a chat, {at}"
        yield f"         {say(said, at=context.local_time(each.turn.at))}"
    if around := len(pack.excerpts) - len(matching):
        yield say("Said around them: {count} messages, with --explain.", count=around)
    memories, excerpts = len(pack.memories), len(matching)
    found = [say("1 memory" if memories == 1 else "{count} memories", count=memories)] if memories else []
    if excerpts:
        found.append(say("1 excerpt of a chat" if excerpts == 1 else "{count} excerpts of chats", count=excerpts))
    yield say("{found}. Certainty: {level}.", found=", ".join(found), level=say(pack.level))


def _nothing_fits(context: CommandContext) -> str:
    fit = options.find_filters(context.args, "--scope", "--as-of", "--budget")
    return say("No memory fits that question with {fit}.", fit=fit) if fit else "No memory fits that question."


def context(context: CommandContext) -> int:
    text = _render_recalled(context) if context.args.text else _render_loaded(context)
    if not text:
        return options.print_failure("No memory would be in the prompt.")
    return options.print_row({"context": text}, context.args.json, text)


def _render_recalled(context: CommandContext) -> str:
    pack = _recall(context, " ".join(context.args.text), context.args.budget or 0, 0)
    return "\n".join(item.line for item in (*pack.shown, *pack.former))


def _render_loaded(context: CommandContext) -> str:
    from kenobot.app.wiring import prompt_limits  # noqa: PLC0415 - searches need none of it

    limits = prompt_limits(context.loaded.settings)
    scope: str = context.args.scope or "owner"
    query = MemoryQuery(
        "",
        (scope,),
        context.now,
        context.zone,
        scope.removeprefix("chat:") if scope.startswith("chat:") else _NO_SESSION,
        prefix_tokens=context.args.budget or limits.memory_tokens,
        recent_tokens=limits.recent_tokens,
    )
    with context.read() as connection:
        pack = Inspection.load(connection, query, searchable=not context.args.budget)
    sections: tuple[Section, ...] = ("long_term", "recent", "chat", "context")
    return "\n\n".join(pack[name] for name in sections if pack[name])


def _recall(context: CommandContext, text: str, budget: int, limit: int) -> SearchReport:
    as_of = context.moment(context.args.as_of)
    query = MemoryQuery(
        text, context.scopes, context.now, context.zone, budget=budget, limit=limit, as_of=as_of, force=True
    )
    context.require_current_schema()
    with context.index() as (index, connection):
        if as_of is None:
            vectors.enable_vector_search(context, connection, index, text)
        return Memory(index).recall(connection, query)


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def stats(context: CommandContext) -> int:
    with context.read() as connection:
        row = _figures(context, connection)
    options.print_row(row, context.args.json, "\n".join(_figure_lines(context, row)))
    return 0 if row["records"] or row["events"] else options.NOT_FOUND


def _figures(context: CommandContext, connection: Connection) -> dict[str, Any]:
    home, scopes = context.home, context.scopes
    today = local_day(context.now, context.zone)
    return {
        **Inspection.count(connection, scopes, home.index),
        **vectors.vector_stats(context, connection),
        "tokens_today": model_calls.sum_spent_between(connection, today, today, "extraction").tokens,
        "disk": {
            "database": _size(home.database),
            "index": _size(home.index),
            "files": sum(_size(path) for path in home.memory.rglob("*") if path.is_file()),
        },
        "room": room_by_part(home, connection),
    }


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _figure_lines(context: CommandContext, row: dict[str, Any]) -> list[str]:
    def table(name: str) -> list[str]:
        return [f"  {say(key):<28} {count:>8}" for key, count in row[name].items()]

    lag = say("no index yet") if row["index_lag"] is None else row["index_lag"]
    since, until = (context.local_time(row[name]) if row[name] else "-" for name in ("oldest", "newest"))
    lines = [_figure("memories", row["records"])]
    for name, heading in (("by_status", "by status"), ("by_scope", "by scope (live)"), ("by_form", "by form (live)")):
        lines += [say(heading), *table(name)]
    lines += [
        _figure("mean confidence (live)", f"{row['mean_confidence']:.2f}"),
        f"{say('oldest'):<22} {since:>16}",
        f"{say('newest'):<22} {until:>16}",
        _figure("events", row["events"]),
        _figure("links", row["links"]),
        _figure("erased for good", row["tombstones"]),
        _figure("turns that wait to be read", row["turns_waiting"]),
        _figure("conversations summed up", row["summaries"]["live"]),
        _figure("lost by summing up", row["summaries"]["gaps"]),
        _figure("behind in the index", lag),
        f"{say('embedder'):<22} {translate(row['embedder']):>16}",
        _vector_line("memories found by meaning", row["vectors"]),
        _vector_line("messages found by meaning", row["turn_vectors"]),
        _figure("tokens today", row["tokens_today"]),
    ]
    room = {**row["room"], "in all": sum(row["room"].values())}
    lines += [_figure(name.replace("_", " "), f"{size / 1_000_000:.1f} MB") for name, size in room.items()]
    return [*filter(None, lines)]


def _figure(name: str, value: object) -> str:
    return f"{say(name):<30} {value!s:>8}"


def _vector_line(name: str, figures: dict[str, int] | None) -> str:
    if figures is None:
        return ""
    waiting = "  " + say("({count} wait)", count=figures["waiting"]) if figures["waiting"] else ""
    return f"{_figure(name, figures['placed'])}{waiting}"
