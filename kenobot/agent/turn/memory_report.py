"""Report to a provider without a language model what its message changed in memory, and what memory holds about it.

Facts are extracted by the rules of the background and admitted before the reply, so that the reply tells what came of
them. The report is Markdown with one fact a line; its headings and labels are the contract with the provider.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.agenda.day_question import asks_for_days
from kenobot.agent.turn.agenda_finding import AGENDA, AgendaAsker
from kenobot.agent.turn.change_question import ChangeAsker
from kenobot.agent.turn.found_memories import find_memories, find_of_no_day
from kenobot.agent.turn.report_data import ChangeQuestion, MemoryReport
from kenobot.agent.turn.turn_data import TurnData
from kenobot.cognitive.memory import (
    EmbeddingWorker,
    Memory,
    MemoryPack,
    MemoryQuery,
    MemoryReader,
    SearchReport,
    SideIndex,
    Telling,
)
from kenobot.core import lazy
from kenobot.core.attachment_words import without_attachments
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.facts.parse_facts import TIERS, Category, ExtractedFact
from kenobot.language.facts.rule_extraction import RuleFacts
from kenobot.language.facts.sentence_facts import states_something
from kenobot.language.facts.taking_back import keeps_nothing
from kenobot.language.question.asked_things import list_things
from kenobot.language.statements import sentence_core
from kenobot.language.words import terms
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal, chat_scope
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.memory_files import Mirror
from kenobot.ports.turns import ConversationTurn
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage

CHANGED = "### What this message changed"
FOUND = "### What was found for it"
UNPLANNED = "### What is planned for then: nothing that was told"
GUEST = "### Who asks: a guest"
ASKS = "### What it is: a question"

_GOES_ON = lazy.regex(r"[¿\s]*(?:y|e|and|what about|how about|qu[eé] hay de)\b", re.IGNORECASE)
_ENDINGS = frozenset({"superseded", "invalidated"})
_PATIENCE, _SETTLE = 8.0, 6.0  # seconds for the question's vector, and for those of what was just told: no model waits


@dataclass(frozen=True, slots=True)
class _Finding:
    """Hold what a search shows. of_plans: for what is planned. agenda: the answer to a question for days, in words."""

    report: SearchReport
    of_plans: bool = False
    agenda: str = ""

    def list_sections(self) -> list[str]:
        """List the sections of a report that show it."""
        if self.agenda:
            return [f"{AGENDA}\n{self.agenda}"]
        lines = [memory.line for memory in self.report.memories] + [former.line for former in self.report.former]
        if lines:
            return ["\n".join([f"{FOUND} ({self.report.level})", *lines])]
        return [UNPLANNED] if self.of_plans else []


class MemoryReporter:
    """Extract, admit and recall for one message at a time."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        zone: ZoneInfo,
        index: SideIndex,
        embedding: EmbeddingWorker,
        mirror: Mirror,
        *,
        final: bool = True,
        asker: ChangeAsker | None = None,
    ) -> None:
        """final: no model extracts the same turns later. asker: of changes that no rule is sure of; None asks none."""
        self._database = database
        self._clock = clock
        self._zone = zone
        self._index = index
        self._embedding = embedding
        self._mirror = mirror
        self._final = final
        self._asker = asker

    async def report(
        self, pending: PendingMessage, principal: Principal, preceding: str, language: Language
    ) -> MemoryReport:
        """Admit what the message tells, and report it together with what is found.

        preceding: what they said before. language: of the reply.
        """
        turn = Telling.build_turn(pending, principal)
        here = sentence_core.without_this_chat(turn.text) if turn is not None else ""
        if turn is not None and here:
            turn = replace(turn, text=here, scope=chat_scope(pending.session))
        lines: list[str] = []
        if turn is not None and keeps_nothing(turn.text):
            turn, lines = None, ["- not kept:"]
        elif turn is not None and asks_for_days(turn.text, turn.at.date()):
            turn = None
        decisions: list[tuple[Candidate, Decision]] = []
        change = await self._find_corrected(pending, turn) if turn is not None and not here else None
        if turn is not None and change is None:
            extracted = await self._database.read(partial(self._extract, pending.session, turn))
            if here and not extracted.facts and not sentence_core.question_in(here):
                extracted = RuleFacts((ExtractedFact(here, confidence=TIERS["explicit"], evidence=(1,)),))
            if extracted.facts:
                await self._embedding.prepare_statements(fact.text for fact in extracted.facts)
                decisions, lines = await self._database.write(partial(self._admit, pending.session, turn, extracted))
                self._mirror.mark_dirty([each.record for _, each in decisions if each.record is not None])
                self._embedding.note_news()
        is_whole = not here and all(made.action != "refused" for _, made in decisions)
        if turn is not None and change is None and is_whole:
            change = await self._find_changed(pending, turn, decisions)
        if turn is not None and change is not None and change.new is None:  # without an answer both stay
            decisions, lines = await self._note(pending.session, turn, change.noted, change)
            change = replace(change, new=next((each.record for _, each in decisions if each.record is not None), None))
        asked = without_attachments(pending.inbound.text).strip()
        question = sentence_core.question_in(asked) if lines else asked
        finding = _Finding(SearchReport())
        if question:
            finding = await self._search(question, pending, principal, preceding, language)
        if turn is not None and not lines and self._states_something(turn, finding):
            decisions, lines = await self._note(pending.session, turn, turn.text.strip())
            finding = _Finding(SearchReport())
        sections = [GUEST] if principal.role == "guest" else []
        sections += [ASKS] if sentence_core.question_in(asked) else []
        sections += ["\n".join([CHANGED, *lines])] if lines else []
        sections += finding.list_sections()
        found = MemoryReader.pack(finding.report)
        pack = MemoryPack({}, found.texts, found.entries)
        return MemoryReport("\n\n".join(sections), tuple(decisions), pack, change)

    def settle(self, connection: Connection, data: TurnData, at: datetime) -> tuple[Choice, ...]:
        """Open the question of a finished turn, and return its buttons.

        The turn counts as extracted, unless others wait before it, or a model is to extract it.
        """
        pending = data.pending
        if self._final:
            Telling.mark_extracted(connection, pending)
        if self._asker is None or data.report is None or data.report.change is None or data.asks_about_tools:
            return ()
        return self._asker.open(connection, data, data.report.change, at)

    # ── what the message tells ───────────────────────────────────────────────────────────────────────────────────

    async def _find_corrected(self, pending: PendingMessage, turn: ConversationTurn) -> ChangeQuestion | None:
        """Return the memory told a moment ago that the message puts right in few words."""
        asker, at = self._asker, self._clock.now()
        if asker is None or not pending.inbound.private:
            return None
        return await self._database.read(
            lambda connection: asker.choose_corrected(connection, pending.session, turn, at)
        )

    async def _find_changed(
        self, pending: PendingMessage, turn: ConversationTurn, decisions: Sequence[tuple[Candidate, Decision]]
    ) -> ChangeQuestion | None:
        """Return the memory that the message probably changes, where the person is to be asked about it."""
        asker, at = self._asker, self._clock.now()
        if asker is None or not pending.inbound.private:
            return None
        await self._embedding.prepare_statements([turn.text])
        return await self._database.read(lambda connection: asker.choose(connection, turn, decisions, at))

    def _states_something(self, turn: ConversationTurn, finding: _Finding) -> bool:
        """Return whether a message of which no rule noted anything is noted nevertheless: no model reads it later."""
        if not self._final or finding.agenda or finding.of_plans:
            return False
        return states_something(turn.text, of_known=bool(finding.report.memories))

    async def _note(
        self, session: str, turn: ConversationTurn, text: str, change: ChangeQuestion | None = None
    ) -> tuple[list[tuple[Candidate, Decision]], list[str]]:
        """Note a message of which no rule noted anything; return what was decided, and the lines that tell of it.

        change: what it is about. With a day it stands in the agenda as that does.
        """
        tags = tags_of_confidence([turn.text])
        fact = ExtractedFact(text, confidence=TIERS["implied"], tags=tags, evidence=(1,), by_rules=True)
        if change is not None and change.due:
            category: Category = "commitment" if change.old.category == "commitment" else "fact"
            fact = replace(fact, category=category, attributes=(("due", change.due),))
        decisions, lines = await self._database.write(partial(self._admit, session, turn, RuleFacts((fact,))))
        self._mirror.mark_dirty([each.record for _, each in decisions if each.record is not None])
        self._embedding.note_news()
        return decisions, lines

    def _extract(self, session: str, turn: ConversationTurn, connection: Connection) -> RuleFacts:
        return Telling.extract(connection, session, turn, self._zone, final=self._final)

    def _admit(
        self, session: str, turn: ConversationTurn, extracted: RuleFacts, connection: Connection
    ) -> tuple[list[tuple[Candidate, Decision]], list[str]]:
        at, near = self._clock.now(), self._embedding.nearness
        decisions = Telling.admit(connection, session, turn, extracted, at, self._zone, near)
        told = [
            line
            for candidate, made in decisions
            for line in _describe_decision(connection, candidate, made, turn, session)
        ]
        return decisions, list(dict.fromkeys(told))

    # ── what memory holds ────────────────────────────────────────────────────────────────────────────────────────

    async def _search(
        self, question: str, pending: PendingMessage, principal: Principal, preceding: str, language: Language
    ) -> _Finding:
        """Search all that the speaker may read, whatever the prompt shows already."""
        if await self._embedding.embed_query(question, patience=_PATIENCE, settle=_SETTLE):
            for thing in list_things(question):
                await self._embedding.embed_query(thing, settle=0.0)
        query = MemoryQuery(
            question,
            principal.read_scopes,
            self._clock.now(),
            self._zone,
            pending.session,
            preceding_text=preceding if _GOES_ON.match(question) or not terms(question) else "",
            excerpt_limit=0,
            account="" if pending.inbound.private else pending.inbound.user,
        )
        asker = AgendaAsker(pending, principal, language, query.now, self._zone)
        return await self._database.read(partial(self._find, query, asker))

    def _find(self, query: MemoryQuery, asker: AgendaAsker, connection: Connection) -> _Finding:
        """Find what the message asks for of an agenda or of a log, or else what is about the message."""
        found = asker.find(connection, query.text)
        if found is None:
            return _Finding(find_memories(connection, Memory(self._index), query))
        if found.text:
            return _Finding(found.report(self._zone), agenda=found.text)
        return _Finding(find_of_no_day(connection, Memory(self._index), query), of_plans=True)


def _describe_decision(
    connection: Connection, candidate: Candidate, decision: Decision, turn: ConversationTurn, session: str
) -> Iterator[str]:
    """Yield the lines that tell what a decision kept, and what it took the place of."""
    if decision.action == "refused":
        yield "- refused:"
    if decision.record is None:
        return
    record = Memory.records.get(connection, decision.record, (candidate.scope,))
    assert record is not None
    first = record.source_message_ids[:1]
    repeated = decision.action == "reinforced" and first != (turn.inbox_id,)
    if repeated and _line(candidate.text) not in _line(turn.text):  # what it goes on about was said before
        return
    label = "known" if repeated else "noted here" if record.scope == chat_scope(session) else "noted"
    yield f"- {label}: {_line(record.text)}"
    root = Memory.history.last_decision(connection, record.id)
    for event in Memory.history.list_decision(connection, root) if root is not None and not repeated else ():
        if event.record in (None, record.id):
            continue
        assert event.record is not None
        other = Memory.records.get(connection, event.record, (candidate.scope,))
        if other is None:
            continue
        before = _line(str(event.previous_values.get("text") or other.text))
        if event.kind in _ENDINGS:
            yield f"- in place of: {before}"
        elif event.kind == "amended":
            yield f"- in place of: {before}"
            yield f"- stays: {_line(other.text)}"
        elif event.kind == "weakened":
            yield f"- at odds with: {before}"


def _line(text: str) -> str:
    return " ".join(text.split())
