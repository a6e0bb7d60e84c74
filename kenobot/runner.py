"""Drives one turn: does what `kenobot.turn.step` says, and tells it what came of it."""

import asyncio
import contextlib
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from zoneinfo import ZoneInfo

from kenobot import inbox, outbox, secrets, sessions, turns
from kenobot.access import Access
from kenobot.bus import Bus
from kenobot.clock import Clock
from kenobot.cognitive.identity import bootstrap
from kenobot.cognitive.metacognition.grade import Grade, grade
from kenobot.cognitive.mirror.sync import Mirror
from kenobot.cognitive.remember.admit import Occasion, admit
from kenobot.context import Context, ContextBuilder
from kenobot.db import Connection, Database, savepoint
from kenobot.errors import KenobotError, StoreError
from kenobot.inbox import Pending
from kenobot.language import Language, guess, say
from kenobot.log import trace as log_trace
from kenobot.model import Model
from kenobot.ports import OWNER_SCOPE, Candidate, Channel, Decision, Outbound, Part, Principal, Reply, ShowsTyping
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.postprocessors.pipeline import Processed as Cleaned
from kenobot.secrets import Redactor
from kenobot.signals import (
    BOOTSTRAP_DONE,
    CONFIG_CHANGED,
    MEMORY_WRITTEN,
    MESSAGE_DEAD,
    MESSAGE_OUT,
    PROCESSOR_FAILED,
    REPLY_GRADED,
    TAG_INERT,
    THINKING_END,
    THINKING_START,
    TURN_FAILED,
    Signal,
    Value,
)
from kenobot.turn import (
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
    Failed,
    Happening,
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

_log = logging.getLogger(__name__)

_TYPING_SECONDS = 4.0
_REASONS: Mapping[str, str] = {
    "note": "memory update",
    "episode": "chat memory update",
    "profile": "chat context update",
}


@dataclass(slots=True)
class _Effects:
    """What post-processors want of this turn; see `kenobot.ports.TurnEffects`."""

    session: str
    principal: Principal
    candidates: list[Candidate] = field(default_factory=list)
    bootstrap_ended: bool = False

    def admit(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)

    def end_bootstrap(self) -> None:
        self.bootstrap_ended = OWNER_SCOPE in self.principal.reads  # the first conversation is the owner's


@dataclass(slots=True)
class _Work:
    """One turn's working papers, from claim to commit."""

    pending: Pending
    principal: Principal
    language: Language
    attempt: int = 0
    context: Context | None = None
    unsaved: Reply | None = None
    effects: _Effects | None = None
    cleaned: Cleaned | None = None
    grade: Grade | None = None
    decisions: list[tuple[Candidate, Decision]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a runner works with."""

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    access: Access
    builder: ContextBuilder
    mirror: Mirror
    model: Model
    pipeline: Pipeline
    channels: Mapping[str, Channel]
    redact: Redactor
    rng: Random
    finish_bootstrap: Callable[[], None]
    hand_over: Callable[[Sequence[Outbound]], None]
    language: Language | None = None
    policy: TurnPolicy = field(default_factory=TurnPolicy)


class TurnRunner:
    """Runs a turn to its end; never raises but when cancelled, and then gives the claim back."""

    def __init__(self, parts: Parts) -> None:
        self._p = parts
        self._inbox = inbox.Inbox(parts.database, parts.clock)

    async def __call__(self, pending: Pending) -> None:
        token = log_trace.set(pending.trace)
        work = _Work(
            pending,
            self._p.access.principal(pending.inbound),
            self._p.language or guess(pending.inbound.text),
        )
        await self._fire(THINKING_START, pending, channel=pending.inbound.channel, chat=pending.inbound.chat)
        try:
            async with self._typing(pending):
                await self._drive(work)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._inbox.release(pending.id, work.attempt)
            raise
        finally:
            await self._fire(THINKING_END, pending, channel=pending.inbound.channel, chat=pending.inbound.chat)
            log_trace.reset(token)

    async def _drive(self, work: _Work) -> None:
        turn = Turn()
        effect: Effect = Claim()
        while not isinstance(effect, Stop):
            try:
                happening = await self._perform(effect, work)
            except Exception as error:
                _log.warning("%s: %s: %s", type(effect).__name__, type(error).__name__, error, exc_info=_bug(error))
                happening = Failed(error)
            turn, effect = step(turn, happening, self._p.policy, self._p.rng)

    async def _perform(self, effect: Effect, work: _Work) -> Happening:
        match effect:
            case Claim():
                return await self._claim(work)
            case BuildContext():
                await self._build(work)
                return ContextBuilt()
            case AskModel():
                assert work.context is not None
                return Replied(await self._p.model.ask(work.context.request))
            case Process(reply, fresh):
                self._process(work, reply, fresh)
                return Processed()
            case Commit():
                await self._commit(work)
                return Committed()
            case Apologise(sentence, reason):
                await self._tell(work, "failed", say(sentence, work.language), reason)
                return Committed()
            case Bury(reason):
                await self._tell(work, "dead", say("broken", work.language), reason)
                return Committed()
            case Wait(seconds):
                await self._p.clock.sleep(seconds)
                return Waited()
            case Stop():
                raise AssertionError("nothing follows a stop")

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _claim(self, work: _Work) -> Begun:
        if work.pending.claimed and not work.attempt:
            work.attempt = work.pending.attempts
            return Begun(work.attempt)
        first, work.attempt = not work.attempt, await self._inbox.claim(work.pending.id)
        if work.pending.fresh and first:
            return Begun(work.attempt)
        return Begun(work.attempt, await self._p.database.read(lambda c: turns.saved(c, work.pending.id)))

    async def _build(self, work: _Work) -> None:
        """Build the prompt; if a person edited a file that it shows, take that in first."""
        pending, now = work.pending, self._p.clock.now()
        edited = self._p.mirror.glance(pending.session)

        def build(connection: Connection) -> Context | None:
            if edited is None or edited():
                return None
            return self._p.builder.build(connection, pending, work.principal, now)

        work.context = await self._p.database.read(build) if edited is not None else None
        if work.context is None:
            await self._p.mirror.take_in(pending.session)
            work.context = await self._p.database.read(
                lambda connection: self._p.builder.build(connection, pending, work.principal, now)
            )

    def _process(self, work: _Work, reply: Reply, fresh: bool) -> None:
        """Clean the reply and collect what its tags ask for."""
        pending, context = work.pending, work.context
        assert context is not None
        work.unsaved = reply if fresh else None
        effects = work.effects = _Effects(pending.session, work.principal)
        work.cleaned = self._p.pipeline.process(reply.text, context.untrusted, effects, work.language)
        work.grade = grade(work.cleaned.clean, pending.inbound.text, context.shown)

    async def _commit(self, work: _Work) -> None:
        """One transaction: history, memory, outbox, inbox done. Then the doorbells.

        The checkpoint of the reply goes just before it: it stays when the rest fails.
        """
        assert work.cleaned is not None and work.effects is not None
        effects = work.effects
        clean = self._p.redact.known(work.cleaned.clean) or say("silent", work.language)
        if any(secrets.find(candidate.text) for candidate in effects.candidates):
            clean = f"{clean}\n\n{say('secret', work.language)}"
        parts = self._render(work.pending, clean)
        work.decisions, waiting = await self._p.database.write(
            lambda connection: self._write(connection, work, clean, parts), before=self._checkpoint(work)
        )
        self._p.hand_over(waiting)
        self._p.mirror.mark([decision.record for _, decision in work.decisions if decision.record is not None])
        if effects.bootstrap_ended:
            await self._put_bootstrap_away()
        await self._announce(work, clean)

    async def _put_bootstrap_away(self) -> None:
        """The chat's own state is committed; should the file stay, other chats go on with it until it can be moved."""
        try:
            await asyncio.to_thread(self._p.finish_bootstrap)
        except OSError as error:
            _log.warning("BOOTSTRAP.md could not be moved to the archive: %s", error)

    def _write(
        self, connection: Connection, work: _Work, clean: str, parts: Sequence[Part]
    ) -> tuple[list[tuple[Candidate, Decision]], list[Outbound]]:
        pending, context, effects = work.pending, work.context, work.effects
        assert context is not None and effects is not None
        at = self._p.clock.now()
        inbox.finish(connection, pending.id, work.attempt, "answered", at)
        words, trust = pending.inbound.words, work.principal.trust
        sessions.append(connection, pending.session, "user", words, at, pending.id, trust, context.notes)
        sessions.append(connection, pending.session, "assistant", clean, at, pending.id, "model")
        sessions.keep_frame(connection, context.frame, context.frame_before)
        if context.bootstrap is not None:
            state = bootstrap.ended(context.bootstrap) if effects.bootstrap_ended else context.bootstrap
            bootstrap.save(connection, pending.session, state)
        occasion = Occasion(
            at, at.astimezone(self._p.zone).date().isoformat(), "model", pending.session, evidence=pending.id
        )
        decisions = [(item, _admit(connection, item, occasion)) for item in effects.candidates]
        waiting = outbox.enqueue(connection, _letter(pending), parts, at)
        turns.commit(connection, pending.id, at, _grade_text(work.grade))
        return decisions, waiting

    def _checkpoint(self, work: _Work) -> Callable[[Connection], None] | None:
        reply, pending, at = work.unsaved, work.pending, self._p.clock.now()
        if reply is None:
            return None
        return lambda connection: turns.checkpoint(connection, pending.id, pending.session, pending.trace, reply, at)

    async def _tell(self, work: _Work, end: inbox.End, sentence: str, reason: str) -> None:
        """Say in one sentence that there is no answer; the message stays in the history."""
        pending = work.pending
        reason = self._p.redact(reason)[:500]
        parts = self._render(pending, sentence)

        def write(connection: Connection) -> list[Outbound]:
            at = self._p.clock.now()
            inbox.finish(connection, pending.id, work.attempt, end, at, reason)
            words, trust = pending.inbound.words, work.principal.trust
            sessions.append(connection, pending.session, "user", words, at, pending.id, trust)
            return outbox.enqueue(connection, _letter(pending), parts, at)

        self._p.hand_over(await self._p.database.write(write))
        where: dict[str, Value] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self._fire(MESSAGE_DEAD if end == "dead" else TURN_FAILED, pending, reason=reason, **where)
        await self._fire(MESSAGE_OUT, pending, text=sentence, **where)

    def _render(self, pending: Pending, text: str) -> Sequence[Part]:
        channel = self._p.channels.get(pending.inbound.channel)
        return channel.render(text) if channel is not None else [Part(text)]

    async def _announce(self, work: _Work, clean: str) -> None:
        pending, cleaned = work.pending, work.cleaned
        assert cleaned is not None
        where: dict[str, Value] = {"channel": pending.inbound.channel, "chat": pending.inbound.chat}
        await self._fire(MESSAGE_OUT, pending, text=clean, **where)
        for candidate, decision in work.decisions:
            await self._fire(
                MEMORY_WRITTEN,
                pending,
                action=decision.action,
                reason=decision.reason,
                record=decision.record,
                form=candidate.form,
                scope=candidate.scope,
                text=candidate.text,
            )
            if candidate.form in _REASONS and decision.record is not None:
                await self._fire(CONFIG_CHANGED, pending, reason=_REASONS[candidate.form])
        for element in cleaned.inert:
            await self._fire(TAG_INERT, pending, tag=element.name)
        for name, error in cleaned.failures:
            await self._fire(PROCESSOR_FAILED, pending, processor=name, error=error)
        if work.effects is not None and work.effects.bootstrap_ended:
            await self._fire(BOOTSTRAP_DONE, pending, session=pending.session)
        if work.grade is not None:
            await self._fire(
                REPLY_GRADED,
                pending,
                quality=work.grade.quality,
                score=work.grade.score,
                signals=" ".join(work.grade.signals),
            )

    async def _fire(self, signal: Signal, pending: Pending, **payload: Value) -> None:
        await self._p.bus.fire(signal, "loop", pending.trace, **payload)

    @contextlib.asynccontextmanager
    async def _typing(self, pending: Pending) -> AsyncIterator[None]:
        """Show that an answer is on its way, for channels that can."""
        channel = self._p.channels.get(pending.inbound.channel)
        show = getattr(channel, "typing", None)
        if channel is None or show is None:
            yield
            return
        task = asyncio.create_task(_keep_typing(channel, pending.inbound.chat))  # type: ignore[arg-type]
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _keep_typing(channel: ShowsTyping, chat: str) -> None:
    while True:
        try:
            async with asyncio.timeout(_TYPING_SECONDS):
                await channel.typing(chat)
        except Exception as error:
            _log.debug("typing could not be shown: %r", error)
        await asyncio.sleep(_TYPING_SECONDS)


def _letter(pending: Pending, first: int = 0) -> outbox.Letter:
    return outbox.Letter(pending.inbound.channel, pending.inbound.chat, pending.trace, pending.id, first)


def _admit(connection: Connection, candidate: Candidate, occasion: Occasion) -> Decision:
    """A memory that cannot be written costs itself, not the reply. A failing disk costs the whole transaction."""
    try:
        with savepoint(connection, "memory"):
            return admit(connection, candidate, occasion)
    except sqlite3.OperationalError:
        raise
    except Exception as error:
        _log.exception("a memory could not be written")
        return Decision("discarded", f"{type(error).__name__}: {error}")


def _grade_text(graded: Grade | None) -> str:
    if graded is None:
        return ""
    return json.dumps({"quality": graded.quality, "score": graded.score, "signals": list(graded.signals)})


def _bug(error: Exception) -> bool:
    """Whether the log should show where it happened: our own mistakes only."""
    return not isinstance(error, KenobotError)
