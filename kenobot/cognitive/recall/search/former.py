"""Find the former memories that those which a search found took the place of, where a question asks for the past.

Nothing that was forgotten, taken back or corrected as wrong, and of what was told in a group only the asker's own. That
it was so until then is said where the words that replaced it tell of a change; else only that it was told before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.results.memory import FormerMemory, MemoryQuery
from kenobot.cognitive.recall.results.render import render_former
from kenobot.cognitive.store import records
from kenobot.cognitive.store.tellers import select_told_by
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.calendar import local_day, parse_time
from kenobot.language.changes.replacement_kind import ReplacementKind, classify_replacement
from kenobot.language.fingerprint import key_of
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection

_MOST = 8  # of one answer
# Events that end a record. "undone": an undo of an undo ended it again. "": its file says so, and no event.
_ENDINGS = frozenset({"superseded", "invalidated", "undone", ""})
_OF_SLEEP, _OTHERWISE = " sleep ", "reasons.later_otherwise"


@dataclass(frozen=True, slots=True)
class _Replaced:
    """A record as it was. by: the record that took its place, or a part of it. ended: when, ISO-8601 text.

    wrong: it was ended as no longer true, which a model says of what changed as well. partly: a part of it holds.
    """

    record: Record
    by: Record | None
    ended: str
    wrong: bool = False
    partly: bool = False


def find_former(
    connection: Connection, found: Sequence[Record], query: MemoryQuery, room: int
) -> tuple[FormerMemory, ...]:
    """Find what `found` took the place of, the nearest first; nothing for other questions. room: tokens left for it."""
    if not found or not query.asks_past:
        return ()
    numbers = [record.id for record in found]
    replaced = [*_list_ended(connection, numbers, query), *_list_amended(connection, numbers, query)]
    forgotten = recall_rows.select_forgotten_keys(
        connection, ((each.record.scope, key_of(each.record.text)) for each in replaced)
    )
    told = [each for each in replaced if (each.record.scope, key_of(each.record.text)) not in forgotten]
    turns = {turn for each in told for one in (each.record, each.by) if one for turn in one.source_message_ids}
    said = {row.inbox_id: row for row in message_rows.messages_of_turns(connection, turns) if row.role == "user"}
    hidden = {turn for turn, row in said.items() if row.hidden}
    asker = {query.account} if query.account else set[str]()
    both = {one.id: one for each in told for one in (each.record, each.by) if one}
    own = {record.id for record in select_told_by(connection, both.values(), asker)}
    kept: list[FormerMemory] = []
    for each in told:
        if not hidden.isdisjoint(each.record.source_message_ids) or each.record.id not in own:
            continue
        message = next((said[turn].text for turn in each.by.source_message_ids if turn in said), "") if each.by else ""
        kind = _find_kind(each, message)
        if kind == "correction":
            continue
        held = kind == "change" and each.by is not None and each.by.id in own
        former = _render(each, query, held=held)
        if former.tokens <= room and len(kept) < _MOST:
            room -= former.tokens
            kept.append(former)
    return tuple(kept)


def _list_ended(connection: Connection, found: Sequence[int], query: MemoryQuery) -> Iterator[_Replaced]:
    """List the records that gave way to others, whole."""
    rows = {row.id: row for row in reversed(recall_rows.list_former(connection, found, query.reach))}
    known = records.by_ids(connection, [*rows, *(row.by for row in rows.values())], query.reach)
    for row in reversed(rows.values()):
        record, (kind, by_sleep, reason) = known[row.id], row.how.partition(_OF_SLEEP)
        if kind not in _ENDINGS or (by_sleep and reason != _OTHERWISE):
            continue  # merged with what says the same
        if record.status == "invalidated" and kind != "invalidated":
            continue  # taken back
        yield _Replaced(record, known.get(row.by), record.valid_to or record.updated, record.status == "invalidated")


def _list_amended(connection: Connection, found: Sequence[int], query: MemoryQuery) -> Iterator[_Replaced]:
    """List records as they were before other words took a part of them."""
    rows = recall_rows.list_former_texts(connection, found, query.reach)
    known = records.by_ids(connection, [number for row in rows for number in (row.id, row.by)], query.reach)
    for row in rows:
        if row.id in known:
            yield _Replaced(known[row.id]._replace(text=row.text), known.get(row.by), row.at, partly=True)


def _find_kind(replaced: _Replaced, message: str) -> ReplacementKind:
    """Return why a record gave way. message: that told of what took its place."""
    if replaced.by is None:
        return "correction" if replaced.wrong else "unknown"
    if replaced.by.source == "command":
        return "correction"
    kind = classify_replacement(replaced.record.text, replaced.by.text, message)
    return "correction" if replaced.wrong and kind != "change" else kind


def _render(replaced: _Replaced, query: MemoryQuery, *, held: bool) -> FormerMemory:
    at = parse_time(replaced.ended)
    former = FormerMemory(replaced.record, local_day(at, query.zone) if at else "", held, replaced.partly)
    line = render_former(former, query.zone)
    return replace(former, line=line, tokens=estimate_tokens(line + "\n"))
