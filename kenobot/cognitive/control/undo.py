"""Undo a decision: all that it changed or nothing, as an event that can be undone in its turn."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kenobot.cognitive.compact import summary_rows
from kenobot.cognitive.control.forget import Actor, is_said_only_by, update_hidden_turns
from kenobot.cognitive.remember import derived_texts
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, imported_talks, links
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.ports.identity import chat_scope
from kenobot.ports.json_value import Json
from kenobot.ports.memory_changes import ChangeContext, UndoError, UndoResult
from kenobot.ports.records import ColumnValue, EventRow, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation
from kenobot.storage.connection import Connection, savepoint
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

_LATELY = timedelta(days=1)
_MEANING = frozenset("text category subject attributes tier trust key status".split())
_BIRTHS = frozenset({"created", "imported"})
_NOT_A_CHANGE = frozenset({"recalled", "undone", "purged"})
_OWN_CHANGE = "own_change"  # marks an undo that a later "undo" takes back, as it does any other change
_TAKEN_BACK = "invalidated"  # what becomes of a record when its making is undone

BY_ITSELF = (summary_rows.ACTOR, "sleep")
"""Actors whose changes nobody means who says "undo that" in a chat."""


def undo_all(connection: Connection, decisions: Sequence[int], reach: Scopes, occasion: AdmitContext) -> UndoResult:
    """Undo several decisions, the newest first, as one that counts as a change of its own.

    Raises UndoError, and then nothing has changed.
    """
    with savepoint(connection, "undo_all"):
        first = undo(connection, decisions[0], reach, occasion)
        rest = [undo(connection, each, reach, replace(occasion, part_of=first.event)) for each in decisions[1:]]
        events.extend_event(connection, first.event, {_OWN_CHANGE: True})
    before = tuple(record for done in (first, *rest) for record in done.before)
    after = tuple(record for done in (first, *rest) for record in done.after)
    return UndoResult(first.event, first.undone_event, first.kind, before, after)


def undo(connection: Connection, event: int, reach: Scopes, actor: Actor, author: str = "") -> UndoResult:
    """Put back what the decision that `event` belongs to changed. Raises UndoError, and then nothing has changed.

    A decision is undone whole. What changed again since stands in the way, bookkeeping excepted, which stays as it is.
    """
    root, happenings, changing, records = _read_decision(connection, event, reach)
    with savepoint(connection, "undo"):
        return _put_back(connection, root, happenings, changing, records, reach, actor, author)


def can_undo(connection: Connection, event: int, reach: Scopes) -> bool:
    """Return whether a decision can be undone as things are."""
    try:
        _, _, changing, records = _read_decision(connection, event, reach)
        for record in records.values():
            _require_free(connection, record, _plan(connection, record, changing), records)
    except UndoError:
        return False
    return True


def _read_decision(
    connection: Connection, event: int, reach: Scopes
) -> tuple[int, Sequence[EventRow], Sequence[EventRow], dict[int, Record]]:
    """Read the decision that an event belongs to: its first event, all, those that changed a record, and these records.

    Raises UndoError where there is nothing to put back, or it was put back before.
    """
    named = events.get_event(connection, event)
    happenings = events.decision_events(connection, named.decision_id) if named is not None else []
    told = [h for h in happenings if h.kind != "recalled"]
    changing = [h for h in told if h.previous_values or (h.kind in _BIRTHS and h.record is not None)]
    theirs = _theirs(connection, changing, reach)
    records = {number: record for number, record in theirs.items() if record.form not in store.HOLDERS}
    # A week that went with a fact it told of is summed up anew, and need not come back as it was.
    weeks = {n for n, r in records.items() if (r.form, r.category, r.status) == ("summary", "week", "forgotten")}
    records = {number: record for number, record in records.items() if number not in weeks} or records
    about = [h.record for h in happenings if h.record is not None]
    if not happenings or (about and not changing and not store.by_ids(connection, about, reach)):
        raise UndoError("memory.no_change", event=event)
    if not records:
        raise UndoError("memory.nothing_to_undo", event=event)
    root = happenings[0].id
    if (again := events.find_undo(connection, root)) is not None:
        raise UndoError("memory.undone_already", root=root, again=again)
    return root, happenings, changing, records


def changes_only_words_of(connection: Connection, event: int, author: str, reach: Scopes) -> bool:
    """Return whether a decision changed nothing within `reach`, a group's, but what this account alone said."""
    named = events.get_event(connection, event)
    happenings = events.decision_events(connection, named.decision_id) if named is not None else []
    numbers = sorted({happening.record for happening in happenings if happening.record is not None})
    changed = [each for each in store.by_ids(connection, numbers, reach).values() if each.form not in store.HOLDERS]
    return bool(changed) and all(is_said_only_by(connection, record, author) for record in changed)


def last_undoable_event(connection: Connection, scopes: Iterable[str], author: str = "") -> int | None:
    """Find the newest decision in these scopes that changed what is remembered and is not undone; None: none.

    author: the account in a group whose words alone it changed; "" for anybody's.
    What sleep and compaction did by themselves does not count: `kenobot sleep undo` takes a night back.
    """
    reach = tuple(scopes)
    for happening in events.newest_events(connection, reach, BY_ITSELF):
        changed = happening.kind in _BIRTHS or _MEANING.intersection(happening.previous_values)
        counts = changed and (happening.kind not in _NOT_A_CHANGE or happening.data.get(_OWN_CHANGE) is True)
        if not counts or events.find_undo(connection, happening.decision_id) is not None:
            continue
        if not author or changes_only_words_of(connection, happening.decision_id, author, reach):
            return happening.decision_id
    return None


def find_last_told(connection: Connection, session: str, scope: str, at: datetime) -> dict[int, str]:
    """Find what the last message that told anything in a chat had remembered, within a day before `at`.

    Return its decisions, the newest first, each with its memory. scope: to which the chat writes.
    """
    reach = tuple(dict.fromkeys((scope, chat_scope(session))))
    found: dict[int, str] = {}
    turn: tuple[int, ...] | None = None
    for event in events.newest_events(connection, reach, BY_ITSELF):
        if at - datetime.fromisoformat(event.at) > _LATELY:
            break
        if event.session != session or event.kind != "created" or event.record is None:
            continue
        record = store.get(connection, event.record, reach)
        if record is None or record.status != "active" or events.find_undo(connection, event.decision_id) is not None:
            continue
        turn = record.source_message_ids if turn is None else turn
        if record.source_message_ids != turn or (found and not turn):
            break
        found.setdefault(event.decision_id, record.text)
    return found


def _theirs(connection: Connection, happenings: Sequence[EventRow], reach: Scopes) -> dict[int, Record]:
    """Query the records that these events changed. Raises UndoError when one is gone, or is not within `reach`."""
    numbers = sorted({h.record for h in happenings if h.record is not None})
    records = store.by_ids(connection, numbers, reach)
    if numbers and not records:
        raise UndoError("memory.no_such_change")
    for number in numbers:
        if number not in records:
            raise UndoError("memory.cannot_undo", number=number)
    return records


def _put_back(
    connection: Connection,
    root: int,
    happenings: Sequence[EventRow],
    changing: Sequence[EventRow],
    records: dict[int, Record],
    reach: Scopes,
    deed: Actor,
    author: str,
) -> UndoResult:
    plans = {number: _plan(connection, records[number], changing) for number in records}
    act = deed.change_context(Sentence("reasons.undo", event=root))
    first: int | None = None
    # What leaves comes before what comes back: two may have had the same words, one after the other.
    for number in sorted(plans, key=lambda each: (plans[each].get("status") == "active", -each)):
        values = plans[number]
        _require_free(connection, records[number], values)
        if values.get("status") == _TAKEN_BACK:
            values.setdefault("valid_to", stamp(act.at))
        values["updated"] = stamp(act.at)
        part = ChangeContext(act.at, act.actor, act.reason, act.session, part_of=act.part_of or first)
        data: dict[str, Json] = {"undoes": root} if first is None else {}
        event = change(connection, records[number], "undone", values, part, data=data)
        first = first if first is not None else event
    assert first is not None
    cut = _links(connection, happenings, deed)
    if cut:
        events.extend_event(connection, first, {"links": cut})
    after = store.by_ids(connection, list(records), reach)
    for record in after.values():
        if records[record.id].status != record.status:
            update_hidden_turns(connection, record, deed.at, author)
    _turn_talk(connection, happenings)
    _let_follow(connection, records, after, cut, act)
    return UndoResult(first, root, happenings[0].kind, tuple(records.values()), tuple(after.values()))


def _let_follow(
    connection: Connection,
    before: Mapping[int, Record],
    after: Mapping[int, Record],
    cut: Sequence[Json],
    act: ChangeContext,
) -> None:
    """Let texts that were made of these records follow them once more. cut: the supersessions that are no more."""
    returned = dict(_pairs([*cut]))
    for number, record in before.items():
        now = after[number]
        if now.status == "active" == record.status:
            if now.text != record.text:
                derived_texts.follow_change(connection, record, now, act, now.text)
        elif record.status == "active" and now.status != "forgotten":
            older = after.get(returned.get(number, 0))
            current = older or store.successor(connection, number, (record.scope,))
            derived_texts.follow_change(connection, record, current, act)


def _turn_talk(connection: Connection, happenings: Sequence[EventRow]) -> None:
    """Hide the talk that an import brought, where that is undone; show it again where the undoing is."""
    parts, is_taken_back = happenings, True
    while (earlier := parts[0].data.get("undoes")) is not None and isinstance(earlier, int):
        parts, is_taken_back = events.decision_events(connection, earlier), not is_taken_back
    for record, ranges in imported_talks.turns_of(parts).items():
        if is_taken_back:
            conversation.hide_turns(connection, imported_talks.expand_turns(connection, ranges), record)
        else:
            conversation.unhide_turns(connection, record)


def _plan(connection: Connection, record: Record, changing: Sequence[EventRow]) -> dict[str, ColumnValue]:
    """Plan what the columns of `record` are to hold again. Raises UndoError when something changed them since."""
    mine = [happening for happening in changing if happening.record == record.id]
    later = [happening for happening in events.record_events(connection, record.id) if happening.id > mine[-1].id]
    values: dict[str, ColumnValue] = {}
    for happening in reversed(mine):
        values.update(happening.previous_values)
    if any(happening.kind in _BIRTHS for happening in mine):
        values = {"status": _TAKEN_BACK if record.status == "active" else record.status}
    for name in list(values):
        since = [happening for happening in later if name in happening.previous_values]
        now = store.column_values(connection, record, [name])[0]
        if not since or since[0].previous_values[name] == now:
            continue
        if name in _MEANING:
            raise UndoError("memory.changed_since", record=record.id, change=since[-1].decision_id)
        del values[name]
    return values


def _require_free(
    connection: Connection, record: Record, values: dict[str, ColumnValue], leaving: Collection[int] = ()
) -> None:
    """Refuse to bring back a second live record that says the same. Raises UndoError.

    leaving: records that are put back before, and so are not in the way.
    """
    if values.get("status", record.status) != "active":
        return
    key = str(values.get("key", store.column_values(connection, record, ["key"])[0]))
    twin = store.by_key(connection, record.scope, record.form, key)
    if twin is not None and twin.id != record.id and twin.id not in leaving:
        raise UndoError("memory.cannot_return", record=record.id, twin=twin.id)


def _links(connection: Connection, happenings: Sequence[EventRow], deed: Actor) -> list[Json]:
    """Take back the supersessions of a decision; of an undo, set those again that it took back.

    Returns what was taken back, as pairs of new and old.
    """
    for happening in happenings:
        for pair in _pairs(happening.data.get("links")) if happening.kind == "undone" else ():
            links.restore_supersedes_link(connection, *pair, stamp(deed.at))
    if happenings[0].kind == "undone":
        return []
    touched = sorted({h.record for h in happenings if h.record is not None})
    return [[src, dst] for src, dst in links.remove_supersedes_links(connection, touched)]


def _pairs(told: Json) -> Iterator[tuple[int, int]]:
    for pair in told if isinstance(told, list) else []:
        match pair:
            case [int(new), int(old)]:
                yield new, old
