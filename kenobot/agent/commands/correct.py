"""`/correct`: put new words in the place of a memory, given with the command or in the message after it."""

from dataclasses import replace
from datetime import datetime, timedelta

from kenobot.agent.commands.command import WORDS_WANTED, CommandAnswer, CommandCall, CommandContext, one_line
from kenobot.agent.commands.memory import note_author, tell_learned
from kenobot.agent.commands.natural_language import parse_answer
from kenobot.agent.stop_words import stop_word
from kenobot.cognitive.memory import Memory
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.changes.clauses import without_clause
from kenobot.language.number_words import parse_number
from kenobot.language.words import fold
from kenobot.ports.messages import Inbound
from kenobot.ports.records import Record
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

_WORDS_WITHIN = timedelta(minutes=10)


def correct(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/correct NUMBER TEXT`: put these words in the place of a memory; without them, wait for them."""
    first, text = [*call.arguments.split(maxsplit=1), "", ""][:2]
    number = parse_number(first)
    if number is None:
        return texts.CORRECT_HOW(call.language)
    record = Memory.records.get_statement(connection, number, call.principal.read_scopes)
    if record is None:
        return texts.FORGET_GONE(call.language, number=number)
    if not _may_correct(connection, record, call):
        return texts.CORRECT_OTHERS(call.language)
    if not text:
        return ask_for_words(connection, record, call)
    return _correct(connection, record, text, call, context)


def correct_as_asked(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Take a message as the words that the bot asked for, or as the wish to leave the memory as it is."""
    approval = words_wanted(connection, call.inbound, call.at)
    if approval is None:
        return texts.DECIDED(call.language)
    asked_in: Language = "es" if approval.payload.get("language") == "es" else "en"
    call = replace(call, language=context.language or asked_in)
    return _settle(connection, approval, call.arguments, call, context)


def leave_as_is(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Close, by its button, the question for words."""
    approval = approvals.get_approval(connection, int(call.arguments))
    if approval is None:
        return texts.DECIDED(call.language)
    return _settle(connection, approval, "no", call, context)


def words_wanted(connection: Connection, inbound: Inbound, at: datetime) -> Approval | None:
    """Return the question for words that a message answers: what its sender writes next, or an edit of that later."""
    if inbound.kind == "edit":
        return approvals.find_answered(connection, inbound.session, inbound.user, WORDS_WANTED, inbound.target)
    return _open_question(connection, inbound, at)


def _open_question(connection: Connection, inbound: Inbound, at: datetime) -> Approval | None:
    approval = approvals.find_approval(connection, inbound.session, at)
    if approval is None or approval.kind != WORDS_WANTED or approval.account != inbound.user:
        return None
    current = approval.payload["after"] == message_rows.newest_message_id(connection, inbound.session)
    return approval if current else None


def want_words_no_more(connection: Connection, call: CommandCall) -> None:
    """Close a question for words that this person is still asked: they have gone on to something else."""
    approval = _open_question(connection, call.inbound, call.at)
    if approval is not None:
        approvals.close_approval(connection, approval.id, "denied")


def _may_correct(connection: Connection, record: Record, call: CommandCall) -> bool:
    return not call.author or Memory.history.is_said_only_by(connection, record, call.author)


def ask_for_words(connection: Connection, record: Record, call: CommandCall, clause: str = "") -> CommandAnswer:
    """Ask how a memory should read, or one clause of it; the next message has the words."""
    newest = message_rows.newest_message_id(connection, call.inbound.session)
    payload = {"record": record.id, "after": newest, "language": call.language, "clause": clause}
    until = call.at + _WORDS_WITHIN
    question = Approval(call.inbound.session, call.inbound.user, WORDS_WANTED, payload, until)
    number = approvals.open_approval(connection, question)
    leave = Choice(texts.BUTTON_LEAVE(call.language), "leave", str(number))
    text = texts.CORRECT_ASK(call.language, number=record.id, what=one_line(clause or record.text))
    return CommandAnswer(text, ((leave,),), awaits_words=True)


def _settle(
    connection: Connection, approval: Approval, words: str, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    declined = parse_answer(words) == "no" or bool(stop_word(words))
    approvals.close_approval(connection, approval.id, "denied" if declined else "approved", call.inbound.platform_id)
    number = int(str(approval.payload["record"]))
    record = Memory.records.get_statement(connection, number, call.principal.read_scopes)
    if record is None:
        return texts.FORGET_GONE(call.language, number=number)
    if declined:
        return texts.FORGET_DECLINED(call.language)
    if not _may_correct(connection, record, call):  # somebody else has said the same since
        return texts.CORRECT_OTHERS(call.language)
    if parse_answer(words) == "yes":  # to a question that asks for words
        return ask_for_words(connection, record, call)
    new = _put_in(record.text, str(approval.payload.get("clause", "")), words.strip())
    return _correct(connection, record, new, call, context)


def _put_in(text: str, clause: str, words: str) -> str:
    """Return a text with words in the place of one of its clauses, or of all of it.

    Words that stand in the text beside the clause already name what stays of it.
    """
    if not clause or clause not in text:
        return words
    left = without_clause(text, clause)
    return left if left and fold(words) in fold(left) else text.replace(clause, words, 1)


def _correct(
    connection: Connection, record: Record, text: str, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    reach, occasion = call.principal.read_scopes, context.admit_context(call)
    note_author(connection, call)  # before memory asks whose words may end what
    try:
        decision = Memory.correct(connection, record.id, text, reach, occasion, trust=call.principal.trust)
    except ValueError:
        return texts.CORRECT_SAME(call.language, number=record.id)
    return tell_learned(connection, decision, text, record.scope, call.language)
