"""Remember a message before its reply, by rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.lifecycle import RESOLVED_ATTRIBUTE
from kenobot.cognitive.compact import summary_rows
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract import buffer, known_memories
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.remember.held_secrets import find_secret
from kenobot.cognitive.remember.nearness import Nearness
from kenobot.cognitive.store import events
from kenobot.core import lazy
from kenobot.language.provenance import without_quotes
from kenobot.ports.identity import Principal
from kenobot.ports.json_value import Json
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.names import label_id
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn
from kenobot.storage.connection import Connection
from kenobot.storage.inbox_rows import PendingMessage

if TYPE_CHECKING:
    from kenobot.cognitive.remember.edited_memory import MemoryChange
    from kenobot.language.facts.rule_extraction import RuleFacts
    from kenobot.ports.turns import EditedWords, UnextractedTurn

_MENTION = lazy.regex(r"\A@\w+[\s,:]*")
_LAST = 2**62  # a message row behind every other


class Telling:
    """Remember what one message tells; inside a transaction of the caller."""

    @staticmethod
    def build_turn(pending: PendingMessage, principal: Principal) -> ConversationTurn | None:
        """Return a message as a turn to be extracted; None for words that are not the speaker's own."""
        inbound = pending.inbound
        if inbound.forwarded or principal.trust not in ("owner", "guest"):
            return None
        in_group = principal.write_scope.startswith("chat:")
        return ConversationTurn(
            _LAST,
            pending.id,
            without_quotes(inbound.text if inbound.private else _MENTION.sub("", inbound.text)),
            "",
            inbound.sent_at,
            principal.trust,
            principal.write_scope,
            inbound.user_name if in_group else "",
            label_id(inbound.user) if in_group else "",
        )

    @staticmethod
    def extract(
        connection: Connection, session: str, turn: ConversationTurn, zone: ZoneInfo, *, final: bool
    ) -> "RuleFacts":
        """Extract the facts of a turn by rules, and name the memories that they end.

        final: no model extracts the same turn later.
        """
        from kenobot.language.facts import heuristic
        from kenobot.language.facts.rule_extraction import extract_by_rules, mark_as_rules

        known: Sequence[Record] = ()
        if heuristic.may_end_something(turn.text):
            known = known_memories.live_memories_of(connection, turn)
        before = buffer.find_said_before(connection, session=session, turn=turn)
        said = turn.at.astimezone(zone).date()
        found = extract_by_rules([heuristic.Message(turn.text, said, 1, without_quotes(before))], known)
        return found if final else replace(found, facts=mark_as_rules(found.facts))

    @staticmethod
    def admit(
        connection: Connection,
        session: str,
        turn: ConversationTurn,
        extracted: "RuleFacts",
        at: datetime,
        zone: ZoneInfo,
        nearness: Nearness | None,
    ) -> list[tuple[Candidate, Decision]]:
        """Admit the facts of a turn, each by itself; return what was decided."""
        from kenobot.cognitive.remember.fact_candidates import ExtractedBatch, admit_isolated, build_candidates

        batch = ExtractionBatch((turn,), extracted.ended, at.astimezone(zone).date())
        reading = ExtractedBatch(session, batch, extracted.facts, at, zone, DEFAULT)
        return [
            (candidate, admit_isolated(connection, candidate, replace(occasion, nearness=nearness)))
            for candidate, occasion in build_candidates(reading)
        ]

    @staticmethod
    def mark_extracted(connection: Connection, pending: PendingMessage) -> None:
        """Count the turn of a message as extracted, unless others wait before it."""
        waiting = buffer.pending_turns(connection, pending.session, 1)
        if waiting and waiting[0].inbox_id == pending.id:
            first = buffer.cursor(connection, pending.session)
            buffer.advance_cursor(connection, pending.session, first, waiting[0].last_message)

    @staticmethod
    def find_unextracted(
        connection: Connection, wanted: str, session: str, reach: tuple[str, ...]
    ) -> "UnextractedTurn | None":
        """Find the turn that no memory is made of yet and that says most of `wanted`, the newest of equal ones."""
        from kenobot.cognitive.control.unextracted import find_unextracted

        return find_unextracted(connection, wanted, session, reach)

    @staticmethod
    def admit_unextracted(
        connection: Connection, said: "UnextractedTurn", wanted: str, order: AdmitContext, zone: ZoneInfo
    ) -> int | None:
        """Remember what is meant of a turn, and what else it tells; return the former, None if it was refused."""
        from kenobot.cognitive.control.unextracted import admit_unextracted

        return admit_unextracted(connection, said, wanted, order, zone)

    @staticmethod
    def close_idle_boxes(connection: Connection, at: datetime) -> bool:
        """Close the topics that nothing was added to for a while; return whether there were any."""
        return bool(boxes.close_idle_boxes(connection, ChangeContext(at, "memory", "nothing was added for a while")))

    @staticmethod
    def list_live(connection: Connection, scope: str) -> list[Record]:
        """List the live memories of a scope that what is told may end."""
        return known_memories.live_memories(connection, scope=scope)

    @staticmethod
    def list_changeable(connection: Connection, scope: str, text: str) -> list[Record]:
        """List the live memories of a scope that a text may change: none told in confidence, or done already."""
        found = known_memories.changeable_memories(connection, scope=scope, text=text)
        return [each for each in found if not each.is_confided and RESOLVED_ATTRIBUTE not in each.attribute_map]

    @staticmethod
    def end(
        connection: Connection, record: Record, status: str, occasion: AdmitContext, reason: str, by: int | None
    ) -> int:
        """End a memory; return the event that an undo takes back. by: the memory in its place."""
        from kenobot.cognitive.remember.conflicts import end_record

        return end_record(connection, record, status, occasion.change_context(reason), by=by)

    @staticmethod
    def keep_rest(
        connection: Connection,
        record: Record,
        left: str,
        occasion: AdmitContext,
        reason: str,
        part_of: int | None = None,
    ) -> int:
        """Leave of a memory what still holds; return the event. part_of: the event of the decision."""
        from kenobot.cognitive.remember.conflicts import keep_rest

        return keep_rest(connection, record, left, occasion.change_context(reason, part_of))

    find_secret = staticmethod(find_secret)
    """Return the kind of secret that keeps a candidate out of memory."""

    begin_anew = staticmethod(summary_rows.begin_anew)
    """Let a conversation begin anew: its summary shows nothing of what was said before."""

    @staticmethod
    def note(
        connection: Connection, record: int, kind: str, at: datetime, session: str, data: Mapping[str, Json]
    ) -> None:
        """Note an event about a memory, such as that its person was asked about it."""
        events.add_event(connection, at, "extraction", kind, session=session, record=record, data=data)

    @staticmethod
    def follow_edit(
        connection: Connection,
        edit: "EditedWords",
        taught: "Iterable[Record]",
        take_back: "Callable[[Record], bool]",
        *,
        session: str,
        at: datetime,
        zone: ZoneInfo,
        nearness: Nearness | None,
    ) -> "MemoryChange":
        """Replace what the changed sentences of a message taught. take_back: undoes a memory, where that can be."""
        from kenobot.cognitive.remember import edited_memory

        return edited_memory.follow_edit(
            connection, edit, taught, take_back, session=session, at=at, zone=zone, nearness=nearness
        )
