"""Drives one turn: does what `kenobot.agent.turn.state_machine.step` says, and tells it what came of it."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from zoneinfo import ZoneInfo

from kenobot.agent import isolated_admit
from kenobot.agent.commands.registry import CommandCall, CommandListener, CommandRegistry, CommandResult
from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.agent.model_router import ModelRouter
from kenobot.agent.prompt.prompt_service import PromptService
from kenobot.agent.safety import trifecta
from kenobot.agent.turn.state_machine import (
    AskModel,
    BuildContext,
    ClaimMessage,
    CommitTurn,
    ContextBuilt,
    Defer,
    Effect,
    EffectFailed,
    Ending,
    MessageClaimed,
    ModelReplied,
    MoveToDeadLetters,
    ProbeFinished,
    ProbeModel,
    ProcessReply,
    ReplyProcessed,
    ReportFailure,
    RunCommand,
    Stop,
    TurnCommitted,
    TurnEvent,
    TurnPolicy,
    TurnState,
    Wait,
    WaitElapsed,
    step,
)
from kenobot.agent.turn.turn_data import CollectedEffects, TurnData
from kenobot.agent.turn.turn_signals import TurnSignals, show_typing
from kenobot.cognitive.control import reactions
from kenobot.cognitive.identity import onboarding
from kenobot.cognitive.identity.identity_files import Identity
from kenobot.cognitive.identity.reply_grade import ReplyGrade, grade_reply
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.procedural import outcome
from kenobot.cognitive.recall import usage as access
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import proposals
from kenobot.cognitive.text.provenance import Provenance
from kenobot.core import redaction, texts
from kenobot.core.bus import Bus
from kenobot.core.i18n import Language, guess_language
from kenobot.core.log import current_trace as log_trace
from kenobot.core.redaction import Redactor
from kenobot.gateway.access import Access
from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, StoreError
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.ports.names import sanitize_name
from kenobot.ports.provider import Reply
from kenobot.ports.signals import (
    MESSAGE_DEAD_LETTERED,
    MESSAGE_DEFERRED,
    MESSAGE_EXPIRED,
    MESSAGE_OUT,
    THINKING_END,
    THINKING_START,
    TURN_FAILED,
    PayloadValue,
    Signal,
)
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage import conversation, inbox, outbox, reply_checkpoints
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import PendingMessage

_log = logging.getLogger(__name__)

_ENDINGS: Mapping[inbox.FinalState, Signal] = {
    "failed": TURN_FAILED,
    "expired": MESSAGE_EXPIRED,
    "dead": MESSAGE_DEAD_LETTERED,
}


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What a runner works with."""

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    access: Access
    prompt_service: PromptService
    embedding: EmbeddingWorker
    mirror: MemoryFiles
    model: ModelRouter
    pipeline: Pipeline
    channels: Mapping[str, Channel]
    redact: Redactor
    rng: Random
    commands: CommandRegistry
    command_listeners: Sequence[CommandListener]
    identity: Identity
    delivery: Delivery
    language: Language | None = None
    policy: TurnPolicy = field(default_factory=TurnPolicy)


class TurnRunner:
    """Runs a turn to its end; never raises but when cancelled, and then gives the claim back.

    Returns whether the message is done with. If not, no model could be reached, and it has to be taken up again.
    """

    def __init__(self, parts: TurnServices) -> None:
        self._p = parts
        self._inbox = inbox.Inbox(parts.database, parts.clock)
        self._herald = TurnSignals(parts.bus)

    async def run(self, pending: PendingMessage) -> bool:
        token = log_trace.set(pending.trace)
        principal = self._p.access.principal(pending.inbound)
        language = self._p.language or guess_language(pending.inbound.text)
        order = await self._p.commands.resolve(self._p.database, pending.inbound, principal, self._p.clock.now())
        work = TurnData(pending, principal, language, order)
        await self._herald.emit(THINKING_START, pending, channel=pending.inbound.channel, chat=pending.inbound.chat)
        try:
            async with show_typing(self._p.channels.get(pending.inbound.channel), pending.inbound.chat):
                return await self._drive(work)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._inbox.release(pending.id, work.attempt)
            raise
        finally:
            await self._herald.emit(THINKING_END, pending, channel=pending.inbound.channel, chat=pending.inbound.chat)
            log_trace.reset(token)

    async def _drive(self, work: TurnData) -> bool:
        turn = TurnState(deferrals=work.pending.deferrals)
        effect: Effect = ClaimMessage()
        while not isinstance(effect, Stop):
            try:
                happening = await self._perform(effect, work)
            except Exception as error:
                _log.warning("%s: %s: %s", type(effect).__name__, type(error).__name__, error, exc_info=_bug(error))
                happening = EffectFailed(error, self._elapsed(work))
            turn, effect = step(turn, happening, self._p.policy, self._p.rng)
        return not turn.deferred

    def _elapsed(self, work: TurnData) -> float:
        return 0.0 if work.first_call_at is None else self._p.clock.monotonic() - work.first_call_at

    async def _perform(self, effect: Effect, work: TurnData) -> TurnEvent:
        match effect:
            case ClaimMessage():
                return await self._claim(work)
            case RunCommand():
                await self._obey(work)
                return TurnCommitted()
            case BuildContext(narrow):
                work.context = await self._p.prompt_service.build(work.pending, work.principal, reduced=narrow)
                return ContextBuilt()
            case AskModel(level):
                assert work.context is not None
                if work.first_call_at is None:
                    work.first_call_at = self._p.clock.monotonic()
                return ModelReplied(await self._p.model.ask(work.context.request, level))
            case ProbeModel():
                return ProbeFinished(await self._p.model.probe())
            case ProcessReply(reply, fresh):
                self._process(work, reply, fresh)
                return ReplyProcessed()
            case CommitTurn():
                await self._commit(work)
                return TurnCommitted()
            case ReportFailure() | MoveToDeadLetters() | Defer():
                await self._finish(effect, work)
                return TurnCommitted()
            case Wait(seconds):
                await self._p.clock.sleep(seconds)
                return WaitElapsed()
            case Stop():
                raise AssertionError("nothing follows a stop")

    async def _finish(self, ending: Ending, work: TurnData) -> None:
        match ending:
            case ReportFailure(sentence, reason, end):
                await self._tell(work, end, sentence(work.language), reason)
            case MoveToDeadLetters(reason):
                await self._tell(work, "dead", texts.BROKEN(work.language), reason)
            case Defer(reason):
                await self._park(work, reason)

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _claim(self, work: TurnData) -> MessageClaimed:
        pending = work.pending
        age = (self._p.clock.now() - pending.waiting_since).total_seconds()
        order = work.command is not None
        if pending.claimed and not work.attempt:
            work.attempt = pending.attempts
            return MessageClaimed(work.attempt, None, age, order)
        first, work.attempt = not work.attempt, await self._inbox.claim(pending.id)
        if pending.fresh and first:
            return MessageClaimed(work.attempt, None, age, order)
        saved = await self._p.database.read(lambda connection: reply_checkpoints.saved_reply(connection, pending.id))
        return MessageClaimed(work.attempt, saved, age, order)

    async def _obey(self, work: TurnData) -> None:
        """Carry out a command and answer it, in one transaction."""
        assert work.command is not None
        pending, (command, rest), at = work.pending, work.command, self._p.clock.now()
        order = CommandCall(pending.inbound, work.principal, rest, work.language, at, pending.id)
        if command.stores_argument:
            await self._p.embedding.embed_statements([rest])

        def write(connection: Connection) -> tuple[CommandResult, list[Outbound]]:
            inbox.finish(connection, pending.id, work.attempt, "answered", at)
            result = command.run(connection, order)
            return result, outbox.enqueue(connection, _letter(pending), self._render(pending, result.text), at)

        result, waiting = await self._p.database.write(write)
        for listener in self._p.command_listeners:
            listener.after_command(result.changes)
        self._p.delivery.dispatch(waiting)
        self._p.mirror.mark_dirty(())  # it may have changed memory
        self._p.embedding.wake()
        where: dict[str, PayloadValue] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self._herald.emit(MESSAGE_OUT, pending, text=result.text, **where)

    async def _park(self, work: TurnData, reason: str) -> None:
        """Put the message back for later; the first time, ask the person for patience. That is no part of the talk."""
        pending = work.pending
        parts = self._render(pending, texts.PATIENCE(work.language))[:1]

        def write(connection: Connection) -> list[Outbound]:
            if not inbox.defer(connection, pending.id, work.attempt):
                return []
            return outbox.enqueue(connection, _letter(pending, -1), parts, self._p.clock.now())

        self._p.delivery.dispatch(await self._p.database.write(write))
        await self._herald.emit(
            MESSAGE_DEFERRED, pending, reason=self._p.redact(reason)[:500], parks=pending.deferrals + 1
        )

    def _process(self, work: TurnData, reply: Reply, fresh: bool) -> None:
        """Clean the reply and collect what its tags ask for."""
        pending, context = work.pending, work.context
        assert context is not None
        reply = replace(
            reply, text=self._p.redact.redact_known(reply.text)
        )  # also in what is kept of it, and in memory
        work.unsaved_reply = reply if fresh else None
        effects = work.effects = CollectedEffects(pending.session, work.principal)
        cleaned = self._p.pipeline.process(reply.text, context.untrusted_texts, effects, work.language)
        mark = texts.LINK_REMOVED(work.language)
        closed = trifecta.guard_reply(cleaned.clean, effects.candidates, context.exposure, context.texts, mark)
        whose = Provenance(context.speech)
        effects.candidates = [replace(item, trust=whose.lowest_trust(item)) for item in closed.candidates]
        work.processed, work.removed_urls = replace(cleaned, clean=closed.reply), closed.removed_urls
        work.grade = grade_reply(work.processed.clean, pending.inbound.text, context.memory_texts)
        work.violated_rules = tuple(self._p.identity.violations(work.processed.clean))

    async def _commit(self, work: TurnData) -> None:
        """One transaction: history, memory, outbox, inbox done. Then the doorbells.

        The checkpoint of the reply goes just before it: it stays when the rest fails.
        """
        assert work.processed is not None and work.effects is not None
        effects = work.effects
        clean = self._p.redact.redact_known(work.processed.clean) or texts.SILENT(work.language)
        if any(redaction.find_secret(candidate.text) for candidate in effects.candidates):
            clean = f"{clean}\n\n{texts.SECRET_REFUSED(work.language)}"
        parts = self._render(work.pending, clean)
        await self._p.embedding.embed_statements(candidate.text for candidate in effects.candidates)
        work.decisions, waiting, reacted = await self._p.database.write(
            lambda connection: self._write(connection, work, clean, parts), before=self._checkpoint(work)
        )
        self._p.delivery.dispatch(waiting)
        decided = [decision.record for _, decision in work.decisions if decision.record is not None]
        self._p.mirror.mark_dirty([*decided, *reacted])
        self._p.embedding.wake()
        if effects.bootstrap_ended:
            await self._put_bootstrap_away()
        await self._herald.announce_commit(work, clean)

    async def _put_bootstrap_away(self) -> None:
        """The chat's own state is committed; should the file stay, other chats go on with it until it can be moved."""
        try:
            await asyncio.to_thread(self._p.identity.finish_bootstrap)
        except OSError as error:
            _log.warning("BOOTSTRAP.md could not be moved to the archive: %s", error)

    def _write(
        self, connection: Connection, work: TurnData, clean: str, parts: Sequence[MessagePart]
    ) -> tuple[list[tuple[Candidate, Decision]], list[Outbound], list[int]]:
        pending, context, effects = work.pending, work.context, work.effects
        assert context is not None and effects is not None
        at = self._p.clock.now()
        inbox.finish(connection, pending.id, work.attempt, "answered", at)
        reacted = _react(connection, pending, work.principal, at)
        words, trust = pending.inbound.prompt_text, work.principal.trust
        conversation.append(connection, pending.session, "user", words, at, pending.id, trust, context.notes)
        conversation.append(connection, pending.session, "assistant", clean, at, pending.id, "model")
        conversation.set_scope(connection, pending.id, work.principal.write_scope)
        conversation.save_prefix(connection, context.prefix, context.previous_prefix)
        access.log_usage(connection, context.memory, pending.id, pending.session, at, work.principal.read_scopes)
        if context.bootstrap is not None:
            state = onboarding.completed(context.bootstrap) if effects.bootstrap_ended else context.bootstrap
            onboarding.save(connection, pending.session, state)
        occasion = AdmitContext(
            at,
            at.astimezone(self._p.zone).date().isoformat(),
            "model",
            pending.session,
            evidence=pending.id,
            speaker_name=sanitize_name(pending.inbound.user_name),
            nearness=self._p.embedding.nearness,
        )
        # The same words twice in one reply are said once: a reply can hold thousands of the same tag.
        asked = dict.fromkeys(effects.candidates)
        decisions = [(item, isolated_admit.admit_isolated(connection, item, occasion)) for item in asked]
        waiting = outbox.enqueue(connection, _letter(pending), parts, at)
        proposals.log_broken_rules(connection, work.violated_rules, pending.id, pending.session, at)
        reply_checkpoints.mark_committed(connection, pending.id, at, _grade_text(work.grade))
        return decisions, waiting, reacted

    def _checkpoint(self, work: TurnData) -> Callable[[Connection], None] | None:
        reply, pending, at = work.unsaved_reply, work.pending, self._p.clock.now()
        if reply is None:
            return None
        return lambda connection: reply_checkpoints.checkpoint(
            connection, pending.id, pending.session, pending.trace, reply, at
        )

    async def _tell(self, work: TurnData, end: inbox.FinalState, sentence: str, reason: str) -> None:
        """Say in one sentence that there is no answer. It stays out of the talk, where it might break other turns."""
        pending = work.pending
        reason = self._p.redact(reason)[:500]
        parts = self._render(pending, sentence)

        def write(connection: Connection) -> list[Outbound]:
            at = self._p.clock.now()
            inbox.finish(connection, pending.id, work.attempt, end, at, reason)
            return outbox.enqueue(connection, _letter(pending), parts, at)

        self._p.delivery.dispatch(await self._p.database.write(write))
        where: dict[str, PayloadValue] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self._herald.emit(_ENDINGS[end], pending, reason=reason, **where)
        await self._herald.emit(MESSAGE_OUT, pending, text=sentence, **where)

    def _render(self, pending: PendingMessage, text: str) -> Sequence[MessagePart]:
        channel = self._p.channels.get(pending.inbound.channel)
        return channel.render(text) if channel is not None else [MessagePart(text)]


def _letter(pending: PendingMessage, first: int = 0) -> outbox.Destination:
    return outbox.Destination(pending.inbound.channel, pending.inbound.chat, pending.trace, pending.id, first)


def _react(connection: Connection, pending: PendingMessage, principal: Principal, at: datetime) -> list[int]:
    """Apply what the message says of the last replies' memories and advice. A mistake costs itself, not the reply."""

    def react() -> list[int]:
        text = pending.inbound.text
        reacted = reactions.apply_reaction(connection, pending.session, text, principal, at)
        return reacted + outcome.apply_outcome(connection, pending.session, text, principal, at, reacted)

    return isolated_admit.in_savepoint(connection, "reaction", react, lambda _: [])


def _grade_text(graded: ReplyGrade | None) -> str:
    if graded is None:
        return ""
    return json.dumps({"quality": graded.quality, "score": graded.score, "signals": list(graded.signals)})


def _bug(error: Exception) -> bool:
    """Whether the log should show where it happened: our own mistakes only."""
    return not isinstance(error, (KenobotError, MemoryError))
