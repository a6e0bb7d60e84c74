"""Read what became known since the beginning of a prompt was made, as notes beside the next message."""

from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from kenobot.cognitive.compact import digest
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.recall.results.memory import MemoryEntry, MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import render_log_entry
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import ChangeFilter, Record
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import PromptPrefix

_NOT_IN_PREFIX = ("procedure", "summary", "entity", "box")  # each message shows those that fit it
_STALE = MemoryPack(stale=True)
_MAX_TOKENS = 1500
_MAX_ROWS = 100
_LAG = 500  # events; a prefix is a large row, which is not written anew for each event that it need not show


def read_updates(connection: Connection, query: MemoryQuery, prefix: PromptPrefix, *, searched: bool) -> MemoryPack:
    """The updates since `prefix`; a stale pack when adding to the prefix cannot tell them.

    It cannot when a record on show was changed or taken back, or a person edited a MEMORY.md. searched: memory is
    searched for each message; else the prefix stands for all of memory, and no change may pass it by.
    """
    scopes = query.scopes
    if store.last_change(connection, scopes) <= prefix.last_event:
        return MemoryPack(prefix=prefix)
    if any(store.last_edit_event(connection, scope) > prefix.last_event for scope in scopes):
        return _STALE
    newest = events.last_event(connection)
    only = ChangeFilter(prefix.last_record, *usage.records_in_prompt(connection, prefix.session)) if searched else None
    changed = store.changed_since(connection, scopes, prefix.last_event, _MAX_ROWS, only)
    if len(changed) >= _MAX_ROWS:
        return _STALE
    updates = [record for record in changed if not _stands_elsewhere(record)]
    if any(
        record.id <= prefix.last_record or record.status != "active" or record.form == "profile" for record in updates
    ):
        return _STALE
    text = _render(updates, chat_scope(prefix.session), query.zone)
    if estimate_tokens(text) > _MAX_TOKENS:
        return _STALE
    if changed or newest - prefix.last_event > _LAG:
        last_record = max((prefix.last_record, *(record.id for record in changed)))
        prefix = replace(prefix, last_event=newest, last_record=last_record)
    entries = tuple(MemoryEntry(record.id, "updates") for record in updates)
    return MemoryPack({"updates": text}, (text,), entries, prefix=prefix)


def _stands_elsewhere(record: Record) -> bool:
    """Return whether another part of the prompt shows it, or none does. A live summary is shown where it matters."""
    return (
        record.form in ("scratchpad", *_NOT_IN_PREFIX)
        or (record.scope == OWNER_SCOPE and record.category == "preference")
        or (record.key == digest.KEY and record.status == "active")
    )


def _render(records: Sequence[Record], chat: str, zone: ZoneInfo) -> str:
    entries: dict[bool, list[str]] = {False: [], True: []}
    for record in records:
        entries[record.scope == chat].append(render_log_entry(record, zone))
    headings = {False: "### Recent notes", True: "### Chat-specific memory"}
    return "\n\n".join("\n".join((headings[own], "\n\n".join(each))) for own, each in entries.items() if each)
