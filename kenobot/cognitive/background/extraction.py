"""The background worker that extracts memories from turns, after their replies have left.

It works on rows behind a cursor (`kenobot.cognitive.remember.extract.buffer`), so it may be killed anywhere: a turn is
then either extracted, and its facts are written once, or still pending.
"""

import logging
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal

from kenobot.cognitive.background.per_chat_worker import ChatBackoff, PerChatWorker, WaitingChats, WorkerContext
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.extract import buffer, known_memories, prompt
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.remember.fact_candidates import ExtractedBatch, admit_isolated, build_candidates
from kenobot.cognitive.store import events
from kenobot.core import pacing
from kenobot.core.pattern_set import PatternSet
from kenobot.core.retry import Backoff
from kenobot.core.settings.schema import ExtractionSettings
from kenobot.core.token_estimate import request_tokens
from kenobot.language.calendar import local_day
from kenobot.language.facts import heuristic
from kenobot.language.facts.heuristic import Message
from kenobot.language.facts.parse_facts import ExtractedFact, parse_facts
from kenobot.language.facts.rule_extraction import (
    RuleFacts,
    extract_by_rules,
    join_rule_facts,
    mark_as_rules,
    without_noted,
)
from kenobot.language.provenance import without_quotes
from kenobot.ledger.expert_rest import EXTRACTION, ExpertRest
from kenobot.ledger.ledger import NO_CALL, ModelCall
from kenobot.ledger.model_router import ModelRouter
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.errors import KenobotError, PromptTooLong, Rejected, RemoteError
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.records import Record
from kenobot.ports.signals import (
    CONFIG_CHANGED,
    EXTRACTION_DEFERRED,
    EXTRACTION_FINISHED,
    MEMORY_WRITTEN,
    MESSAGE_FAILED,
    MESSAGE_SENT,
    describe_written,
)
from kenobot.ports.turns import ConversationTurn
from kenobot.storage.connection import Connection

_log = logging.getLogger(__name__)


_TICK_SECONDS = 60.0

Decisions = list[tuple[Candidate, Decision]]


class ExtractionFailed(KenobotError):
    """A model rejects these turns, or its answer cannot be parsed: fewer at a time may do."""


class BudgetExhausted(KenobotError):
    """The tokens of the day are used up."""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The facts of a batch. use: the call they cost, still to be settled.

    known: of rules, the memories that their verdicts name, and those that the replies to these turns noted.
    """

    facts: tuple[ExtractedFact, ...]
    by: Literal["model", "rules"]
    use: ModelCall = NO_CALL
    known: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The turns of a session that were found to wait and not to be due yet, none of which has a sign of urgency.

    cursor: after which message they begin. newest: the last of so many turns. since: when the first was said.
    """

    cursor: int
    newest: int
    turns: int
    since: datetime


def build_extraction_worker(
    settings: ExtractionSettings, context: WorkerContext, model: ModelRouter | None
) -> "ExtractionWorker":
    """Build the worker from its settings; model None leaves all to the rules."""
    budgeted = context.limit_to_budget(model, "extraction")
    return ExtractionWorker(context, budgeted, DEFAULT, PatternSet(settings.patterns), enabled=settings.enabled)


class ExtractionWorker(PerChatWorker):
    """Extract facts by one call of a model within the day's tokens, or by rules; model None leaves all to the rules.

    patterns: the owner's own signs that a turn is due at once. Not `enabled`, all turns stay pending.
    """

    def __init__(
        self,
        context: WorkerContext,
        model: BudgetedModel | None,
        policy: Policy,
        patterns: PatternSet,
        *,
        enabled: bool = True,
    ) -> None:
        wakes = (MESSAGE_SENT, MESSAGE_FAILED)
        super().__init__(context, "extraction", _TICK_SECONDS, wakes, enabled=enabled)
        self._model = model
        self._policy = policy
        self._patterns = patterns
        self._draining = False
        self._rest = ExpertRest(context.database, context.clock, EXTRACTION)
        self._waiting = ChatBackoff()
        self._spent_day = ""
        self._known = WaitingChats[_Waiting]()

    async def tick(self) -> None:
        """Begin a round over all chats that looks at each as a whole: what was said may have been hidden or edited."""
        self._known.clear()
        await super().tick()

    async def drain(self) -> None:
        """Extract all pending turns, due or not, as far as the model and the budget allow."""
        self._draining = True
        try:
            await self.tick()
            await self.wait_idle()
        finally:
            self._draining = False

    def _sessions(self, connection: Connection) -> Sequence[str]:
        return buffer.sessions_with_pending(connection)

    async def _round(self) -> None:
        try:
            await super()._round()
        except (BudgetExhausted, RemoteError) as error:
            await self._wait(error)

    def _is_resting(self) -> bool:
        """Return whether the model is out of reach, or the day's budget exhausted."""
        if self._model is None:
            return False
        today = local_day(self._p.clock.now(), self._p.zone)
        return self._p.clock.monotonic() < self._waiting.not_before or today == self._spent_day

    async def _advance(self, session: str) -> bool:
        turns, due = await self._p.database.read(partial(self._look, session))
        if not due:
            return False
        trouble = self._failing.get(session)
        batch = await self._make_batch(session, turns, trouble.limit if trouble else len(turns))
        try:
            found = await self._find(session, batch, trouble)
        except ExtractionFailed as error:
            self._note(session, len(batch.turns), error)
            return False
        if found.by == "rules":
            batch = replace(batch, known=found.known)
        self._waiting = ChatBackoff()
        if self._p.embedding is not None:
            await self._p.embedding.prepare_statements(fact.text for fact in found.facts)
        kept = await self._p.database.write(partial(self._keep, session, batch, found))
        if trouble is not None and found.by == "model":
            del self._failing[session]
        if kept is not None:
            await self._tell(session, batch, found, kept)
        return kept is None or len(batch.turns) < len(turns) or len(turns) == self._most_waiting

    @property
    def _most_waiting(self) -> int:
        """Return how many turns a look reads at most."""
        return max(self._policy.extract.batch_turns, self._policy.extract.every_turns)

    def _look(self, session: str, connection: Connection) -> tuple[list[ConversationTurn], bool]:
        """Return the next pending turns and whether they are due; each is scanned for signals once."""
        policy, cursor = self._policy.extract, buffer.cursor(connection, session)
        if not self._draining and self._still_waits(session, cursor, connection):
            return [], False
        turns = buffer.pending_turns(connection, session, self._most_waiting)
        if not turns or self._draining:
            return turns, bool(turns)
        due = buffer.decide_extraction(turns, self._p.clock.now(), policy, self._patterns) != "keep_buffering"
        if not due:
            self._known.put(session, _Waiting(cursor, turns[-1].last_message, len(turns), turns[0].at))
        return turns, due

    def _still_waits(self, session: str, cursor: int, connection: Connection) -> bool:
        """Return whether what was said since the last look leaves what waits not due; only that is read."""
        known, policy = self._known.get(session), self._policy.extract
        if known is None or known.cursor != cursor:
            return False
        new = buffer.turns_after(connection, session, known.newest, policy.every_turns)
        count = known.turns + len(new)
        if buffer.is_enough(count, known.since, self._p.clock.now(), policy):
            return False
        if buffer.is_urgent(new, policy, self._patterns):
            return False
        self._known.put(session, replace(known, newest=new[-1].last_message if new else known.newest, turns=count))
        return True

    async def _make_batch(self, session: str, turns: Sequence[ConversationTurn], limit: int) -> ExtractionBatch:
        """Take the first turns of one scope that fit one call; for a model, with the memories they may touch."""
        policy, room, taken = self._policy.extract, self._policy.extract.batch_tokens, list[ConversationTurn]()
        for turn in turns[: min(limit, policy.batch_turns)]:
            room -= prompt.prompt_tokens(turn, policy)
            if taken and (turn.scope != taken[0].scope or room < 0):
                break
            taken.append(turn)
        batch = ExtractionBatch(tuple(taken), (), self._p.clock.now().astimezone(self._p.zone).date())
        if self._model is None:
            return batch
        guidelines, event = await self._p.database.read(
            lambda connection: (known_memories.guidelines(connection), events.last_event(connection))
        )
        near = self._p.memory_search
        known = partial(known_memories.select_known, session=session, turns=taken, policy=policy, near=near)
        known_records = tuple(await self._p.database.read(known))
        return replace(batch, known=known_records, guidelines=guidelines, event=event)

    async def _find(self, session: str, batch: ExtractionBatch, trouble: ChatBackoff | None) -> ExtractionResult:
        if all(turn.hidden for turn in batch.turns):
            return ExtractionResult((), "rules")
        if trouble is not None and trouble.limit == 1 and trouble.failures >= self._policy.extract.halve_after_failures:
            trouble.failures -= 1  # the next turn gets one try
            return await self._extract_by_rules(session, batch)
        return await self._extract(session, batch)

    async def _extract(self, session: str, batch: ExtractionBatch) -> ExtractionResult:
        """Extract the facts of a batch; by rules while a model rests that gives no lists of facts.

        Raises ExtractionFailed, BudgetExhausted, or RemoteError when the model cannot be reached.
        """
        if self._model is None or not await self._rest.is_over():
            return await self._extract_by_rules(session, batch)
        model, request = self._model, prompt.build_request(batch, self._p.zone, self._policy.extract)
        if request_tokens(request) > model.ledger.daily_tokens(model.purpose):
            raise ExtractionFailed("memory.turns_too_long")
        try:
            answer = await model.ask(request, session=session)
        except Rejected as error:
            if isinstance(error, PromptTooLong) or await model.probe():
                raise ExtractionFailed("memory.turns_refused", reason=error) from error
            raise
        if answer is None:
            raise BudgetExhausted("memory.budget_used")
        reply, use = answer
        facts = await self._compute(partial(parse_facts, reply.text))
        if facts is not None:
            await self._rest.record_success()
        elif reply.whole:
            await self._rest.record_failure()
        if facts is None or (not reply.whole and len(batch.turns) > 1):
            await model.settle(use)
            raise ExtractionFailed("memory.answer_cut" if facts else "memory.no_facts")
        return ExtractionResult(facts, "model", use)

    async def _extract_by_rules(self, session: str, batch: ExtractionBatch) -> ExtractionResult:
        """Extract what the rules understand; of what somebody else wrote they understand nothing."""
        plain = {
            turn.last_message: without_quotes(turn.text)
            for turn in batch.turns
            if not turn.hidden and turn.trust in ("owner", "guest")
        }
        if not plain:
            return ExtractionResult((), "rules")
        return await self._p.database.read(partial(self._apply_rules, session=session, batch=batch, plain=plain))

    def _apply_rules(
        self, connection: Connection, session: str, batch: ExtractionBatch, plain: Mapping[int, str]
    ) -> ExtractionResult:
        """Extract the facts of a batch by rules, with the memories it may end. plain: its texts by message."""
        found = join_rule_facts(
            self._extract_of(connection, session, batch, {n: plain[n] for n in numbers})
            for numbers in _group_by_account(batch.turns, plain)
        )
        if not found.facts:  # most turns give nothing that rules understand
            return ExtractionResult((), "rules")
        told = [batch.turns[number - 1] for number in sorted({n for fact in found.facts for n in fact.evidence})]
        noted = known_memories.select_told(connection, session=session, turns=told, policy=self._policy.extract)
        facts = found.facts if self._model is None else mark_as_rules(found.facts)
        facts = without_noted(facts, batch.turns, noted)
        return ExtractionResult(facts, "rules", known=(*found.ended, *noted))

    def _extract_of(
        self, connection: Connection, session: str, batch: ExtractionBatch, plain: Mapping[int, str]
    ) -> RuleFacts:
        """Extract the facts of one speaker's turns in a batch. plain: their texts by message."""
        first = next(turn for turn in batch.turns if turn.last_message in plain)
        known: list[Record] = []
        if any(map(heuristic.may_end_something, plain.values())):
            known = known_memories.live_memories_of(connection, first)
        before = ""
        if (first == batch.turns[0] or first.account) and heuristic.needs_before(plain[first.last_message]):
            before = buffer.find_said_before(connection, session=session, turn=first)

        def messages() -> Iterator[Message]:
            last = before
            for number, turn in enumerate(batch.turns, 1):
                if (text := plain.get(turn.last_message)) is not None:
                    pacing.step()
                    yield Message(text, turn.at.astimezone(self._p.zone).date(), number, last)
                    last = text

        return extract_by_rules(messages(), known)

    def _note(self, session: str, turns: int, error: ExtractionFailed) -> None:
        """Halve the batch after some failures; a single turn that the model cannot read is left to the rules."""
        trouble = self._failing.setdefault(session, ChatBackoff(turns))
        trouble.limit = min(trouble.limit, turns)
        trouble.failures += 1
        if trouble.failures >= self._policy.extract.halve_after_failures and trouble.limit > 1:
            trouble.limit, trouble.failures = trouble.limit // 2, 0
        _log.warning("%d turns of %s could not be read for memories: %s", turns, session, error)

    async def _wait(self, error: BudgetExhausted | RemoteError) -> None:
        """Back off from the model; out of tokens, until the owner's next day."""
        policy = self._policy.extract
        first = self._waiting.failures == 0
        if isinstance(error, BudgetExhausted):
            self._spent_day = local_day(self._p.clock.now(), self._p.zone)
        else:
            backoff = Backoff(policy.first_backoff_seconds, policy.max_backoff_seconds)
            self._waiting.back_off(backoff, self._p.clock, error)
        if first or isinstance(error, BudgetExhausted):
            _log.warning("turns wait to be read for memories: %s", error)
            await self._p.bus.emit(EXTRACTION_DEFERRED, "extraction", "", reason=type(error).__name__)

    def _keep(
        self, session: str, batch: ExtractionBatch, found: ExtractionResult, connection: Connection
    ) -> Decisions | None:
        """Write the facts, the cursor behind the batch and its tokens in one transaction.

        None, and only the tokens, when the turns are not those extracted: one was erased, or they are done already; or
        when a model was shown memories of which something was purged meanwhile.
        """
        at, first = self._p.clock.now(), buffer.cursor(connection, session)
        found.use.settle(connection)
        if tuple(buffer.turns_after(connection, session, first, len(batch.turns))) != batch.turns:
            return None
        if found.by == "model" and events.has_purge(connection, batch.event):
            return None
        reading = ExtractedBatch(session, batch, found.facts, at, self._p.zone, self._policy)
        near = self._p.index.statement_similarity if self._p.index is not None else None
        found_in = ((candidate, replace(when, nearness=near)) for candidate, when in build_candidates(reading))
        kept = [(candidate, admit_isolated(connection, candidate, when)) for candidate, when in found_in]
        buffer.advance_cursor(connection, session, first, batch.turns[-1].last_message)
        counted = {"turns": len(batch.turns), "up_to": batch.turns[-1].last_message, "facts": len(found.facts)}
        told: dict[str, Json] = {**counted, "by": found.by, "tokens": found.use.tokens}
        events.add_event(connection, at, "extraction", "extracted", session=session, data=told)
        return kept

    async def _tell(self, session: str, batch: ExtractionBatch, found: ExtractionResult, kept: Decisions) -> None:
        records = [decision.record for _, decision in kept if decision.record is not None]
        self._p.files.mark_dirty(records)
        if self._p.embedding is not None:
            self._p.embedding.wake()
        for candidate, decision in kept:
            await self._p.bus.emit(MEMORY_WRITTEN, "extraction", "", **describe_written(candidate, decision))
        if records:
            await self._p.bus.emit(CONFIG_CHANGED, "extraction", "", reason="memory update")
        counted = {"turns": len(batch.turns), "facts": len(found.facts), "kept": len(records)}
        origin = {"session": session, "by": found.by}
        await self._p.bus.emit(EXTRACTION_FINISHED, "extraction", "", **origin, **counted, tokens=found.use.tokens)


def _group_by_account(turns: Sequence[ConversationTurn], wanted: Container[int]) -> Iterator[list[int]]:
    """Yield the messages among those wanted of each speaker, who goes on about and ends their own words alone."""
    found: dict[str, list[int]] = {}
    for turn in turns:
        if turn.last_message in wanted:
            found.setdefault(turn.account, []).append(turn.last_message)
    yield from found.values()
