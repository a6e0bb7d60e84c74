"""Write a reply: render it as the person gets it, and store it with all that comes of it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from kenobot.agent.commands.command import CommandCall, button_rows
from kenobot.agent.media.message_words import message_pictures
from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.prompt.speakers import message_text
from kenobot.agent.turn import secret_question
from kenobot.agent.turn.file_answer import answer_file
from kenobot.agent.turn.held_note import add_note, note_in_reply, without_previews
from kenobot.agent.turn.turn_data import TurnData
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.cognitive.memory import AdmitContext, Proposals, Replies
from kenobot.core import texts
from kenobot.gateway.bot_messages import RenderedAnswer, render, render_answer, render_file
from kenobot.gateway.buttons import Choice, Pressers, add_buttons
from kenobot.identity import onboarding
from kenobot.language.confidences import tags_of_confidence
from kenobot.ports.channel import capabilities_of
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.ports.turns import ReplyGrade
from kenobot.storage import conversation, inbox_rows, outbox, prompt_prefix, turn_steps
from kenobot.storage.connection import Connection, in_savepoint
from kenobot.storage.inbox_rows import PendingMessage

SettleReport = Callable[[Connection, TurnData, datetime], tuple[Choice, ...]]


class ReplyWriter:
    """Writes the replies of turns. settle_report: opens the question that a report of memory ends in."""

    def __init__(self, services: TurnServices, settle_report: SettleReport) -> None:
        self._s = services
        self._settle_report = settle_report

    def render(self, data: TurnData) -> RenderedAnswer:
        """Render a processed reply as the person gets it."""
        assert data.processed is not None and data.effects is not None
        clean, notes = self._s.redact.redact_known(data.processed.clean) or texts.SILENT(data.language), list[str]()
        if data.task is not None:
            clean = f"{texts.TASK_RESULT(data.language, number=data.task.task.id)}\n\n{clean}"
        if message_pictures(data.pending.inbound) and (data.pictures_refused or not data.sees_pictures):
            notes.append(texts.MEDIA_UNSEEN(data.language))
        if data.unread:
            notes.append(data.unread)
        if data.over_budget:
            notes.append(texts.BUDGET_FALLBACK(data.reply_language))
        if data.interrupted:
            notes.append(texts.TOOL_INTERRUPTED(data.language, tools=", ".join(data.interrupted)))
        notes += secret_question.secret_notes(data)
        question = self._s.tools.question(data) if self._s.tools is not None else ""
        change = data.report.change if data.report is not None else None
        if not question and change is not None and change.is_put:
            notes.append(change.text(self._s.clock.now(), data.reply_language))
        if held := note_in_reply(data, self._s.channels.get(data.pending.inbound.channel)):
            notes.append(held)
        whole = "\n\n".join((clean, *notes))
        if data.as_file and (file := answer_file(clean, data.language)) is not None:
            note = "\n\n".join((texts.HERE_AS_FILE(data.language), *notes))
            answer = render_file(self._s.channels, data.pending.inbound.channel, file, note, whole)
        else:
            answer = self._render_answer(data, whole)
        if not question:
            return answer
        # Messages of its own: no end of the answer is left out before it, and no mark in the answer changes its look.
        parts = render(self._s.channels, data.pending.inbound.channel, question)
        return RenderedAnswer([*answer.parts, *parts], f"{answer.text}\n\n{question}")

    def write(
        self, connection: Connection, data: TurnData, answer: RenderedAnswer, *, reacts: bool
    ) -> tuple[list[tuple[Candidate, Decision]], list[Outbound], list[int]]:
        """Write a reply and the end of its turn. reacts: the message may say something of earlier replies.

        Returns the decisions about its candidates, the parts to send, and the memories that the message reacted to.
        """
        pending, context, effects = data.pending, data.context, data.effects
        assert context is not None and effects is not None
        at, session, principal = self._s.clock.now(), pending.session, data.principal
        # That which has just come in has the fragments that were gathered for it.
        is_whole = pending.fresh and not pending.fragments
        received = inbox_rows.finish(connection, pending.id, data.attempt, "answered", at, is_whole=is_whole)
        reacted = _react(connection, pending, principal, at) if reacts else []
        if data.pictures_refused:
            conversation.drop_pictures(connection, session)
        conversation.append_turn(connection, _make_turn(connection, data, answer, context, at))
        if data.task is None:  # turns beside it have a newer one
            prompt_prefix.save_prefix(connection, context.plan.prefix, context.plan.previous_prefix)
        Replies.log_usage(connection, context.plan.memory, pending.id, session, at, principal.read_scopes)
        if context.bootstrap is not None and data.task is None:
            state = onboarding.complete(context.bootstrap) if effects.bootstrap_ended else context.bootstrap
            onboarding.save(connection, session, state)
        occasion = AdmitContext(
            at,
            at.astimezone(self._s.zone).date().isoformat(),
            "model",
            session,
            evidence=pending.id,
            speaker_name=pending.inbound.speaker,
            nearness=self._s.embedding.nearness,
        )
        unique = _unique_candidates(effects.candidates, pending.inbound.text)
        choices = self._open_question(connection, data, at)
        decisions = [(item, Replies.admit(connection, item, occasion)) for item in unique]
        parts = self._with_buttons(connection, data, answer.parts, button_rows(choices))
        parts = add_note(connection, data, parts, self._s.channels.get(pending.inbound.channel), at)
        waiting = outbox.enqueue(connection, data.destination(), without_previews(data, parts), at)
        if data.task is None:
            waiting += self._follow_reply(connection, data, at, asked=bool(choices))
        if self._s.tasks is not None:
            waiting += self._s.tasks.begin(connection, data, at)
        Proposals.log_broken_rules(connection, data.violated_rules, pending.id, session, at)
        grade = _grade_text(data.grade)
        times = None  # of a task: nobody waited for it
        if data.task is None:
            times = data.times.result(data.attempt, pending.inbound.channel, received)
        turn_steps.finish_turn(
            *(connection, pending.id, session, pending.trace, at, grade, data.unsaved, times), has_steps=data.has_steps
        )
        data.calls.write(connection)
        return decisions, waiting, reacted

    def _open_question(self, connection: Connection, data: TurnData, at: datetime) -> tuple[Choice, ...]:
        """Open the question of a reply behind its messages: one at most; return its buttons."""
        if data.task is not None:  # it asks while it is under way
            return ()
        asked = () if self._s.tools is None else self._s.tools.ask(connection, data, at)
        return asked or self._settle_report(connection, data, at) or secret_question.open_offer(connection, data, at)

    def _follow_reply(self, connection: Connection, data: TurnData, at: datetime, *, asked: bool) -> list[Outbound]:
        """Put into the outbox what is said about reminders behind a reply, each as a message of its own."""
        pending, inbound = data.pending, data.pending.inbound
        call = CommandCall(inbound, data.principal, inbound.text, data.language, at, pending.id)
        waiting: list[Outbound] = []
        for answer in self._s.commands.follow_reply(connection, call, asked=asked):
            parts = self._with_buttons(connection, data, self._render_answer(data, answer.text).parts, answer.buttons)
            to = outbox.Destination(inbound.channel, inbound.chat, pending.trace, thread=inbound.thread)
            waiting += outbox.enqueue(connection, to, list(parts), at)
        return waiting

    def _with_buttons(
        self, connection: Connection, data: TurnData, parts: Sequence[MessagePart], rows: Sequence[Sequence[Choice]]
    ) -> Sequence[MessagePart]:
        """Put the buttons of a question below a reply, for its person alone, where the channel has any."""
        inbound = data.pending.inbound
        channel = self._s.channels.get(inbound.channel)
        if not rows or channel is None or not capabilities_of(channel).buttons:
            return parts
        pressers = Pressers(inbound.channel, inbound.chat, (inbound.user,))
        return add_buttons(connection, parts, rows, pressers, data.language, self._s.clock.now())

    def _render_answer(self, data: TurnData, text: str) -> RenderedAnswer:
        channel = data.pending.inbound.channel
        return render_answer(self._s.channels, channel, text, data.language, self._s.answer_parts)


def may_react(data: TurnData) -> bool:
    """Return whether a message may say something of the last replies' memories and advice."""
    return data.task is None and Replies.is_reaction(data.pending.inbound.text)


def _make_turn(
    connection: Connection, data: TurnData, answer: RenderedAnswer, context: PromptContext, at: datetime
) -> conversation.FinishedTurn:
    """Construct the turn that the conversation keeps. context: the prompt that it was written for."""
    pending, principal = data.pending, data.principal
    return conversation.FinishedTurn(
        pending.session,
        pending.id,
        at,
        _person_words(connection, data),
        answer.text,
        principal.trust,
        principal.write_scope,
        context.plan.notes,
        pending.inbound.platform_id,
        "" if pending.inbound.private else pending.inbound.user,
        "" if data.pictures_refused else message_pictures(pending.inbound),
        "tool" if data.brings_foreign else "model",
        context.asked_at,
        context.plan.recalled_of_others,
    )


def _unique_candidates(candidates: Sequence[Candidate], message: str) -> list[Candidate]:
    """Take the same words once: a reply can hold thousands of the same tag. Mark what was told in confidence."""
    unique = list(dict.fromkeys(candidates))
    if unique and (tags := tags_of_confidence([message])):
        return [replace(item, tags=(*item.tags, *tags)) for item in unique]
    return unique


def _person_words(connection: Connection, data: TurnData) -> str:
    """Return the person's side of a turn in the conversation."""
    inbound, role = data.pending.inbound, data.principal.role
    return message_text(inbound, role) if data.task is None else data.task.words(connection, inbound, role)


def _react(connection: Connection, pending: PendingMessage, principal: Principal, at: datetime) -> list[int]:
    """Apply what the message says of the last replies' memories and advice; a mistake there costs no reply."""

    def react() -> list[int]:
        return Replies.react(connection, pending.session, pending.inbound.text, principal, at)

    return in_savepoint(connection, "reaction", react, lambda _: [])


def _grade_text(graded: ReplyGrade | None) -> str:
    if graded is None:
        return ""
    return json.dumps({"quality": graded.quality, "score": graded.score, "signals": list(graded.signals)})
