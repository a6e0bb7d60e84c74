"""Run turns: perform each effect that `state_machine.step` asks for, and report what came of it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from kenobot.agent.commands.command import Command
from kenobot.agent.commands.registry import OFFER_CALENDAR, find_spoken_language
from kenobot.agent.media.intake import MediaIntake
from kenobot.agent.media.message_words import join_media
from kenobot.agent.media.problems import problem_text
from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.safety import trifecta
from kenobot.agent.turn import state_machine as machine
from kenobot.agent.turn.drafts import Drafts
from kenobot.agent.turn.edits import Edits, TakenEdit
from kenobot.agent.turn.file_answer import ask_for_file, wants_file
from kenobot.agent.turn.model_stage import ModelStage
from kenobot.agent.turn.notices import Notices
from kenobot.agent.turn.phases import PhaseTimes
from kenobot.agent.turn.pieces import ToolRound, join_text
from kenobot.agent.turn.previews import Previews
from kenobot.agent.turn.reaction import take_reaction
from kenobot.agent.turn.reply_writer import ReplyWriter, may_react
from kenobot.agent.turn.run_command import run_command
from kenobot.agent.turn.tool_rounds import brings_foreign, first_number, restore
from kenobot.agent.turn.turn_data import CollectedEffects, TurnData
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.agent.turn.turn_signals import StartLate, TurnSignals, show_typing, turn_figures
from kenobot.cognitive.memory import Replies
from kenobot.core import texts
from kenobot.core.containment import contain
from kenobot.core.i18n import Language, find_language
from kenobot.core.log import current_trace
from kenobot.core.worker import TextWork
from kenobot.gateway.bot_messages import sends_files
from kenobot.language.provenance import Provenance, SpeechContext
from kenobot.ports.channel import capabilities_of
from kenobot.ports.errors import AccountRefused, ClaimWithdrawn, KenobotError, StoreError
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate
from kenobot.ports.messages import Inbound
from kenobot.ports.provider import Reply
from kenobot.ports.signals import THINKING_END, THINKING_START
from kenobot.postprocessors.pipeline import join_replies
from kenobot.storage import inbox, outbox, turn_steps
from kenobot.storage.connection import Connection
from kenobot.storage.inbox_rows import PendingMessage

if TYPE_CHECKING:
    from kenobot.agent.turn.task_run import TaskRun

_log = logging.getLogger(__name__)

_WAITS = (machine.AskModel, machine.RunTools, machine.ProbeModel, machine.Wait)  # for something outside of this process


class TurnRunner:
    """Run turns to their end. A turn raises only when it is cancelled, and then gives its claim back."""

    def __init__(self, services: TurnServices) -> None:
        self._s = services
        self._inbox = inbox.Inbox(services.database, services.clock)
        self._signals = TurnSignals(services.bus)
        self._text_work = work = TextWork()
        shown = services.channels, services.clock, services.pipeline, services.redact, services.answer_parts, work
        parts = outbox.Outbox(services.database, services.clock)
        previews = Previews(services.database, services.clock, services.delivery, parts)
        drafts = Drafts(*shown, previews) if services.shows_drafts else None
        self._models = ModelStage(services, drafts, work)
        self._writer = ReplyWriter(services, self._models.settle_report)
        self._notices = Notices(
            services.database, services.clock, services.channels, services.delivery, services.redact, self._signals
        )
        self._edits = Edits(services.database, services.clock, services.zone)
        self._moving: dict[int, int] = {}  # bounded: the turns under way; turn

    def prepare(self, pending: PendingMessage) -> None:
        """Begin to read the attachments of a message."""
        if self._s.media is not None:
            self._s.media.begin(pending)

    def note_behind(self, under_way: PendingMessage, pending: PendingMessage) -> None:
        """Continue a turn as a task where the message behind it says so."""
        if self._s.tasks is not None and self._s.tasks.moves(under_way.inbound, pending.inbound):
            self._moving.setdefault(under_way.id, pending.id)

    async def run(self, pending: PendingMessage) -> bool:
        """Run a turn; returns whether the message is done with. If not, no model could be reached."""
        with self._s.database.pacer.turn():
            return await self._run(pending)

    async def run_task(self, pending: PendingMessage, run: "TaskRun") -> bool:
        """Run the turn of a task; returns whether it is done with or waits for its person. If not, no model answers."""
        token = current_trace.set(pending.trace)
        calls, began = self._s.model.calls_of(pending.session, pending.id), PhaseTimes(self._s.clock.now())
        principal, language = self._s.access.principal(pending.inbound), run.task.language
        data = TurnData(pending, principal, language, calls, began, task=run)
        data.attachments_read = not run.task.is_moved
        try:
            async with self._release_if_cancelled(data):
                with self._s.database.pacer.turn():
                    return await self._drive(data)
        finally:
            calls.leave()
            current_trace.reset(token)

    @contextlib.asynccontextmanager
    async def _release_if_cancelled(self, data: TurnData) -> AsyncIterator[None]:
        """Give the claim of a turn back where it is cancelled."""
        try:
            yield
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._inbox.release(data.pending.id, data.attempt)
            raise

    async def wait_for_model(self, longest: float) -> None:
        """Return when a model that did not answer may do so again."""
        await self._s.model.wait_until_available(longest)

    async def _run(self, pending: PendingMessage) -> bool:
        principal = self._s.access.principal(pending.inbound)
        taken = await self._take_in(pending, principal)
        if taken.pending is None:
            return True
        pending, given = taken.pending, taken.command
        token, inbound = current_trace.set(pending.trace), pending.inbound
        language = await self._choose_language(inbound, inbound.text)
        began = self._s.clock.now()
        command = (given, inbound.text) if given else await self._find_command(inbound, principal, began)
        pressed = ""
        if command is not None and command[0].for_model:  # a button that is as good as words
            pressed, command = command[1], None
            pending = replace(pending, inbound=_speak(inbound, pressed, language))
        calls = self._s.model.calls_of(pending.session, pending.id)
        data = TurnData(pending, principal, language, calls, PhaseTimes(began), command, renews=taken.renews)
        data.pressed = pressed
        data.attachments_read = given is not None
        await self._signals.emit_in_chat(THINKING_START, pending)
        try:
            async with (
                self._release_if_cancelled(data),
                show_typing(self._s.channels.get(inbound.channel), inbound.chat, inbound.thread),
                StartLate(
                    "patience", self._s.patience_seconds, lambda: self._notices.say_still_working(data), break_off=False
                ),
            ):
                return await self._drive(data)
        finally:
            self._moving.pop(pending.id, None)
            calls.leave()
            if data.draft is not None:
                await data.draft.withdraw()
            await self._signals.emit_in_chat(THINKING_END, pending, **turn_figures(data))
            current_trace.reset(token)

    async def _choose_language(self, inbound: Inbound, own_words: str) -> Language:
        """Choose the language of an answer: the one set, else that of the words, of the talk before, the default."""
        told = self._s.language or self._s.personal.of(inbound).language or find_language(own_words)
        if told is None:
            with contextlib.suppress(StoreError):
                told = await self._s.database.read(lambda c: find_spoken_language(c, inbound.session))
        return told or self._s.default_language

    async def _find_command(self, inbound: Inbound, principal: Principal, at: datetime) -> tuple[Command, str] | None:
        channel = self._s.channels.get(inbound.channel)
        one_reader = channel is not None and capabilities_of(channel).one_reader
        return await self._s.commands.find(self._s.database, inbound, principal, at, one_reader=one_reader)

    async def _take_in(self, pending: PendingMessage, principal: Principal) -> TakenEdit:
        """Return the message to answer, None for none, and the row whose answer that replaces."""
        kind = pending.inbound.kind
        if kind not in ("edit", "reaction"):
            return TakenEdit(pending)
        if kind == "edit":
            taken = await self._edits.take_in(pending, principal)
            if self._s.tasks is not None:
                self._s.tasks.wake()
            self._s.mirror.mark_dirty()
        else:
            taken = TakenEdit()
            changed = await take_reaction(self._s.database, self._s.clock, self._s.access, pending)
            self._s.mirror.mark_dirty(changed)
        self._s.embedding.note_news()
        return taken

    async def _drive(self, data: TurnData) -> bool:
        turn, policy = machine.TurnState(deferrals=data.pending.deferrals), self._s.policy
        if data.task is not None:
            attempts = policy.attempts + data.task.steps  # each of which was no vain one
            policy = replace(policy, tool_rounds=data.task.limits.rounds, attempts=attempts)
        effect: machine.Effect = machine.ClaimMessage()
        while not isinstance(effect, machine.Stop):
            if data.task is not None and data.task.is_stopping and isinstance(effect, _WAITS):
                await self._inbox.release(data.pending.id, data.attempt)
                return False
            if self._moving and _may_move(effect, data) and await self._move(data):
                return True
            began = self._s.clock.monotonic()
            try:
                with contain():
                    if isinstance(effect, _WAITS):
                        with self._s.database.pacer.step_away():
                            event = await self._perform(effect, data)
                    else:
                        event = await self._perform(effect, data)
            except Exception as error:
                if data.task is not None and self._s.tasks is not None and await self._s.tasks.ask(data, error):
                    return True
                ours = not isinstance(error, (KenobotError, MemoryError))  # a mistake of the code: show where
                level = logging.INFO if isinstance(error, ClaimWithdrawn) else logging.WARNING
                _log.log(level, "%s: %s: %s", type(effect).__name__, type(error).__name__, error, exc_info=ours)
                data.times.retries += isinstance(effect, machine.AskModel)
                if isinstance(error, AccountRefused) and isinstance(effect, machine.AskModel):
                    is_last = effect.level + 1 >= self._s.policy.provider_count
                    await self._signals.report_account(data, error, is_last=is_last)
                if isinstance(error, ClaimWithdrawn):
                    data.begin_anew()
                first = data.first_call_at
                event = machine.EffectFailed(error, 0.0 if first is None else self._s.clock.monotonic() - first)
            data.times.add(effect, self._s.clock.monotonic() - began)
            turn, effect = machine.step(turn, event, policy, self._s.rng)
        return not turn.deferred

    async def _move(self, data: TurnData) -> bool:
        """Continue a turn as a task, from its last step on, if its person said so."""
        asked_by = self._moving.pop(data.pending.id, None)
        if asked_by is None or self._s.tasks is None:
            return False
        return await self._s.tasks.move(data, asked_by)

    async def _perform(self, effect: machine.Effect, data: TurnData) -> machine.TurnEvent:
        match effect:
            case machine.ClaimMessage():
                return await self._claim(data)
            case machine.AskModel(level, pieces, rounds):
                return machine.ModelReplied(await self._models.ask(data, level, pieces, rounds))
            case machine.RunTools(pieces, rounds, is_last):
                assert self._s.tools is not None
                with contextlib.nullcontext() if data.task is None else data.task.at_work():
                    results = await self._s.tools.run_round(data, rounds, pieces, is_last=is_last)
                return machine.ToolsReturned(results)
            case machine.ProbeModel():
                return machine.ProbeFinished(await self._s.model.probe(data.calls))
            case machine.Wait(seconds):
                await self._s.clock.sleep(seconds)
                return machine.WaitElapsed()
            case machine.Stop():
                raise AssertionError("nothing follows a stop")
            case machine.RunCommand():
                await run_command(self._s, self._signals, data)
            case machine.BuildContext(reduced):
                context = await self._s.prompt_service.build(data.pending, data.principal, reduced=reduced)
                data.context = self._ask_for_file(data, context)
                data.times.add_recall(context.recall_seconds)
                data.reduced = reduced
            case machine.SavePiece(pieces, rounds):
                data.unsaved, data.has_steps = self._last(pieces, rounds), True
                await self._s.database.write(self._checkpoint(data))
                await data.calls.release()
            case machine.ProcessReply(pieces, fresh, rounds):
                length = sum(len(piece.text) for piece in pieces) + sum(len(each.text) for each in rounds)
                await self._text_work.run(length, lambda: self._process(data, pieces, fresh, rounds))
            case _:
                await self._end(effect, data)
        return machine.EffectDone()

    async def _end(self, effect: machine.CommitTurn | machine.Ending, data: TurnData) -> None:
        match effect:
            case machine.CommitTurn():
                await self._commit(data)
            case machine.ReportFailure(sentence, reason, end):
                await self._notices.report_failure(data, end, sentence, reason)
            case machine.MoveToDeadLetters(reason):
                await self._notices.report_failure(data, "dead", texts.BROKEN, reason)
            case machine.Defer(reason):
                await self._notices.defer(data, reason)

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _claim(self, data: TurnData) -> machine.MessageClaimed:
        pending, saved = data.pending, restore({})
        age = (self._s.clock.now() - pending.waiting_since).total_seconds()
        first = not data.attempt
        if pending.claimed and first:
            data.attempt = pending.attempts
        else:
            data.attempt = await self._inbox.claim(pending.id)
            data.cut_short = first and data.attempt > 1
            if not (pending.fresh and first):
                data.has_steps = True
                saved = restore(await self._s.database.read(lambda c: turn_steps.load_steps(c, pending.id)))
                data.tools = saved.journal
        if pending.inbound.attachments and self._s.media is not None and not data.attachments_read:
            await self._read_attachments(data, self._s.media)
        pieces = saved.pieces
        is_new = data.command is None and not pieces and not saved.rounds and data.task is None
        if is_new and self._s.tasks is not None:
            data.command = await self._s.tasks.find_command(data)
        if self._s.tools is not None and is_new and data.command is None:
            resumed = await self._s.tools.resume(data)
            if isinstance(resumed, Command):
                data.command = resumed, ""
            elif resumed:
                pieces, data.answers = resumed, True
            elif data.pressed and not data.pressed.startswith("no "):
                data.command = Command((), lambda *_: texts.TOOL_OVER(data.language), changes=frozenset()), ""
        return machine.MessageClaimed(data.attempt, pieces, age, data.command is not None, saved.rounds)

    async def _read_attachments(self, data: TurnData, media: MediaIntake) -> None:
        """Put the attachments of the message into its words: what is said in them may be a command.

        A message of which nothing could be read is answered by why, and no model is asked.
        """
        pending = data.pending
        with self._s.database.pacer.step_away():
            attached = join_media([await media.wait_until_ready(each) for each in pending.fragments or (pending,)])
        data.pending = replace(pending, inbound=attached.inbound)
        now = self._s.clock.now()
        data.language = await self._choose_language(pending.inbound, attached.own_words)
        owner = data.principal.role == "owner" and pending.inbound.private
        data.unread = "\n\n".join(
            dict.fromkeys(
                problem_text(each, problem, media.limits.most_mb, data.language, owner=owner)
                for each, problem in attached.problems
            )
        )
        if attached.has_content:
            found = None if data.task is not None else await self._find_command(attached.inbound, data.principal, now)
            from kenobot.agent.media.calendars import find_calendar  # noqa: PLC0415 - only for attachments

            events = find_calendar(attached, data.principal) if found is None else ""
            data.command = (OFFER_CALENDAR, events) if events else found
        else:
            data.command = Command((), lambda *_: data.unread, changes=frozenset()), ""
        data.attachments_read = True

    def _ask_for_file(self, data: TurnData, context: PromptContext) -> PromptContext:
        """Tell the model where its answer becomes a file, because the person asks for one."""
        inbound = data.pending.inbound
        data.as_file = (
            not inbound.forwarded and sends_files(self._s.channels, inbound.channel) and wants_file(inbound.text)
        )
        return replace(context, request=ask_for_file(context.request)) if data.as_file else context

    def _process(self, data: TurnData, pieces: Sequence[Reply], fresh: bool, rounds: Sequence[ToolRound]) -> None:
        """Clean the answer and collect what its tags ask for; mark one that is not whole.

        Of what the model said before it called tools, the tags count, and the words where there are no later ones.
        """
        context = self._models.with_rounds(data, rounds)
        data.unsaved = self._last(pieces, rounds) if fresh else None
        data.brings_foreign = brings_foreign(context)
        if self._s.tools is not None:
            self._s.tools.note_held_back(data, rounds)
        if rounds and self._s.tasks is not None and self._s.tasks.may_begin(data):
            data.seed = self._s.tasks.find_seed(rounds)
        effects = data.effects = CollectedEffects(data.pending.session, data.principal)
        said = [text for text in (*(each.text for each in rounds), join_text(pieces)) if text.strip()]
        processed = join_replies(
            self._s.pipeline.process(
                self._s.redact.redact_known(text), context.untrusted_texts, effects, data.language
            )  # also in memory
            for text in said or ("",)
        )
        mark = texts.HELD_BACK(data.language)
        guarded = trifecta.guard_reply(processed.clean, effects.candidates, context.exposure, context.shown, mark)
        effects.candidates = _attribute_candidates(guarded.candidates, context.speech)
        shown = guarded.reply if pieces[-1].whole else f"{guarded.reply}\n\n{texts.CUT(data.language)}"
        data.processed, data.held_addresses = replace(processed, clean=shown), guarded.held
        data.grade = Replies.grade(guarded.reply, data.pending.inbound.text, context.plan.texts)
        data.violated_rules = tuple(self._s.identity.violations(guarded.reply))

    async def _commit(self, data: TurnData) -> None:
        """Write history, memory, outbox and inbox in one transaction, then dispatch and announce.

        When that fails, the checkpoint of the reply is written in its place.
        """
        assert data.processed is not None and data.effects is not None
        effects = data.effects
        length = len(data.processed.clean) + len(data.pending.inbound.text)
        answer, reacts = await self._text_work.run(length, lambda: (self._writer.render(data), may_react(data)))
        await self._s.embedding.prepare_statements(candidate.text for candidate in effects.candidates)
        try:
            written, waiting, reacted = await self._s.database.write(
                lambda connection: self._writer.write(connection, data, answer, reacts=reacts),
                rescue=self._checkpoint(data) if data.unsaved else None,
            )
        except Exception:
            data.has_steps = True  # the checkpoint
            raise
        if self._s.tasks is not None and data.seed is not None:
            self._s.tasks.wake()
        draft, data.draft = data.draft, None
        self._s.delivery.dispatch(waiting if draft is None else draft.replace_with(waiting))
        await data.calls.release()
        data.decisions = [*(data.report.decisions if data.report is not None else ()), *written]
        decided = [decision.record for _, decision in data.decisions if decision.record is not None]
        self._s.mirror.mark_dirty([*decided, *reacted])
        self._s.embedding.note_news()
        if effects.bootstrap_ended:
            try:
                await asyncio.to_thread(self._s.identity.finish_bootstrap)
            except OSError as error:  # this chat is done with it; others go on with it until it can be moved
                _log.warning("BOOTSTRAP.md could not be moved to the archive: %s", error)
        await self._signals.announce_commit(data, answer.text)

    def _last(self, pieces: Sequence[Reply], rounds: Sequence[ToolRound]) -> turn_steps.FreshReply:
        """Return the last piece without secrets, as a checkpoint holds it."""
        last, text = pieces[-1], self._s.redact.redact_known(pieces[-1].text)
        kept = last if text == last.text else replace(last, text=text)
        return turn_steps.FreshReply(first_number(rounds) + len(pieces) - 1, kept, self._s.clock.now())

    def _checkpoint(self, data: TurnData) -> Callable[[Connection], None]:
        assert data.unsaved is not None
        (number, reply, at), pending, calls, attempt = data.unsaved, data.pending, data.calls, data.attempt

        def write(connection: Connection) -> None:
            turn_steps.append_step(connection, pending.id, number, reply, at, attempt=attempt)
            calls.write_instead(connection)

        return write


def _may_move(effect: machine.Effect, data: TurnData) -> bool:
    """Return whether a turn may become a task before an effect: the call that a yes is for begins in its own turn."""
    allowed = data.answers and isinstance(effect, machine.RunTools) and not effect.rounds
    return data.task is None and isinstance(effect, _WAITS) and not allowed


def _speak(inbound: Inbound, pressed: str, language: Language) -> Inbound:
    """Return a press as the message that its button says."""
    from kenobot.agent.turn.tool_input import word_press  # noqa: PLC0415 - only for a tool that asks

    return replace(inbound, kind="message", text=word_press(pressed, language))


def _attribute_candidates(candidates: Sequence[Candidate], speech: SpeechContext) -> list[Candidate]:
    """Lower the trust of memories to that of the authors of their words."""
    if not candidates:
        return []
    provenance = Provenance(speech)
    return [replace(item, trust=provenance.lowest_trust(item)) for item in candidates]
