"""Select the memories to compare with a batch of turns."""

from collections.abc import Callable, Sequence

from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.store import records, term_index
from kenobot.cognitive.store.tellers import is_of_group, select_told_by
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.ports.names import label_id
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

NearSearch = Callable[[Connection, str, Scopes, int], Sequence[int]]
"""Finds at most so many live records within a reach that a text is about, best first."""

GUIDELINES = "guidelines"
"""The slot of what experience says about what to note. It holds figures by kind, and nobody's words."""

_TEXT = 1000  # characters of a turn that are looked for
_NEWEST, _ALIKE = 48, 16  # memories that a text may change: the newest, and those with its words
_LATEST = 256  # memories among which those of the last turns are, also where many chats talk at once


def near_by_subject(connection: Connection, text: str, reach: Scopes, limit: int) -> Sequence[int]:
    """Return what is remembered of the person whose scope it is: the way without an index."""
    scopes = reach if isinstance(reach, tuple) else ()
    found = [pair for scope in scopes for pair in term_index.neighbours(connection, scope, OWNER_SUBJECT, text, limit)]
    return [record.id for record, _ in sorted(found, key=lambda pair: -pair[1])[:limit]]


def select_known(
    connection: Connection, *, session: str, turns: Sequence[ConversationTurn], policy: ExtractPolicy, near: NearSearch
) -> list[Record]:
    """Select the memories that `turns` may repeat or contradict, of their scope and chat: own, similar, newest."""
    told = [turn for turn in turns if not turn.hidden]
    if not told:
        return []
    reach = tuple(dict.fromkeys((turns[0].scope, chat_scope(session))))
    newest = [
        record
        for scope in reach
        for record in records.select(
            connection, records.LIVE, (), (scope,), order="day DESC, id DESC", limit=policy.max_known
        )
    ]
    witnesses = {turn.inbox_id for turn in told if turn.inbox_id is not None}
    own = [record for record in newest if witnesses & set(record.source_message_ids)]
    each = max(2, policy.max_known // (2 * len(told)))
    ids = [number for turn in told for number in near(connection, turn.text[-_TEXT:], reach, each)]
    alike = records.by_ids(connection, list(dict.fromkeys(ids)), reach)
    ordered = [*own, *(alike[number] for number in ids if number in alike), *newest]
    live = (record for record in ordered if record.status == "active" and record.form in ("note", "episode"))
    return list({record.id: record for record in live}.values())[: policy.max_known]


def select_told(
    connection: Connection, *, session: str, turns: Sequence[ConversationTurn], policy: ExtractPolicy
) -> list[Record]:
    """Select the memories that count one of `turns` as having said so: what the tags of its reply stored.

    They are among the newest; where none is, a tag may have repeated an older one, which has words of the turn.
    """
    told = [turn for turn in turns if not turn.hidden and turn.inbox_id is not None]
    if not told:
        return []
    reach = tuple(dict.fromkeys((turns[0].scope, chat_scope(session))))
    wanted = {turn.inbox_id for turn in told if turn.inbox_id is not None}
    ids = [n for scope in reach for n in records.newest_from_messages(connection, scope, wanted, _LATEST)]
    found = records.by_ids(connection, ids, reach)
    missing = wanted.difference(*(record.source_message_ids for record in found.values()))
    if missing and not any(records.has_more(connection, scope, _LATEST) for scope in reach):
        missing = set()
    for turn in told:
        if turn.inbox_id in missing:
            older = near_by_subject(connection, turn.text[-_TEXT:], reach, policy.max_known)
            found |= records.by_ids(connection, older, reach)
    facts = (record for record in found.values() if record.form in ("note", "episode"))
    return [record for record in facts if wanted.intersection(record.source_message_ids)]


def live_memories(connection: Connection, *, scope: str) -> list[Record]:
    """Select the newest live facts of a scope, oldest first: those that may be over."""
    ids = [number for number, _ in records.iterate_newest_live(connection, (scope,), _LATEST)]
    found = records.by_ids(connection, ids, (scope,)).values()
    facts = (record for record in found if record.form in ("note", "episode"))
    return sorted(facts, key=lambda record: (record.valid_from, record.id))


def live_memories_of(connection: Connection, turn: ConversationTurn) -> list[Record]:
    """Select the newest live facts that rules may end by a turn, oldest first.

    In a group those alone that its own account told, and nobody else.
    """
    found = live_memories(connection, scope=turn.scope)
    if not is_of_group(turn.scope):
        return found
    turns = {number for record in found for number in record.source_message_ids} if turn.speaker_id else ()
    written = set(conversation.authors(connection, turns).values())
    return select_told_by(connection, found, {each for each in written if label_id(each) == turn.speaker_id})


def changeable_memories(connection: Connection, *, scope: str, text: str) -> list[Record]:
    """Select the live facts of a scope that a text may change, oldest first: the newest, and those with its words."""
    ids = [number for number, _ in records.iterate_newest_live(connection, (scope,), _NEWEST)]
    alike = term_index.neighbours(connection, scope, OWNER_SUBJECT, text[-_TEXT:], _ALIKE)
    found = records.by_ids(connection, list(dict.fromkeys([*ids, *(record.id for record, _ in alike)])), (scope,))
    facts = (each for each in found.values() if each.form in ("note", "episode") and each.status == "active")
    return sorted(facts, key=lambda record: (record.valid_from, record.id))


def guidelines(connection: Connection) -> str:
    """Return what experience says about what to note, as sleep wrote it down last; "" before it has."""
    record = records.slot_record(connection, OWNER_SCOPE, "profile", GUIDELINES)
    return record.text if record is not None else ""
