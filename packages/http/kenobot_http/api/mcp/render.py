"""Render what the tools of MCP found in memory, one fact a line, for a model that reads it."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from kenobot.cognitive.memory import Memory, RecalledMemory, SearchReport
from kenobot.language.calendar import parse_time
from kenobot.ports.memory_changes import ForgetResult
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import scope_names
from kenobot_http.api.services import Caller

_LONGEST = 1000  # characters of a quotation
_QUOTED = 3  # messages that told a memory


def render_recall(connection: Connection, caller: Caller, report: SearchReport) -> str:
    """Render what was found. Messages that no memory was made of need the scope messages, as in the REST API."""
    lines = [line for memory in report.memories for line in _memory(connection, caller, memory)]
    lines += [f"before: {flatten(each.line.removeprefix('- '))}" for each in report.former]
    if "messages" in caller.key.scopes:
        zone = caller.services.zone
        for each in report.excerpts:
            who = "said" if each.turn.role == "user" else "answered"
            lines.append(f"{who} in {each.turn.session}, {_local(each.turn.at, zone)}: {flatten(each.turn.text)}")
    if not lines:
        return "No memory fits that."
    return "\n".join([*lines, f"Certainty: {report.level}."])


def _memory(connection: Connection, caller: Caller, found: RecalledMemory) -> Iterator[str]:
    record, zone = found.record, caller.services.zone
    by = f", told by {record.by}" if record.by else ""
    yield f"#{record.id} {flatten(record.text)}"
    yield (
        f"  what: {record.form} ({record.category}) about {record.subject}{by}; trust {record.trust}, "
        f"confidence {found.current_confidence:.2f}"
    )
    since = _local(record.valid_from or record.created, zone)
    until = f", until {_local(record.valid_to, zone)}" if record.valid_to else ""
    yield f"  since: {since}{until}"
    yield from _origin(connection, caller, record)
    if because := found.explain().sentence():
        yield f"  found: {because}"


def _origin(connection: Connection, caller: Caller, record: Record) -> Iterator[str]:
    """Render the messages that told a record; without one, its source."""
    zone, told = caller.services.zone, record.source_message_ids[:_QUOTED]
    said = [message for _, message in Memory.history.list_quotations(connection, told, caller.reach)]
    for message in said:
        yield f"  from: {message.session}, {_local(message.at, zone)}: “{flatten(message.text)}”"
    if not said:
        yield f"  from: {record.source}, {_local(record.created, zone)}"


def render_forgetting(connection: Connection, caller: Caller, taken: ForgetResult) -> str:
    """Render all that a forgetting takes out of sight: the memory, what repeats it, the messages that told it."""
    lines = [f"#{record.id} {flatten(record.text)}" for record in (taken.record, *taken.copies)]
    scopes = scope_names(caller.reach)
    for message in message_rows.messages_of_turns(connection, taken.turns):
        if message.role == "user" and (scopes is None or message.effective_scope in scopes):
            at = _local(message.at, caller.services.zone)
            lines.append(f"what was said in {message.session}, {at}: {flatten(message.text)}")
    return "\n".join(lines)


def flatten(text: str) -> str:
    """Return a text in one line, so that none of its own passes for one of an answer's."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


def _local(moment: str, zone: ZoneInfo) -> str:
    at = parse_time(moment)
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}" if at is not None else moment
