"""Read from events what happened to a record, what it said at any moment, and what stands behind a reply."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kenobot.cognitive.recall.prompt.usage import explain_turn, find_search
from kenobot.cognitive.store import records
from kenobot.cognitive.store.events import changes_since, decision_events, find_undo, record_events
from kenobot.language.lexicon import NEGATIONS, STOPWORDS
from kenobot.language.words import stems, terms, words
from kenobot.ports.browsing import ConfidencePoint, RecordFilter
from kenobot.ports.explanations import ReplyExplanation, UsedMemory
from kenobot.ports.records import ColumnValue, EventRow, HistoryStep, Record, RecordWords
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import Scopes, scope_names
from kenobot.storage.times import stamp

_SAY_LITTLE = STOPWORDS | NEGATIONS
_LEAST_OF_MOST = 0.5  # of the shared words of the memory that shares most
_PAGE = 500  # records that are read at a time
_TAKES_PLACE = frozenset({"created", "reinforced", "imported"})
_BOOKKEEPING = frozenset(
    "updated last_seen last_used use_count mentions stability confidence importance lifecycle".split()
)


def history(connection: Connection, record: int, reach: Scopes) -> list[HistoryStep]:
    """List what happened to a record, newest first; nothing when it is not within `reach`."""
    known = records.get(connection, record, reach)
    if known is None:
        return []
    steps: list[HistoryStep] = []
    after: dict[str, ColumnValue] = {}  # what the next change found
    for event in reversed(record_events(connection, record)):
        changes = [
            (name, before, after.get(name, getattr(known, name, None)))
            for name, before in sorted(event.previous_values.items())
            if name not in _BOOKKEEPING
        ]
        after |= event.previous_values
        steps.append(
            HistoryStep(
                event=event.id,
                at=event.at,
                actor=event.actor,
                kind=event.kind,
                session=event.session,
                reason=event.reason,
                changes=tuple(changes),
                undone=event.kind != "recalled" and find_undo(connection, event.decision_id) is not None,
                part_of=event.decision_id if event.decision_id != event.id else None,
                former=_list_former(connection, known, event, reach),
                current=_find_current(connection, event, reach),
            )
        )
    return steps


def _list_former(connection: Connection, known: Record, event: EventRow, reach: Scopes) -> tuple[RecordWords, ...]:
    """List the records within `reach` whose place a record took by a decision, in their own words."""
    if event.kind not in _TAKES_PLACE:
        return ()
    parts = decision_events(connection, event.decision_id)
    numbers = [part.record for part in parts if part.record is not None and part.data.get("by") == known.id]
    found = records.by_ids(connection, numbers, reach) if numbers else {}
    return tuple(RecordWords(each.id, each.text) for each in found.values())


def _find_current(connection: Connection, event: EventRow, reach: Scopes) -> RecordWords | None:
    """Return the record within `reach` that took another's place by an event."""
    by = event.data.get("by")
    record = records.get(connection, by, reach) if isinstance(by, int) and event.previous_values else None
    return RecordWords(record.id, record.text) if record is not None else None


def get_as_of(connection: Connection, record: int, moment: datetime, reach: Scopes) -> Record | None:
    """Rewind a record to `moment`; None when it was not there yet, or is not within `reach`."""
    known = records.get(connection, record, reach)
    return _rewind(connection, known, stamp(moment)) if known is not None else None


def list_alive_at(
    connection: Connection,
    reach: Scopes,
    moment: datetime,
    wanted: RecordFilter,
    limit: int,
    before: int | None = None,
) -> list[Record]:
    """List what was live at `moment`, as it was then, the newest first. before: only ids below.

    Reads records from the newest down until there are enough, with what happened to them since.
    """
    at, found, wanted = stamp(moment), list[Record](), replace(wanted, statuses=("active",))
    next_id = before if before is not None else records.last_record(connection) + 1
    while page := records.page_of_records(connection, reach, RecordFilter(forms=wanted.forms), next_id, _PAGE):
        since = changes_since(connection, [known.id for known in page], at)
        for known in page:
            if known.created > at and known.id not in since.born_before:
                continue
            record = _restore(known, since.changes.get(known.id, ()))
            if wanted.matches(record):
                found.append(record)
                if len(found) == limit:
                    return found
        next_id = page[-1].id
    return found


def list_confidence(connection: Connection, record: int, reach: Scopes) -> list[ConfidencePoint]:
    """List the confidence of a record from its making on; nothing when it is not within `reach`."""
    known = records.get(connection, record, reach)
    if known is None:
        return []
    points, value = list[ConfidencePoint](), known.confidence
    happened = record_events(connection, record)
    for event in reversed(happened):
        before = event.previous_values.get("confidence")
        if isinstance(before, int | float):
            points.append(ConfidencePoint(event.at, value, event.kind))
            value = float(before)
    return [ConfidencePoint(happened[0].at if happened else known.created, value, "created"), *reversed(points)]


def _rewind(connection: Connection, known: Record, at: str) -> Record | None:
    """Return `known` without what happened after `at`; None where it was not there yet."""
    since = changes_since(connection, [known.id], at)
    if known.created > at and known.id not in since.born_before:
        return None
    return _restore(known, since.changes.get(known.id, ()))


def _restore(known: Record, changes: Sequence[EventRow]) -> Record:
    """Return `known` without some changes, the newest first."""
    values: dict[str, Any] = {}
    for happening in changes:
        values.update({name: value for name, value in happening.previous_values.items() if name in Record._fields})
    return known._replace(**values)


def split_used(reply: ReplyExplanation) -> tuple[tuple[UsedMemory, ...], tuple[UsedMemory, ...]]:
    """Split the memories of a reply into those behind it and those that were only in view.

    Behind it are the memories that it quotes, then those recalled for it, then of those on show the ones that share
    most words with the exchange. Beside a quoted one, those on show and those recalled that share no word were in view.
    """
    # Two texts that share a denial may be about anything.
    meant = (word for word in words(f"{reply.question}\n{reply.answer}") if word not in _SAY_LITTLE)
    said = {stem for word in meant for stem in stems(word)}
    shared = {
        used.record_id: len(said.intersection(terms(used.record.text)))
        for used in reply.used_memories
        if used.record is not None
    }
    answer = _fold(reply.answer)
    present = [(used, used.record) for used in reply.used_memories if used.record is not None]
    quoted = [used for used, record in present if _fold(record.text) in answer]
    recalled = [used for used, _ in present if used.where == "message" and (shared[used.record_id] or not quoted)]
    most = max(shared.values(), default=0)
    least = max(1.0, _LEAST_OF_MOST * most)  # a name alone, which many memories hold, is no sign of use
    on_show = [used for used in reply.used_memories if used.where != "message" and not quoted]
    rest = [used for used in on_show if shared.get(used.record_id, 0) >= least]
    rest.sort(key=lambda used: -shared[used.record_id])
    behind: dict[int, UsedMemory] = {}
    for used in (*quoted, *recalled, *rest):
        behind.setdefault(used.record_id, used)
    return tuple(behind.values()), tuple(used for used in reply.used_memories if used.record_id not in behind)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def explain_last_reply(connection: Connection, session: str, reach: Scopes) -> ReplyExplanation | None:
    """Explain the last reply of a conversation that is not to be forgotten; None when there is none yet."""
    for answer in message_rows.iterate_messages(connection, session, newest_first=True):
        if answer.role != "assistant" or answer.inbox_id is None or answer.hidden:
            continue
        return _explain(connection, answer, answer.inbox_id, reach)
    return None


def explain_reply_to(connection: Connection, turn: int, reach: Scopes) -> ReplyExplanation | None:
    """Explain the reply to an inbox row; None without one in a conversation of `reach`, or one that is hidden."""
    scopes = scope_names(reach)
    for answer in message_rows.messages_of_turns(connection, [turn]):
        if answer.role == "assistant" and not answer.hidden:
            is_reached = scopes is None or answer.effective_scope in scopes
            return _explain(connection, answer, turn, reach) if is_reached else None
    return None


def _explain(connection: Connection, answer: MessageRow, turn: int, reach: Scopes) -> ReplyExplanation:
    said = message_rows.messages_of_turns(connection, [turn])
    question = next((row.text for row in said if row.role == "user" and row.session == answer.session), "")
    used, search = explain_turn(connection, turn, reach), find_search(connection, answer.session, turn)
    return ReplyExplanation(answer.session, turn, answer.at, question, answer.text, used, search)
