"""Read the inputs of a compaction: turns, and memories of what they say."""

from collections.abc import Sequence

from kenobot.cognitive.compact import summary_rows
from kenobot.cognitive.compact.self_check import MemoryLookup
from kenobot.cognitive.policy.remember import CompactPolicy
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.remember.extract.buffer import ConversationTurn
from kenobot.cognitive.remember.extract.known_memories import NearSearch
from kenobot.cognitive.store import records
from kenobot.cognitive.store.records import Record
from kenobot.ports.identity import chat_scope
from kenobot.storage.connection import Connection


def turns_between(connection: Connection, session: str, after: int, before: int, most: int) -> list[ConversationTurn]:
    """The turns of a conversation between two messages, oldest first, but those that are hidden or erased."""
    rows = summary_rows.messages_after(connection, session, after, 2 * most)
    found = buffer.group_turns([row for row in rows if row[0] < before], session)
    return found[:most]


def memory_lookup(connection: Connection, session: str, near: NearSearch, policy: CompactPolicy) -> MemoryLookup:
    """Finds the memories, of where a turn's words go and of its chat, that a sentence may be kept in."""

    def look(turn: ConversationTurn, sentence: str) -> Sequence[Record]:
        reach = tuple(dict.fromkeys((turn.scope, chat_scope(session))))
        found = records.by_ids(connection, list(near(connection, sentence, reach, policy.max_memories_compared)), reach)
        return [record for record in found.values() if record.status == "active" and record.form != "summary"]

    return look
