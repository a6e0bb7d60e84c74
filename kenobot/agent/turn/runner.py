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
from kenobot.agent.commands.registry import Commands, Order
from kenobot.agent.embedding_worker import Embedding
from kenobot.agent.model_router import Model
from kenobot.agent.prompt.prompt_service import Building
from kenobot.agent.safety import trifecta
from kenobot.agent.turn.state_machine import (
    Apologise,
    AskModel,
    Begun,
    BuildContext,
    Bury,
    Claim,
    Commit,
    Committed,
    ContextBuilt,
    Effect,
    Ending,
    Failed,
    Happening,
    Obey,
    Park,
    Probe,
    Probed,
    Process,
    Processed,
    Replied,
    Stop,
    Turn,
    TurnPolicy,
    Wait,
    Waited,
    step,
)
from kenobot.agent.turn.turn_data import Effects, Work
from kenobot.agent.turn.turn_signals import Herald, typing
from kenobot.cognitive.control import reactions
from kenobot.cognitive.identity import bootstrap
from kenobot.cognitive.identity.reply_grade import Grade, grade
from kenobot.cognitive.mirror.tree import Tree
from kenobot.cognitive.procedural import outcome
from kenobot.cognitive.recall import access
from kenobot.cognitive.remember.occasion import Occasion
from kenobot.cognitive.store import proposals
from kenobot.core import redaction
from kenobot.core.bus import Bus
from kenobot.core.i18n import Language, guess, say
from kenobot.core.log import trace as log_trace
from kenobot.core.provenance import Provenance
from kenobot.core.redaction import Redactor
from kenobot.gateway.access import Access
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, StoreError
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.messages import Outbound, Part
from kenobot.ports.names import plain_name
from kenobot.ports.provider import Reply
from kenobot.ports.signals import (
    MESSAGE_DEAD,
    MESSAGE_EXPIRED,
    MESSAGE_OUT,
    MESSAGE_PARKED,
    THINKING_END,
    THINKING_START,
    TURN_FAILED,
    Signal,
    Value,
)
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage import conversation, inbox, outbox, reply_checkpoints
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import Pending

_log = logging.getLogger(__name__)

_ENDINGS: Mapping[inbox.End, Signal] = {"failed": TURN_FAILED, "expired": MESSAGE_EXPIRED, "dead": MESSAGE_DEAD}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a runner works with."""

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    access: Access
    building: Building
    embedding: Embedding
    mirror: Tree
    model: Model
    pipeline: Pipeline
    channels: Mapping[str, Channel]
    redact: Redactor
    rng: Random
    commands: Commands
    finish_bootstrap: Callable[[], None]
    violations: Callable[[str], Sequence[str]]
    hand_over: Callable[[Sequence[Outbound]], None]
    language: Language | None = None
    policy: TurnPolicy = field(default_factory=TurnPolicy)


class TurnRunner:
    """Runs a turn to its end; never raises but when cancelled, and then gives the claim back.

    Returns whether the message is done with. If not, no model could be reached, and it has to be taken up again.
    """

    def __init__(self, parts: Parts) -> None:
        self._p = parts
        self._inbox = inbox.Inbox(parts.database, parts.clock)
        self._herald = Herald(parts.bus)

    async def __call__(self, pending: Pending) -> bool:
        token = log_trace.set(pending.trace)
        principal = self._p.access.principal(pending.inbound)
        language = self._p.language or guess(pending.inbound.text)
        order = await self._p.commands.order(self._p.database, pending.inbound, principal, self._p.clock.now())
        work = Work(pending, principal, language, order)
        await self._herald.fire(THINKING_START, pending, channel=pending.inbound.channel, chat=pending.inbound.chat)
        try:
            async with typing(self._p.channels.get(pending.inbound.channel), pending.inbound.chat):
                return await self._drive(work)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._inbox.release(pending.id, work.attempt)
            raise
        finally:
            await self._herald.fire(THINKING_END, pending, channel=pending.inbound.channel, chat=pending.inbound.chat)
            log_trace.reset(token)

    async def _drive(self, work: Work) -> bool:
        turn = Turn(parks=work.pending.parks)
        effect: Effect = Claim()
        while not isinstance(effect, Stop):
            try:
                happening = await self._perform(effect, work)
            except Exception as error:
                _log.warning("%s: %s: %s", type(effect).__name__, type(error).__name__, error, exc_info=_bug(error))
                happening = Failed(error, self._elapsed(work))
            turn, effect = step(turn, happening, self._p.policy, self._p.rng)
        return not turn.parked

    def _elapsed(self, work: Work) -> float:
        return 0.0 if work.asked_at is None else self._p.clock.monotonic() - work.asked_at

    async def _perform(self, effect: Effect, work: Work) -> Happening:
        match effect:
            case Claim():
                return await self._claim(work)
            case Obey():
                await self._obey(work)
                return Committed()
            case BuildContext(narrow):
                work.context = await self._p.building(work.pending, work.principal, narrow=narrow)
                return ContextBuilt()
            case AskModel(level):
                assert work.context is not None
                if work.asked_at is None:
                    work.asked_at = self._p.clock.monotonic()
                return Replied(await self._p.model.ask(work.context.request, level))
            case Probe():
                return Probed(await self._p.model.answers())
            case Process(reply, fresh):
                self._process(work, reply, fresh)
                return Processed()
            case Commit():
                await self._commit(work)
                return Committed()
            case Apologise() | Bury() | Park():
                await self._finish(effect, work)
                return Committed()
            case Wait(seconds):
                await self._p.clock.sleep(seconds)
                return Waited()
            case Stop():
                raise AssertionError("nothing follows a stop")

    async def _finish(self, ending: Ending, work: Work) -> None:
        match ending:
            case Apologise(sentence, reason, end):
                await self._tell(work, end, say(sentence, work.language), reason)
            case Bury(reason):
                await self._tell(work, "dead", say("broken", work.language), reason)
            case Park(reason):
                await self._park(work, reason)

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _claim(self, work: Work) -> Begun:
        pending = work.pending
        age = (self._p.clock.now() - pending.since).total_seconds()
        order = work.order is not None
        if pending.claimed and not work.attempt:
            work.attempt = pending.attempts
            return Begun(work.attempt, None, age, order)
        first, work.attempt = not work.attempt, await self._inbox.claim(pending.id)
        if pending.fresh and first:
            return Begun(work.attempt, None, age, order)
        saved = await self._p.database.read(lambda connection: reply_checkpoints.saved(connection, pending.id))
        return Begun(work.attempt, saved, age, order)

    async def _obey(self, work: Work) -> None:
        """Carry out a command and answer it, in one transaction."""
        assert work.order is not None
        pending, (command, rest), at = work.pending, work.order, self._p.clock.now()
        order = Order(pending.inbound, work.principal, rest, work.language, at, pending.id)
        if getattr(command, "admits", False):
            await self._p.embedding.prepare([rest])

        def write(connection: Connection) -> tuple[str, list[Outbound]]:
            inbox.finish(connection, pending.id, work.attempt, "answered", at)
            answer = command.run(connection, order)
            return answer, outbox.enqueue(connection, _letter(pending), self._render(pending, answer), at)

        answer, waiting = await self._p.database.write(write)
        self._p.hand_over(waiting)
        self._p.mirror.mark(())  # it may have changed memory
        self._p.embedding.wake()
        where: dict[str, Value] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self._herald.fire(MESSAGE_OUT, pending, text=answer, **where)

    async def _park(self, work: Work, reason: str) -> None:
        """Put the message back for later; the first time, ask the person for patience. That is no part of the talk."""
        pending = work.pending
        parts = self._render(pending, say("patience", work.language))[:1]

        def write(connection: Connection) -> list[Outbound]:
            if not inbox.park(connection, pending.id, work.attempt):
                return []
            return outbox.enqueue(connection, _letter(pending, -1), parts, self._p.clock.now())

        self._p.hand_over(await self._p.database.write(write))
        await self._herald.fire(MESSAGE_PARKED, pending, reason=self._p.redact(reason)[:500], parks=pending.parks + 1)

    def _process(self, work: Work, reply: Reply, fresh: bool) -> None:
        """Clean the reply and collect what its tags ask for."""
        pending, context = work.pending, work.context
        assert context is not None
        reply = replace(reply, text=self._p.redact.known(reply.text))  # also in what is kept of it, and in memory
        work.unsaved = reply if fresh else None
        effects = work.effects = Effects(pending.session, work.principal)
        cleaned = self._p.pipeline.process(reply.text, context.untrusted, effects, work.language)
        mark = say("link", work.language)
        closed = trifecta.close(cleaned.clean, effects.candidates, context.exposure, context.texts, mark)
        whose = Provenance(context.said)
        effects.candidates = [replace(item, trust=whose.least(item)) for item in closed.candidates]
        work.cleaned, work.cut = replace(cleaned, clean=closed.reply), closed.cut
        work.grade = grade(work.cleaned.clean, pending.inbound.text, context.shown)
        work.violated = tuple(self._p.violations(work.cleaned.clean))

    async def _commit(self, work: Work) -> None:
        """One transaction: history, memory, outbox, inbox done. Then the doorbells.

        The checkpoint of the reply goes just before it: it stays when the rest fails.
        """
        assert work.cleaned is not None and work.effects is not None
        effects = work.effects
        clean = self._p.redact.known(work.cleaned.clean) or say("silent", work.language)
        if any(redaction.find(candidate.text) for candidate in effects.candidates):
            clean = f"{clean}\n\n{say('secret', work.language)}"
        parts = self._render(work.pending, clean)
        await self._p.embedding.prepare(candidate.text for candidate in effects.candidates)
        work.decisions, waiting, reacted = await self._p.database.write(
            lambda connection: self._write(connection, work, clean, parts), before=self._checkpoint(work)
        )
        self._p.hand_over(waiting)
        decided = [decision.record for _, decision in work.decisions if decision.record is not None]
        self._p.mirror.mark([*decided, *reacted])
        self._p.embedding.wake()
        if effects.bootstrap_ended:
            await self._put_bootstrap_away()
        await self._herald.tell(work, clean)

    async def _put_bootstrap_away(self) -> None:
        """The chat's own state is committed; should the file stay, other chats go on with it until it can be moved."""
        try:
            await asyncio.to_thread(self._p.finish_bootstrap)
        except OSError as error:
            _log.warning("BOOTSTRAP.md could not be moved to the archive: %s", error)

    def _write(
        self, connection: Connection, work: Work, clean: str, parts: Sequence[Part]
    ) -> tuple[list[tuple[Candidate, Decision]], list[Outbound], list[int]]:
        pending, context, effects = work.pending, work.context, work.effects
        assert context is not None and effects is not None
        at = self._p.clock.now()
        inbox.finish(connection, pending.id, work.attempt, "answered", at)
        reacted = _react(connection, pending, work.principal, at)
        words, trust = pending.inbound.words, work.principal.trust
        conversation.append(connection, pending.session, "user", words, at, pending.id, trust, context.notes)
        conversation.append(connection, pending.session, "assistant", clean, at, pending.id, "model")
        conversation.belongs(connection, pending.id, work.principal.writes)
        conversation.keep_frame(connection, context.frame, context.frame_before)
        access.note(connection, context.used, pending.id, pending.session, at, work.principal.reads)
        if context.bootstrap is not None:
            state = bootstrap.ended(context.bootstrap) if effects.bootstrap_ended else context.bootstrap
            bootstrap.save(connection, pending.session, state)
        occasion = Occasion(
            at,
            at.astimezone(self._p.zone).date().isoformat(),
            "model",
            pending.session,
            evidence=pending.id,
            by=plain_name(pending.inbound.user_name),
            near=self._p.embedding.nearness,
        )
        # The same words twice in one reply are said once: a reply can hold thousands of the same tag.
        asked = dict.fromkeys(effects.candidates)
        decisions = [(item, isolated_admit.take(connection, item, occasion)) for item in asked]
        waiting = outbox.enqueue(connection, _letter(pending), parts, at)
        proposals.note_broken(connection, work.violated, pending.id, pending.session, at)
        reply_checkpoints.commit(connection, pending.id, at, _grade_text(work.grade))
        return decisions, waiting, reacted

    def _checkpoint(self, work: Work) -> Callable[[Connection], None] | None:
        reply, pending, at = work.unsaved, work.pending, self._p.clock.now()
        if reply is None:
            return None
        return lambda connection: reply_checkpoints.checkpoint(
            connection, pending.id, pending.session, pending.trace, reply, at
        )

    async def _tell(self, work: Work, end: inbox.End, sentence: str, reason: str) -> None:
        """Say in one sentence that there is no answer. It stays out of the talk, where it might break other turns."""
        pending = work.pending
        reason = self._p.redact(reason)[:500]
        parts = self._render(pending, sentence)

        def write(connection: Connection) -> list[Outbound]:
            at = self._p.clock.now()
            inbox.finish(connection, pending.id, work.attempt, end, at, reason)
            return outbox.enqueue(connection, _letter(pending), parts, at)

        self._p.hand_over(await self._p.database.write(write))
        where: dict[str, Value] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self._herald.fire(_ENDINGS[end], pending, reason=reason, **where)
        await self._herald.fire(MESSAGE_OUT, pending, text=sentence, **where)

    def _render(self, pending: Pending, text: str) -> Sequence[Part]:
        channel = self._p.channels.get(pending.inbound.channel)
        return channel.render(text) if channel is not None else [Part(text)]


def _letter(pending: Pending, first: int = 0) -> outbox.Letter:
    return outbox.Letter(pending.inbound.channel, pending.inbound.chat, pending.trace, pending.id, first)


def _react(connection: Connection, pending: Pending, principal: Principal, at: datetime) -> list[int]:
    """Apply what the message says of the last replies' memories and advice. A mistake costs itself, not the reply."""

    def react() -> list[int]:
        text = pending.inbound.text
        reacted = reactions.react(connection, pending.session, text, principal, at)
        return reacted + outcome.learn(connection, pending.session, text, principal, at, reacted)

    return isolated_admit.apart(connection, "reaction", react, lambda _: [])


def _grade_text(graded: Grade | None) -> str:
    if graded is None:
        return ""
    return json.dumps({"quality": graded.quality, "score": graded.score, "signals": list(graded.signals)})


def _bug(error: Exception) -> bool:
    """Whether the log should show where it happened: our own mistakes only."""
    return not isinstance(error, (KenobotError, MemoryError))
