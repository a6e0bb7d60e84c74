"""Ask whether to undo what was last remembered in a chat, where a person's words point back at it: "scratch that".

A yes undoes all that their last message had remembered, as one decision; a no keeps it. Only where no model answers,
and alone with the bot: elsewhere such words are as likely about something else.
"""

from dataclasses import asdict, replace
from datetime import timedelta

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line
from kenobot.agent.commands.memory import tell_undone
from kenobot.agent.commands.natural_language import parse_answer
from kenobot.agent.commands.open_questions import AnsweredQuestion, close_by_button, close_by_words
from kenobot.cognitive.memory import Memory
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.facts.taking_back import takes_back
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory_changes import UndoError
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

KIND = "take_back"
"""The kind of these questions among approvals."""

_ANSWER_WITHIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class TakeBackPayload:
    """Hold what a stored question is about.

    decisions: the events to be undone, the newest first. after: the conversation's last message, behind which a plain
    answer counts. asked: inbox row of the wish. language: of the question.
    """

    decisions: list[int]
    after: int
    asked: int
    language: Language


def ask_to_take_back(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """Ask whether to undo what was last remembered in this chat."""
    told = Memory.history.find_last_told(connection, call.inbound.session, call.principal.write_scope, call.at)
    if not told:
        return texts.TAKE_BACK_NONE(call.language)
    session = call.inbound.session
    newest = message_rows.newest_message_id(connection, session)
    payload = TakeBackPayload(list(told), newest, call.inbox_id, call.language)
    approval = Approval(session, call.inbound.user, KIND, asdict(payload), call.at + _ANSWER_WITHIN)
    number = approvals.open_approval(connection, approval)
    what = "; ".join(texts.QUOTED(call.language, text=one_line(text)) for text in reversed(told.values()))
    yes = Choice(texts.BUTTON_YES(call.language), "take_back", f"{number} yes")
    no = Choice(texts.BUTTON_NO(call.language), "take_back", f"{number} no")
    return CommandAnswer(texts.TAKE_BACK(call.language, what=what), ((yes, no),))


def answer_take_back(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a plain yes or no to the question that is open here; to take it back once more is a yes."""
    if parse_answer(call.arguments) is None and takes_back(call.arguments):
        call = replace(call, arguments="yes")
    answered = close_by_words(connection, call, KIND)
    return _follow(connection, answered, call, context) if answered is not None else texts.NO_QUESTION(call.language)


def answer_take_back_by_button(
    connection: Connection, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Follow a pressed button."""
    answered = close_by_button(connection, call, KIND)
    return _follow(connection, answered, call, context) if answered is not None else texts.DECIDED(call.language)


def _follow(
    connection: Connection, answered: AnsweredQuestion, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Undo what a question names at a yes, nothing at a no."""
    if not answered.is_yes:
        return texts.FORGET_DECLINED(call.language)
    asked = TakeBackPayload(**answered.payload)
    try:
        done = Memory.undo(connection, asked.decisions, call.principal.read_scopes, context.admit_context(call))
    except UndoError as error:
        return texts.UNDO_HINDERED(call.language, why=error)
    return tell_undone(done, call.language)
