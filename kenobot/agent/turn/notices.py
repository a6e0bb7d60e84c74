"""Say what stands outside of the conversation: that an answer takes longer, waits for its model, or will not come."""

import logging
from collections.abc import Mapping, Sequence

from kenobot.agent.turn.turn_data import TurnData
from kenobot.agent.turn.turn_signals import TurnSignals
from kenobot.core import texts
from kenobot.core.i18n import Text
from kenobot.core.redaction import Redactor
from kenobot.gateway.bot_messages import render
from kenobot.gateway.delivery import Delivery
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import MessagePart, Outbound
from kenobot.ports.sentences import Sentence, change_values, hide_mark
from kenobot.ports.sentences import render as render_sentence
from kenobot.ports.signals import (
    MESSAGE_DEAD_LETTERED,
    MESSAGE_DEFERRED,
    MESSAGE_EXPIRED,
    MESSAGE_OUT,
    TURN_FAILED,
    Signal,
)
from kenobot.storage import claims, inbox_rows, outbox, turn_steps
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

_log = logging.getLogger(__name__)

_PATIENCE_PART = -1  # of an answer
_STILL_WORKING_PART = -2
_MENDABLE = frozenset(
    {
        "providers.compressed",
        "providers.key_refused",
        "providers.no_such_model",
        "providers.not_signed_in",
        "providers.redirected",
        "providers.strange",
        "providers.unpaid",
        "providers.web_page",
    }
)
"""The errors that an owner mends at the model's service, or in its settings."""

_ENDINGS: Mapping[inbox_rows.FinalState, Signal] = {
    "failed": TURN_FAILED,
    "expired": MESSAGE_EXPIRED,
    "dead": MESSAGE_DEAD_LETTERED,
}


class Notices:
    """Store and send the notices of turns."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        channels: Mapping[str, Channel],
        delivery: Delivery,
        redact: Redactor,
        signals: TurnSignals,
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._delivery = delivery
        self._redact = redact
        self._signals = signals

    async def defer(self, data: TurnData, reason: str) -> None:
        """Put the message back; the first time, ask the person for patience."""
        pending = data.pending
        why = _find_reason(reason, data)
        told = texts.PATIENCE(data.language) if why is None else texts.PATIENCE_OWNER(data.language, why=why)
        plea = self._render(data, told)[:1]

        def write(connection: Connection) -> list[Outbound]:
            data.calls.write(connection)
            if not inbox_rows.defer(connection, pending.id, data.attempt):
                return []
            return outbox.enqueue(connection, data.destination(_PATIENCE_PART), plea, self._clock.now())

        self._delivery.dispatch(await self._database.write(write))
        await data.calls.release()
        reason = self._clean(reason)
        await self._signals.emit(MESSAGE_DEFERRED, pending, reason=reason, parks=pending.deferrals + 1)

    async def say_still_working(self, data: TurnData) -> None:
        """Tell the person, once a message, that the answer is still to come.

        Whoever sees it being written need not be told.
        """
        pending = data.pending
        if data.draft is not None and data.draft.is_shown:
            return
        word = self._render(data, texts.STILL_WORKING(data.language))[:1]

        def write(connection: Connection) -> list[Outbound]:
            to = data.destination(_STILL_WORKING_PART)
            if not claims.is_claimed(connection, pending.id, data.attempt) or outbox.is_enqueued(connection, to):
                return []
            return outbox.enqueue(connection, to, word, self._clock.now())

        try:
            self._delivery.dispatch(await self._database.write(write))
        except StoreError as error:
            _log.debug("the word that it takes longer was not stored: %s", error)

    async def report_failure(self, data: TurnData, end: inbox_rows.FinalState, sentence: Text, reason: str) -> None:
        """End the message without an answer, and say so; within the conversation it might break other turns."""
        pending, told = data.pending, _failure_text(sentence, reason, data)
        if data.task is not None:
            told = await self._database.read(lambda connection: _tell_of_task(connection, data, told))
        parts, reason = self._render(data, told), self._clean(reason)

        def write(connection: Connection) -> list[Outbound]:
            at = self._clock.now()
            inbox_rows.finish(connection, pending.id, data.attempt, end, at, reason)
            turn_steps.drop_steps(connection, pending.id)
            data.calls.write(connection)
            return outbox.enqueue(connection, data.destination(), parts, at)

        self._delivery.dispatch(await self._database.write(write))
        await data.calls.release()
        await self._signals.emit_in_chat(_ENDINGS[end], pending, reason=reason)
        await self._signals.emit_in_chat(MESSAGE_OUT, pending, text=told)

    def _clean(self, reason: str) -> str:
        return change_values(reason, lambda text: self._redact(text)[:500])

    def _render(self, data: TurnData, text: str) -> Sequence[MessagePart]:
        return render(self._channels, data.pending.inbound.channel, text)


def _failure_text(sentence: Text, reason: str, data: TurnData) -> str:
    """Word a failure; to the owner in private also its cause, where that is one to be mended."""
    why = _find_reason(reason, data) if sentence is texts.REJECTED else None
    return sentence(data.language) if why is None else texts.REJECTED_OWNER(data.language, why=why)


def _tell_of_task(connection: Connection, data: TurnData, why: str) -> str:
    """Word why a task comes to no result, and what it did until then."""
    from kenobot.agent.commands.tasks import tell_did  # noqa: PLC0415 - few turns need it

    assert data.task is not None
    task = data.task.task
    words = texts.TASK_ENDED(data.language, number=task.id, title=task.title, why=why)
    return "\n".join(filter(None, (words, tell_did(connection, task, data.language))))


def _find_reason(reason: str, data: TurnData) -> str | None:
    """Return the cause of a failure for the owner, in private, where it is one to be mended."""
    if data.principal.role != "owner" or not data.pending.inbound.private:
        return None
    found = reason.values.get("reason") if isinstance(reason, Sentence) else None
    if not isinstance(found, Sentence) or found.key not in _MENDABLE:
        return None
    return render_sentence(hide_mark(found), data.language)
