"""Report to a provider without a language model what its message changed in memory, and what memory holds about it.

Facts are extracted by the rules of the background and admitted before the reply, so that the reply tells what came of
them. The report is Markdown with one fact a line; its headings and labels are the contract with the provider.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.agenda.day_question import asks_for_days
from kenobot.agent.turn.agenda_finding import AGENDA, AgendaAsker
from kenobot.agent.turn.change_question import ChangeAsker
from kenobot.agent.turn.report_data import ChangeQuestion, MemoryReport
from kenobot.agent.turn.turn_data import TurnData
from kenobot.cognitive.memory import (
    DEFAULT,
    EmbeddingWorker,
    Memory,
    MemoryFiles,
    MemoryPack,
    MemoryQuery,
    MemoryReader,
    Promises,
    RecalledMemory,
    SearchReport,
    SideIndex,
    Telling,
)
from kenobot.core import lazy
from kenobot.core.attachment_words import without_attachments
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.facts.parse_facts import TIERS, ExtractedFact
from kenobot.language.facts.rule_extraction import RuleFacts
from kenobot.language.facts.taking_back import keeps_nothing
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.question.asked_attributes import find_attribute, find_attribute_of_another
from kenobot.language.question.asked_things import list_things, list_untold
from kenobot.language.question.relations import find_relationships
from kenobot.language.statements import sentence_core
from kenobot.language.statements.attribute_statements import attribute_name
from kenobot.language.words import terms
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal, chat_scope
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.recall import ConfidenceLevel
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import PendingMessage

CHANGED = "### What this message changed"
FOUND = "### What was found for it"
UNPLANNED = "### What is planned for then: nothing that was told"
GUEST = "### Who asks: a guest"
ASKS = "### What it is: a question"

_GOES_ON = lazy.regex(r"[¿\s]*(?:y|e|and|what about|how about|qu[eé] hay de)\b", re.IGNORECASE)
_ALSO_TELLS = {"profession": ("employer",)}  # what somebody does, and for whom: either answers the first
_ENDINGS = frozenset({"superseded", "invalidated"})
_MOST_FOUND = 5
_NOISE_BELOW = 0.5  # of the best one's relevance
_NEAR_FROM = DEFAULT.recall.low_up_to  # relevance by meaning alone
_PATIENCE, _SETTLE = 8.0, 6.0  # seconds for the question's vector, and for those of what was just told: no model waits
_TELLS_FROM = 0.75  # similarity of a word from which a memory speaks of that thing in other words


@dataclass(frozen=True, slots=True)
class _Finding:
    """Hold what a search shows. of_plans: for what is planned. agenda: the answer to a question for days, in words."""

    report: SearchReport
    of_plans: bool = False
    agenda: str = ""


class MemoryReporter:
    """Extract, admit and recall for one message at a time."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        zone: ZoneInfo,
        index: SideIndex,
        embedding: EmbeddingWorker,
        mirror: MemoryFiles,
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
            new, lines = await self._note(pending.session, turn, change.noted)
            change = replace(change, new=new)
        asked = without_attachments(pending.inbound.text).strip()
        question = sentence_core.question_in(asked) if lines else asked
        finding = _Finding(SearchReport())
        if question:
            finding = await self._search(question, pending, principal, preceding, language)
        found, memories = MemoryReader.pack(finding.report), finding.report.memories
        sections = [GUEST] if principal.role == "guest" else []
        sections += [ASKS] if sentence_core.question_in(asked) else []
        sections += ["\n".join([CHANGED, *lines])] if lines else []
        if finding.agenda:
            sections.append(f"{AGENDA}\n{finding.agenda}")
        elif memories:
            heading = f"{FOUND} ({finding.report.level})"
            sections.append("\n".join([heading, *(memory.line for memory in memories)]))
        elif finding.of_plans:
            sections.append(UNPLANNED)
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
        return await self._database.read(lambda connection: asker.choose_corrected(connection, turn, at))

    async def _find_changed(
        self, pending: PendingMessage, turn: ConversationTurn, decisions: Sequence[tuple[Candidate, Decision]]
    ) -> ChangeQuestion | None:
        """Return the memory that the message probably changes, where the person is to be asked about it."""
        asker, at = self._asker, self._clock.now()
        if asker is None or not pending.inbound.private:
            return None
        await self._embedding.prepare_statements([turn.text])
        return await self._database.read(lambda connection: asker.choose(connection, turn, decisions, at))

    async def _note(self, session: str, turn: ConversationTurn, text: str) -> tuple[int | None, list[str]]:
        """Note a message of which no rule noted anything, and about which a question is put.

        Return the memory, and the lines that tell of it.
        """
        tags = tags_of_confidence([turn.text])
        fact = ExtractedFact(text, confidence=TIERS["implied"], tags=tags, evidence=(1,), by_rules=True)
        decisions, lines = await self._database.write(partial(self._admit, session, turn, RuleFacts((fact,))))
        self._mirror.mark_dirty([each.record for _, each in decisions if each.record is not None])
        self._embedding.note_news()
        return next((each.record for _, each in decisions if each.record is not None), None), lines

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
        )
        asker = AgendaAsker(pending, principal, language, query.now, self._zone)
        return await self._database.read(partial(self._find, query, asker))

    def _find(self, query: MemoryQuery, asker: AgendaAsker, connection: Connection) -> _Finding:
        """Find what the message asks for of an agenda or of a log, or else what is about the message."""
        found = asker.find(connection, query.text)
        if found is None:
            return _Finding(self._recall(query, connection))
        if found.text:
            return _Finding(found.report(self._zone), agenda=found.text)
        return _Finding(_of_no_day(Memory(self._index).recall(connection, query)), of_plans=True)

    def _recall(self, query: MemoryQuery, connection: Connection) -> SearchReport:
        """Recall what is about the message itself, the attribute that it asks for first."""
        report = Memory(self._index).recall(connection, query)
        own = find_attribute(query.text)
        others = "" if own else find_attribute_of_another(query.text)
        subjects = (OWNER_SUBJECT,) if own else _find_subjects(query.text, report) if others else ()
        asked = _records_with_attribute(connection, query, subjects, own or others)
        first = {record.id for record in asked}
        best = max((each.relevance for each in report.memories), default=0.0)
        about = [each for each in report.memories if each.record.id not in first and _is_about(each, report, best)]
        shown = [MemoryReader.as_recalled(record, query.zone) for record in asked]
        if others:
            about = [each for each in about if not _tells(each.record, OWNER_SUBJECT, others)]
        told_of = {record.subject for record in asked} - {OWNER_SUBJECT}
        rest = [each for each in about if not asked or each.record.subject in told_of]
        shown = [*shown, *rest][:_MOST_FOUND]
        level: ConfidenceLevel = "high" if asked else report.level
        if shown and not asked and level != "none" and self._are_of_other_things(query.text, shown):
            level = "low"
        return replace(report, level=level, shown=tuple(shown))

    def _are_of_other_things(self, question: str, shown: Sequence[RecalledMemory]) -> bool:
        """Return whether each memory has words of the question, and none tells of all things that it asks about.

        No model reads them here, who would see that the boiler's code is not the garage's.
        """
        untold = {each.record.id: list_untold(question, each.record.text) for each in shown}
        if not all(untold.values()):
            return False
        vectors = self._index.vectors
        near = {
            thing: vectors.similarities("record", thing, None, 0, also=untold) if vectors is not None else {}
            for thing in {thing for things in untold.values() for thing in things}
        }
        return all(
            any(near[thing].get(number, 0.0) < _TELLS_FROM for thing in things) for number, things in untold.items()
        )


def _of_no_day(report: SearchReport) -> SearchReport:
    """Select what is about a question for plans, and due on no day: the days asked for have nothing."""
    best = max((each.relevance for each in report.memories), default=0.0)
    about = (each for each in report.memories if each.matched and _is_about(each, report, best))
    return replace(report, shown=tuple(each for each in about if Promises.due_on(each.record) is None)[:_MOST_FOUND])


def _find_subjects(question: str, report: SearchReport) -> tuple[str, ...]:
    """Find whom a question names, also as a relation: "my sister" is the subject until her name is known."""
    kin = (attribute_name("relation", word) for each in find_relationships(question) for word in each.words)
    return tuple(subject for subject in dict.fromkeys((*report.subjects, *kin)) if subject != OWNER_SUBJECT)


def _records_with_attribute(
    connection: Connection, query: MemoryQuery, subjects: Sequence[str], attribute: str
) -> list[Record]:
    """List the live records that hold this attribute of one of the subjects, or what tells it as well, newest first."""
    found = {
        record.id: record
        for scope in query.scopes
        for subject in subjects
        for name in (attribute, *_ALSO_TELLS.get(attribute, ()))
        for record in Memory.records.list_with_attribute(connection, scope, subject, name)
    }
    return sorted(found.values(), key=lambda record: (record.valid_from, record.id), reverse=True)


def _tells(record: Record, subject: str, attribute: str) -> bool:
    return record.subject == subject and attribute in json.loads(record.attributes)


def _is_about(memory: RecalledMemory, report: SearchReport, best: float) -> bool:
    """Return whether a memory is about the message, rather than merely the nearest, or linked to one that is."""
    if memory.relevance < best * _NOISE_BELOW:
        return False
    if memory.matched or "subject" in memory.ways:
        return True
    return "meaning" in memory.ways and report.near not in ("none", "low") and memory.relevance >= _NEAR_FROM


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
