"""Follow the answer to whether a promise is kept whose day has passed, which `kenobot.agenda.overdue` asks.

A yes notes the day on it, and `/undo` takes that back; a no has it asked again later. Left alone it stays open, and is
not asked about again.
"""

from kenobot.agenda.overdue import KIND, LEFT
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line, undo_button
from kenobot.agent.commands.open_questions import close_by_words, find_question
from kenobot.cognitive.memory import AdmitContext, Memory, Promises
from kenobot.core import lazy, texts
from kenobot.language.calendar import local_day
from kenobot.language.words import fold
from kenobot.ports.sentences import Sentence
from kenobot.storage import approvals
from kenobot.storage.connection import Connection

_LEAVE = lazy.regex(
    r"(?:no )?(?:leave it|let it be|never ?mind|forget it|dejal[oa]|olvidal[oa])(?: (?:as it is|asi|estar))?"
)


def answer(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a plain yes or no to the question that is open here."""
    answered = close_by_words(connection, call, KIND)
    if answered is None:
        return texts.NO_QUESTION(call.language)
    leave = _LEAVE.fullmatch(fold(call.arguments).strip(" .!¡")) is not None
    word = "done" if answered.is_yes else "leave" if leave else "later"
    return _follow(connection, word, answered.payload["record"], call, context)


def answer_by_button(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a pressed button."""
    word, _, number = call.arguments.partition(" ")
    question = find_question(connection, call.inbound, call.at, KIND)
    if question is not None and question.payload["record"] == int(number):
        approvals.close_approval(connection, question.id, "approved" if word == "done" else "denied")
    return _follow(connection, word, int(number), call, context)


def _follow(
    connection: Connection, word: str, number: int, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    record = Memory.records.get(connection, number, call.principal.read_scopes)
    today = call.at.astimezone(context.zone).date()
    if (
        record is None
        or record.status != "active"
        or Promises.find_resolution_day(record, today, context.zone) is not None
    ):
        return texts.PROMISE_GONE(call.language)
    session, what = call.inbound.session, one_line(record.text)
    if word == "leave":
        Promises.note(connection, record, LEFT, call.at, "owner", session)
        return texts.PROMISE_LEFT(call.language, what=what)
    if word != "done":
        return texts.PROMISE_LATER(call.language)
    day = local_day(call.at, context.zone)
    event = Promises.resolve(
        connection, record, day, AdmitContext(call.at, day, "owner", session), Sentence("reasons.said_done", day=day)
    )
    return CommandAnswer(texts.PROMISE_DONE(call.language, what=what), ((undo_button(event, call.language),),))
