"""Read from events what happened to a record, what it said at any moment, and what stands behind a reply."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kenobot.cognitive.recall.prompt.usage import explain_turn
from kenobot.cognitive.store import records
from kenobot.cognitive.store.events import find_undo, record_events
from kenobot.language.lexicon import NEGATIONS, STOPWORDS
from kenobot.language.words import stems, terms, words
from kenobot.ports.explanations import ReplyExplanation, UsedMemory
from kenobot.ports.records import ColumnValue, HistoryStep, Record
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

_SAY_LITTLE = STOPWORDS | NEGATIONS
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
            )
        )
    return steps


def get_as_of(connection: Connection, record: int, moment: datetime, reach: Scopes) -> Record | None:
    """Rewind a record to `moment`; None when it was not there yet, or is not within `reach`."""
    known = records.get(connection, record, reach)
    return _rewind(connection, known, stamp(moment)) if known is not None else None


def list_alive_at(
    connection: Connection, reach: Scopes, moment: datetime, forms: Sequence[str], limit: int
) -> list[Record]:
    """List what was remembered at `moment`, as it was worded then, newest first. forms: none means any.

    Reads every record there is in these scopes: for a person who waits, not for a turn.
    """
    at = stamp(moment)
    found: list[Record] = []
    for known in records.list_records(connection, reach, (), forms):
        record = _rewind(connection, known, at)
        if record is not None and record.status == "active":
            found.append(record)
            if len(found) == limit:
                break
    return found


def _rewind(connection: Connection, known: Record, at: str) -> Record | None:
    """Return `known` without what happened after `at`."""
    events = record_events(connection, known.id)
    born = events[0].at if events else known.created
    if min(born, known.created) > at:
        return None
    values: dict[str, Any] = {}
    for happening in reversed(events):
        if happening.at <= at:
            break
        values.update({name: value for name, value in happening.previous_values.items() if name in Record._fields})
    return known._replace(**values)


def split_used(reply: ReplyExplanation) -> tuple[tuple[UsedMemory, ...], tuple[UsedMemory, ...]]:
    """Split the memories of a reply into those behind it and those that were only in view.

    Behind it are the memories that it quotes, then those recalled for it, then those on show that share words with the
    exchange, those with the most words first. Beside a quoted one, those recalled that share no word were in view.
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
    rest = [used for used in reply.used_memories if used.where != "message" and shared.get(used.record_id)]
    rest.sort(key=lambda used: -shared[used.record_id])
    behind: dict[int, UsedMemory] = {}
    for used in (*quoted, *recalled, *rest):
        behind.setdefault(used.record_id, used)
    return tuple(behind.values()), tuple(used for used in reply.used_memories if used.record_id not in behind)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def explain_last_reply(connection: Connection, session: str, reach: Scopes) -> ReplyExplanation | None:
    """Explain the last reply of a conversation that is not to be forgotten; None when there is none yet."""
    for answer in conversation.iterate_messages(connection, session, newest_first=True):
        if answer.role != "assistant" or answer.inbox_id is None or answer.hidden:
            continue
        turn = conversation.messages_of_turns(connection, [answer.inbox_id])
        question = next((row.text for row in turn if row.role == "user" and row.session == session), "")
        used = explain_turn(connection, answer.inbox_id, reach)
        return ReplyExplanation(session, answer.inbox_id, answer.at, question, answer.text, used)
    return None
