"""The background worker that summarizes the messages that a conversation no longer shows.

These lie between a cursor, which is part of the summary, and the messages that a new prompt would show. Summary and
cursor are written in one transaction, so a crash, an outage or a rejected answer leaves both as they were: the messages
stay in the prompt as long as there is room, and before there is none, rules summarize them. A self-check follows.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from kenobot.cognitive.background.per_chat_worker import ChatBackoff, PerChatWorker, WaitingChats, WorkerContext
from kenobot.cognitive.compact import prompt, summary_rows
from kenobot.cognitive.compact.summary_rows import ACTOR, GAP_EVENT
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember import derived_texts
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.remember.fact_candidates import trust_of
from kenobot.cognitive.store import events
from kenobot.cognitive.store.change import change
from kenobot.core import pacing
from kenobot.core.history_window import HistoryWindow
from kenobot.core.retry import Backoff
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.calendar import local_day
from kenobot.language.provenance import AttributedText
from kenobot.language.summary import rule_summary
from kenobot.language.summary import self_check as gaps
from kenobot.language.summary.digest import CATEGORY, FORM, SLOT, Digest, SummaryLine, trim_digest
from kenobot.language.summary.self_check import Gap
from kenobot.language.words import detect_language
from kenobot.ledger.ledger import NO_CALL, ModelCall
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.errors import KenobotError, RemoteError
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust, chat_scope, import_kind, least_trusted
from kenobot.ports.json_value import Json
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.provider import Reply
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.signals import COMPACTION_FINISHED, MESSAGE_SENT
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import conversation, message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import StoredMessage
from kenobot.storage.times import stamp

_log = logging.getLogger(__name__)

_TICK_SECONDS = 300.0
_LOOKED_AT = 600  # messages read after a cursor


class SummaryRejected(KenobotError):
    """A model's answer is no summary: none at all, one that is cut, or one that is too short."""


@dataclass(frozen=True, slots=True)
class SummaryBatch:
    """The previous summary of a session, its record, and the turns after it.

    token_limit: tokens of the new summary. late: a prompt may no longer show them. deep: too much waits, rules take
    this part.
    """

    session: str
    record: Record | None
    previous: Digest
    turns: tuple[ConversationTurn, ...]
    token_limit: int
    late: bool
    deep: bool


@dataclass(frozen=True, slots=True)
class _Unsummed:
    """Describe the messages of a session beyond its summary, when nothing was due yet.

    newest: the last of so many messages. tokens: of them all.
    """

    record: Record | None
    newest: int
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The new lines. use: the call they cost, still to be settled."""

    lines: tuple[SummaryLine, ...]
    by: Literal["model", "rules"]
    use: ModelCall = NO_CALL


class CompactionWorker(PerChatWorker):
    """Summarize by one call of a model, or by rules: without a model, and on a day whose tokens are used up.

    reads: whether turns are extracted as well, so that their facts may still come. Without room for a summary in
    `window` it does nothing.
    """

    def __init__(
        self,
        context: WorkerContext,
        model: BudgetedModel | None,
        window: HistoryWindow,
        policy: Policy = DEFAULT,
        *,
        reads: bool = True,
    ) -> None:
        enabled = bool(window.summary_budget)
        super().__init__(context, "compaction", _TICK_SECONDS, (MESSAGE_SENT,), enabled=enabled)
        self._model = model
        self._window = window
        self._policy = policy
        self._reads = reads
        self._unsummed = WaitingChats[_Unsummed]()

    async def tick(self) -> None:
        """Begin a round over all chats that looks at each as a whole: what was said may have been hidden or edited."""
        self._unsummed.clear()
        await super().tick()

    def _sessions(self, connection: Connection) -> Sequence[str]:
        return [session for session in message_rows.list_sessions(connection) if not import_kind(session)]

    async def _advance(self, session: str) -> bool:
        batch = await self._p.database.read(partial(self._look, session))
        if batch is None:
            self._failing.pop(session, None)
            return False
        try:
            summed = await self._sum_up(batch)
        except (SummaryRejected, RemoteError) as error:
            self._note(session, error)
            return False
        if summed is None:
            return False
        if summed.by == "model":
            self._failing.pop(session, None)
        found = await self._p.database.read(partial(self._check, batch, summed))
        done = await self._p.database.write(partial(self._keep, batch, summed, found))
        if done is not None:
            self._p.files.mark_dirty([done])
            counted = {"turns": len(batch.turns), "gaps": len(found), "tokens": summed.use.tokens}
            await self._p.bus.emit(COMPACTION_FINISHED, ACTOR, "", session=session, by=summed.by, **counted)
        return True

    async def _sum_up(self, batch: SummaryBatch) -> Summary | None:
        """Summarize a batch; None while it has to wait. Raises SummaryRejected, RemoteError."""
        if batch.deep:
            return await self._summarize_by_rules(batch)
        trouble = self._failing.get(batch.session)
        waits = trouble is not None and self._p.clock.monotonic() < trouble.not_before
        try:
            if not waits:
                return await self._summarize(batch)
        except (SummaryRejected, RemoteError):
            if not batch.late:
                raise
        return await self._summarize_by_rules(batch) if batch.late else None

    async def _summarize(self, batch: SummaryBatch) -> Summary:
        """Summarize a batch. Raises SummaryRejected, or RemoteError when the model cannot be reached."""
        if self._model is None:
            return await self._summarize_by_rules(batch)
        request = prompt.build_request(
            batch.previous, batch.turns, batch.token_limit, self._p.zone, self._policy.compact
        )
        answer = await self._model.ask(request, session=batch.session)
        if answer is None:
            return await self._summarize_by_rules(batch)
        reply, use = answer
        lines = await self._compute(partial(self._read, reply, batch))
        if lines is None:
            await self._model.settle(use)
            raise SummaryRejected("memory.no_summary")
        return Summary(tuple(lines), "model", use)

    async def _summarize_by_rules(self, batch: SummaryBatch) -> Summary:
        """Summarize by rules: no call, no tokens."""

        def summarize() -> Iterator[SummaryLine]:
            known = set(batch.previous.lines)
            room = batch.token_limit
            for line in rule_summary.summarize(batch.previous, batch.turns, room, self._p.zone, pacing.step):
                pacing.step()
                yield line if line in known else _least_trusted(line, batch)

        return Summary(await self._compute(lambda: tuple(summarize())), "rules")

    def _read(self, reply: Reply, batch: SummaryBatch) -> list[SummaryLine] | None:
        """Parse the lines of an answer, within the token limit; None when it cannot stand for the batch."""
        policy = self._policy.compact
        if not reply.whole:
            return None
        answered = prompt.parse_lines(reply.text, len(batch.previous.lines), len(batch.turns), policy)
        if answered is None:
            return None
        lines = [_make_line(each, batch) for each in answered]
        length = sum(len(line.text) for line in lines)
        before = sum(len(line.text) for line in batch.previous.lines)
        if length < policy.min_chars or length < policy.min_length_share * before:
            return None
        while lines and sum(estimate_tokens(line.text) + 3 for line in lines) > batch.token_limit:
            worthless = min(range(len(lines)), key=lambda at: (rule_summary.sentence_value(lines[at].text), at))
            del lines[worthless]
        return lines or None

    def _note(self, session: str, error: SummaryRejected | RemoteError) -> None:
        """Back off from the model; until then the window stays as it is."""
        policy, trouble = self._policy.compact, self._failing.setdefault(session, ChatBackoff())
        trouble.back_off(Backoff(policy.first_backoff_seconds, policy.max_backoff_seconds), self._p.clock, error)
        _log.warning("%s could not be summed up: %s", session, error)

    def _look(self, session: str, connection: Connection) -> SummaryBatch | None:
        """Return the next batch of a session; None when nothing is due."""
        record = summary_rows.session_summary(connection, session)
        if self._is_short(session, record, connection):
            return None
        old = summary_rows.load_digest(connection, record) if record is not None else Digest()
        cursor = summary_rows.find_summary_end(connection, session, old)
        room = self._window.summary_budget
        lines = conversation.load_since(connection, session, cursor + 1, _LOOKED_AT)
        waiting = self._window.select_unsummarized(lines, room)
        if len(lines) == _LOOKED_AT:
            waiting = [line for line in lines[:-1] if line.id < _last_question(lines)]
        if not self._window.is_due(waiting):
            self._unsummed.put(
                session, _Unsummed(record, lines[-1].id if lines else cursor, len(lines), self._tokens(lines))
            )
            return None
        policy = self._policy.compact
        before = lines[len(waiting)].id if len(waiting) < len(lines) else lines[-1].id + 1
        found = summary_rows.turns_between(connection, session, cursor, before, policy.batch_turns)
        taken: list[ConversationTurn] = []
        left = policy.batch_tokens
        for turn in found:
            left -= min(estimate_tokens(turn.text), policy.max_turn_tokens) + min(
                estimate_tokens(turn.answer), policy.max_reply_tokens
            )
            if taken and left < 0:
                break
            taken.append(turn)
        if not taken:
            return None
        late, deep = self._window.is_overdue(waiting), len(waiting) > 2 * policy.batch_turns * policy.max_model_batches
        for_lines = room - int(room * policy.missing_share)
        return SummaryBatch(session, record, old, tuple(taken), for_lines, late, deep)

    def _is_short(self, session: str, record: Record | None, connection: Connection) -> bool:
        """Return whether what was said since the last look leaves nothing due; only that is read."""
        known = self._unsummed.get(session)
        if known is None or known.record != record:
            return False
        new = conversation.load_since(connection, session, known.newest + 1, _LOOKED_AT)
        messages, tokens = known.messages + len(new), known.tokens + self._tokens(new)
        if not self._window.is_short(messages, tokens):
            return False
        self._unsummed.put(session, _Unsummed(record, new[-1].id if new else known.newest, messages, tokens))
        return True

    def _tokens(self, lines: Sequence[StoredMessage]) -> int:
        return sum(map(self._window.line_tokens, lines))

    def _check(self, batch: SummaryBatch, summed: Summary, connection: Connection) -> list[Gap]:
        """Find what neither the new summary nor any memory holds of the turns that are extracted already."""
        policy, turns = self._policy.compact, batch.turns
        unread = buffer.cursor(connection, batch.session) if self._reads else turns[-1].last_message
        known = summary_rows.make_lookup(connection, batch.session, self._p.memory_search, policy)
        read = [turn for turn in turns if turn.last_message <= unread]
        return gaps.find_gaps(read, Digest(summed.lines, batch.previous.missing), known, self._p.zone, pacing.step)

    def _keep(self, batch: SummaryBatch, summed: Summary, found: Sequence[Gap], connection: Connection) -> int | None:
        """Write the summary with its cursor, gaps and tokens in one transaction; returns its record.

        None, and only the tokens, when a turn was erased or hidden meanwhile, or the summary was undone or edited.
        """
        summed.use.settle(connection)
        session, turns, now = batch.session, batch.turns, self._p.clock.now()
        cursor = summary_rows.find_summary_end(connection, session, batch.previous)
        again = summary_rows.turns_between(connection, session, cursor, turns[-1].last_message + 1, len(turns))
        if summary_rows.session_summary(connection, session) != batch.record or tuple(again) != turns:
            return None
        room, last = self._window.summary_budget, turns[-1].last_message
        digest = Digest(
            summed.lines, batch.previous.missing, last, summary_rows.message_time(connection, session, last) or ""
        )
        digest = derived_texts.bring_up_to_date(connection, session, digest)
        listed, unlisted = gaps.add_missing(digest, found, int(room * self._policy.compact.missing_share))
        number = self._put(
            connection, batch, trim_digest(listed, room), ChangeContext(now, ACTOR, _reason(summed), session)
        )
        if found:
            told = _count_gaps(found, unlisted)
            events.add_event(connection, now, ACTOR, GAP_EVENT, session=session, record=number, data=told)
        return number

    def _put(self, connection: Connection, batch: SummaryBatch, digest: Digest, act: ChangeContext) -> int:
        """Write a summary in place of the previous one."""
        evidence = tuple(sorted({turn.inbox_id for turn in batch.turns if turn.inbox_id is not None}))
        day = local_day(act.at, self._p.zone)
        if batch.record is None:
            candidate = Candidate(
                FORM,
                chat_scope(batch.session),
                digest.text,
                category=CATEGORY,
                source="sleep",
                trust=digest.trust,
                slot=SLOT,
                attributes=tuple(digest.attributes.items()),
                importance=self._policy.importance,
                evidence=evidence[-self._policy.compact.max_evidence :],
            )
            decision = admit(
                connection, candidate, AdmitContext(act.at, day, act.actor, act.session, policy=self._policy)
            )
            if decision.record is None:
                raise ValueError(f"a summary was {decision.action}: {decision.reason}")
            return decision.record
        evidence = tuple(sorted({*batch.record.source_message_ids, *evidence}))[-self._policy.compact.max_evidence :]
        now = stamp(act.at)
        values: Mapping[str, ColumnValue] = {
            "text": digest.text,
            "attributes": json.dumps(digest.attributes, ensure_ascii=False),
            "trust": digest.trust,
            "source_messages": json.dumps(evidence),
            "lang": detect_language(digest.text),
            "updated": now,
            "last_seen": now,
            "day": day,
        }
        change(connection, batch.record, "compacted", values, act)
        return batch.record.id


def _reason(summed: Summary) -> str:
    return "earlier messages are no longer shown" + (", summed up by rules" if summed.by == "rules" else "")


def _last_question(lines: Sequence[StoredMessage]) -> int:
    """Return the last message of a person, so that no turn is cut in two."""
    return next((line.id for line in reversed(lines) if line.role == "user"), lines[-1].id)


def _count_gaps(found: Sequence[Gap], unlisted: int) -> dict[str, Json]:
    """Count the gaps of a self-check; the event holds no words."""
    kinds: dict[str, Json] = {**Counter(gap.kind for gap in found)}
    turns: list[Json] = [*dict.fromkeys(gap.turn for gap in found if gap.turn is not None)]
    return {"kinds": kinds, "unlisted": unlisted, "turns": turns}


def _make_line(answered: prompt.ParsedLine, batch: SummaryBatch) -> SummaryLine:
    """Turn a model's line into one of the summary, with the least trust of its sources."""
    turns = [batch.turns[at] for at in answered.turns]
    earlier = [batch.previous.lines[at] for at in answered.summary]
    if not turns and not earlier:  # without sources it may be made of anything
        turns, earlier = list(batch.turns), list(batch.previous.lines)
    inboxes = [turn.inbox_id for turn in turns if turn.inbox_id is not None]
    inboxes += [number for line in earlier for number in line.turns]
    trusts = [*(line.trust for line in earlier), _trust_in(answered.text, turns or batch.turns, batch)]
    return SummaryLine(answered.text, least_trusted(trusts, "owner"), tuple(dict.fromkeys(inboxes)))


def _least_trusted(line: SummaryLine, batch: SummaryBatch) -> SummaryLine:
    """Lower the trust of a line that the rules took from a turn to that of those whose words it repeats."""
    told = [turn for turn in batch.turns if turn.inbox_id in line.turns and turn.inbox_id is not None] or batch.turns
    return replace(line, trust=least_trusted([line.trust, _trust_in(line.text, told, batch)], "owner"))


def _trust_in(text: str, told: Sequence[ConversationTurn], batch: SummaryBatch) -> Trust:
    voices = [
        AttributedText(line.trust, line.text) for line in batch.previous.lines if line.trust not in ("owner", "model")
    ]
    return trust_of(text, told, batch.turns, voices)
