"""What became known since the frozen beginning of a prompt was made, as notes that stand beside the next message."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from kenobot.agent.prompt import conversation_summary
from kenobot.agent.prompt.runtime_block import escape_runtime_block
from kenobot.cognitive.recall import full_load, usage
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import ChangeFilter, Record
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import PromptPrefix

NOT_IN_PREFIX = ("procedure", "summary", "entity", "box")  # each message shows those that fit it
_MOST_TOKENS = 1500
_MOST_ROWS = 100
_LAG = 500  # events; a frame's row is large, so what it need not show is stepped over once in a while


@dataclass(frozen=True, slots=True)
class MemoryUpdates:
    """Notes for the next message, the records they are of, and the frame with them counted as shown."""

    text: str
    records: tuple[int, ...]
    prefix: PromptPrefix


def updates_since(
    connection: Connection, frame: PromptPrefix, scopes: tuple[str, ...], zone: ZoneInfo, *, searched: bool
) -> MemoryUpdates | None:
    """What became known since the frame; None when that cannot be told by adding to it.

    It cannot when something on show was changed or taken back, or a person edited a MEMORY.md. searched: whether the
    rest of memory is looked through for each message; if it is not, the frame stands for all there is, and no change
    may pass it by.
    """
    if store.last_change(connection, scopes) <= frame.last_event:
        return MemoryUpdates("", (), frame)
    if any(store.last_edit_event(connection, scope) > frame.last_event for scope in scopes):
        return None
    newest = events.last_event(connection)
    only = ChangeFilter(frame.last_record, *usage.records_in_prompt(connection, frame.session)) if searched else None
    changed = store.changed_since(connection, scopes, frame.last_event, _MOST_ROWS, only)
    if len(changed) >= _MOST_ROWS:
        return None
    told = [record for record in changed if not _stands_elsewhere(record)]
    if any(record.id <= frame.last_record or record.status != "active" or record.form == "profile" for record in told):
        return None
    text = _text(told, chat_scope(frame.session), zone)
    if estimate_tokens(text) > _MOST_TOKENS:
        return None
    if changed or newest - frame.last_event > _LAG:
        frame = replace(
            frame, last_event=newest, last_record=max((frame.last_record, *(record.id for record in changed)))
        )
    return MemoryUpdates(text, tuple(record.id for record in told), frame)


def _stands_elsewhere(record: Record) -> bool:
    """Whether it is shown by something else than notes, or by nothing."""
    return (
        record.form in ("scratchpad", *NOT_IN_PREFIX)
        or (record.scope == OWNER_SCOPE and record.category == "preference")
        or conversation_summary.is_summary(record)
    )


def _text(records: Sequence[Record], here: str, zone: ZoneInfo) -> str:
    """here: the scope of the chat."""
    entries: dict[bool, list[str]] = {False: [], True: []}
    for record in records:
        entries[record.scope == here].append(escape_runtime_block(full_load.render_log_entry(record, zone)))
    headings = {False: "### Recent notes", True: "### Chat-specific memory"}
    return "\n\n".join("\n".join((headings[own], "\n\n".join(each))) for own, each in entries.items() if each)
