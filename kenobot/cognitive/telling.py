"""What a message tells, remembered before its reply, by rules."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.extract import buffer, known_memories
from kenobot.cognitive.remember.extract.buffer import ConversationTurn
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.remember.fact_candidates import ExtractedBatch, admit_isolated, build_candidates
from kenobot.cognitive.remember.nearness import Nearness
from kenobot.cognitive.remember.rule_extraction import RuleFacts, extract_by_rules, mark_as_rules
from kenobot.cognitive.store.records import Record
from kenobot.core import lazy
from kenobot.language.facts import heuristic
from kenobot.language.facts.heuristic import Message
from kenobot.language.provenance import without_quotes
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.names import label_id
from kenobot.storage.connection import Connection
from kenobot.storage.inbox import PendingMessage

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
    ) -> RuleFacts:
        """Extract the facts of a turn by rules, and name the memories that they end.

        final: no model extracts the same turn later.
        """
        known: Sequence[Record] = ()
        if heuristic.may_end_something(turn.text):
            known = known_memories.live_memories(connection, scope=turn.scope)
        before = buffer.said_before(connection, session=session, turn=turn)
        said = turn.at.astimezone(zone).date()
        found = extract_by_rules([Message(turn.text, said, 1, without_quotes(before))], known)
        return found if final else replace(found, facts=mark_as_rules(found.facts))

    @staticmethod
    def admit(
        connection: Connection,
        session: str,
        turn: ConversationTurn,
        extracted: RuleFacts,
        at: datetime,
        zone: ZoneInfo,
        nearness: Nearness | None,
    ) -> list[tuple[Candidate, Decision]]:
        """Admit the facts of a turn, each by itself; return what was decided."""
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
