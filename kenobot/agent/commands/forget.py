"""`/forget`, and the same in plain words: find the memory that is meant, ask where it is not certain, forget.

An open question is a row of the database, so it outlives a restart. It is valid for one hour, for the person it was
put to, and until the conversation goes on: a later "yes" answers something else. A "yes" that quotes a message of the
bot's answers the question in that message alone, however the conversation went on.

In a group a guest forgets what they alone said. A wish to forget what others said is put to these and to the owner.

What a turn said that is not extracted yet can be forgotten too: a record is made of its words in the transaction that
forgets it, so the turn is hidden like any other, and undo brings it back. The rest of the turn is extracted by rules
first, because no model will read it afterwards.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, cast

from kenobot.agent.commands.command import (
    CommandAnswer,
    CommandCall,
    CommandContext,
    button_rows,
    number_lines,
    one_line,
    undo_button,
)
from kenobot.agent.commands.natural_language import Answer, parse_answer
from kenobot.cognitive.memory import DEFAULT, Memory, Telling
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.number_words import parse_number
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.memory_changes import ForgetResult
from kenobot.ports.messages import Inbound
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.ports.turns import UnextractedTurn
from kenobot.storage import approvals, conversation, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

_KIND = "forget"
_ANSWER_WITHIN = DEFAULT.control.answer_within
_WHOLE = 1.0


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question put to a person, valid while `after` is the conversation's last message.

    records: the memories it names. about: the wish, when it concerns a turn that is no memory yet. speakers: accounts
    that may answer beside the owner, where others than the asker said it; None where the asker answers. asked: inbox
    row in whose answer it stands.
    """

    records: list[int]
    after: int
    language: Language
    about: str = ""
    speakers: list[str] | None = None
    asked: int = 0


def forget_memory(
    connection: Connection, call: CommandCall, context: CommandContext, *, asking: bool = False
) -> str | CommandAnswer:
    """`/forget NUMBER` or `/forget WORDS`: forget at once when the memory is certain, ask otherwise.

    asking: ask even then, because the wish came in plain words.
    """
    if not call.arguments:
        return texts.FORGET_HOW(call.language)
    reach = call.principal.read_scopes
    number = parse_number(call.arguments)
    if number is not None and not asking:
        return _forget_number(connection, number, call, context)
    matches = context.memory.find(connection, call.arguments, reach)
    unread = Telling.find_unextracted(connection, call.arguments, call.inbound.session, reach)
    if unread is not None and not any(each.exact or each.overlap >= unread.overlap for each in matches):
        if not _is_own_turn(connection, unread, call):
            return _ask_others(connection, call, [], unread)
        if unread.certain and not asking:
            return _forget_turn(connection, unread, call.arguments, call, context)
        buttons = _ask(connection, call, [], about=call.arguments)
        return CommandAnswer(texts.FORGET_SAID(call.language, what=one_line(unread.text)), buttons)
    if not matches:
        return texts.FORGET_NONE(call.language)
    certain = matches.certain
    named = [certain] if certain is not None else [each.record for each in matches]
    records = [record for record in named if _may_forget(connection, record, call)]
    if not records:
        return _ask_others(connection, call, named)
    if certain is not None and not asking:
        return _forget(connection, [certain], call, context)
    buttons = _ask(connection, call, records)
    question = texts.FORGET_ONE if len(records) == 1 else texts.FORGET_WHICH
    return CommandAnswer(question(call.language, lines=number_lines(records, call.language)), buttons)


def _forget_number(
    connection: Connection, number: int, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    record = Memory.records.get(connection, number, call.principal.read_scopes)
    if record is None or record.status != "active":
        return texts.FORGET_GONE(call.language, number=number)
    if not _may_forget(connection, record, call):
        return _ask_others(connection, call, [record])
    return _forget(connection, [record], call, context)


def decline_everything(_: Connection, call: CommandCall, __: CommandContext) -> str:
    """Decline the wish, in plain words, to forget everything."""
    return texts.FORGET_EVERYTHING(call.language)


def answer_question(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow the answer to the question that is open here."""
    answer, asked = parse_answer(call.arguments), open_question(connection, call.inbound, call.principal, call.at)
    if asked is None or answer is None:
        return texts.NO_QUESTION(call.language)
    return _follow(connection, answer, asked, replace(call, language=context.language or asked[1].language), context)


def answer_by_button(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow the answer to the question that the pressed button names, however long ago that was put."""
    number, _, word = call.arguments.partition(" ")
    approval, answer = approvals.get_approval(connection, int(number)), parse_answer(word)
    question = _question_to(approval, call.inbound, call.principal) if approval is not None else None
    if question is None or answer is None:
        return texts.DECIDED(call.language)
    return _follow(connection, answer, (int(number), question), call, context)


def _follow(
    connection: Connection,
    answer: Answer,
    asked: tuple[int, OpenQuestion],
    call: CommandCall,
    context: CommandContext,
) -> str | CommandAnswer:
    """Forget what the answer to a question chooses, or nothing."""
    session, reach = call.inbound.session, call.principal.read_scopes
    approval, question = asked
    chosen, is_no = _read_choice(answer, question.records), answer in ("no", "part")
    if not is_no and not question.about and not chosen:
        records = Memory.records.get_all(connection, question.records, reach)
        return texts.FORGET_WHICH(call.language, lines=number_lines(list(records.values()), call.language))
    approvals.close_approval(connection, approval, "denied" if is_no else "approved")
    if is_no:
        return texts.FORGET_DECLINED(call.language)
    if not question.about:
        records = Memory.records.get_all(connection, chosen, reach)
        live = [records[number] for number in chosen if number in records and records[number].status == "active"]
        return _forget(connection, live, call, context)
    # It may have been extracted since the question.
    unread = Telling.find_unextracted(connection, question.about, session, reach)
    if unread is not None and _is_own_turn(connection, unread, call):
        return _forget_turn(connection, unread, question.about, call, context)
    matches = context.memory.find(connection, question.about, reach)
    return _forget(connection, [each.record for each in matches[:1]], call, context)


def _forget(
    connection: Connection, records: Sequence[Record], call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Forget those of `records` that the person may forget, and report it."""
    names = [call.inbound.user_name] if call.inbound.user_name else []
    reach, occasion = call.principal.read_scopes, context.admit_context(call)
    results = [
        Memory.forget(
            connection,
            record.id,
            reach,
            occasion,
            names=names,
            reason=Sentence("reasons.person_said"),
            author=call.author,
        )
        for record in records
        if _may_forget(connection, record, call)
    ]
    hidden = [result for result in results if result is not None]
    if not hidden:
        return texts.FORGET_NONE(call.language)
    lines = "\n".join(_render_hidden(connection, result, call) for result in hidden)
    if len(hidden) > 1:
        undo = (
            Choice(texts.BUTTON_UNDO_ONE(call.language, number=each.record.id), "undo", str(each.event))
            for each in hidden
        )
        return CommandAnswer(texts.FORGOTTEN_SEVERAL(call.language, lines=lines), button_rows(undo))
    text = texts.FORGOTTEN(call.language, lines=lines, event=hidden[0].event)
    return CommandAnswer(text, ((undo_button(hidden[0].event, call.language),),))


def _forget_turn(
    connection: Connection, unread: UnextractedTurn, about: str, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Forget a turn that is not extracted yet, and report it."""
    number = Telling.admit_unextracted(connection, unread, about, context.admit_context(call), context.zone)
    record = Memory.records.get(connection, number, call.principal.read_scopes) if number is not None else None
    if record is None or record.status != "active":
        inbox = unread.turn.inbox_id
        conversation.hide_turns(connection, [inbox] if inbox is not None else [], number or 0)
        return texts.FORGOTTEN_SAID(call.language)
    return _forget(connection, [record], call, context)


def _render_hidden(connection: Connection, hidden: ForgetResult, call: CommandCall) -> str:
    line = texts.RECORD_LINE(call.language, number=hidden.record.id, what=one_line(hidden.record.text))
    messages = message_rows.messages_of_turns(connection, hidden.turns)
    turns = len({message.inbox_id for message in messages if message.session == call.inbound.session})
    along = [texts.ALSO_COPIES(call.language, count=len(hidden.copies))] if hidden.copies else []
    along += [texts.ALSO_MESSAGES(call.language, count=turns)] if turns else []
    return texts.RECORD_LINE_ALSO(call.language, line=line, along=", ".join(along)) if along else line


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────


def _ask(
    connection: Connection,
    call: CommandCall,
    records: Sequence[Record],
    about: str = "",
    speakers: list[str] | None = None,
) -> tuple[tuple[Choice, ...], ...]:
    """Put a question, and return the buttons that answer it."""
    session, until = call.inbound.session, call.at + _ANSWER_WITHIN
    newest = message_rows.newest_message_id(connection, session)
    named = [record.id for record in records]
    question = OpenQuestion(named, newest, call.language, about, speakers, call.inbox_id)
    number = approvals.open_approval(connection, Approval(session, call.inbound.user, _KIND, asdict(question), until))
    keep = Choice(texts.BUTTON_NO(call.language), "answer", f"{number} no")
    if len(records) < 2:
        return ((Choice(texts.BUTTON_YES(call.language), "answer", f"{number} yes"), keep),)
    each = button_rows(Choice(f"#{record.id}", "answer", f"{number} {record.id}") for record in records)
    return (*each, (Choice(texts.BUTTON_ALL(call.language), "answer", f"{number} all"), keep))


def _ask_others(
    connection: Connection, call: CommandCall, records: Sequence[Record], unread: UnextractedTurn | None = None
) -> CommandAnswer:
    """Put a guest's wish to the owner, and to the one who said all that it names, if it is one."""
    turns = [record.source_message_ids for record in records]
    turns += [(unread.turn.inbox_id or 0,)] if unread else []
    written = conversation.authors(connection, [turn for told in turns for turn in told])
    speakers = {written.get(turn, "") for told in turns for turn in told or (0,)}
    may_answer = [*speakers] if len(speakers) == 1 else []
    buttons = _ask(connection, call, records, call.arguments if unread else "", may_answer)
    lines = (
        f"- {texts.QUOTED(call.language, text=one_line(unread.text))}"
        if unread
        else number_lines(records, call.language)
    )
    text = (texts.FORGET_OTHERS_WHICH if len(records) > 1 else texts.FORGET_OTHERS)(call.language, lines=lines)
    return CommandAnswer(text, buttons, pressers=tuple(may_answer))


def open_question(
    connection: Connection, inbound: Inbound, principal: Principal, at: datetime
) -> tuple[int, OpenQuestion] | None:
    """Return the question that the sender of `inbound` may answer, with its row, if one is open."""
    quotes = bool(inbound.reply_to)
    if quotes:
        approval = approvals.find_quoted(connection, inbound, at)
    else:
        approval = approvals.find_approval(connection, inbound.session, at)
    question = _question_to(approval, inbound, principal) if approval is not None else None
    if approval is None or question is None:
        return None
    if quotes:
        return approval.id, question
    current = question.after == message_rows.newest_message_id(connection, inbound.session)
    return (approval.id, question) if current else None


def _question_to(approval: Approval, inbound: Inbound, principal: Principal) -> OpenQuestion | None:
    """Return a question as the sender of `inbound` may answer it; None when it is another's, or about anything else."""
    if approval.kind != _KIND or approval.session != inbound.session:
        return None
    question = OpenQuestion(**cast("dict[str, Any]", approval.payload))
    if question.speakers is None:
        return question if inbound.user == approval.account else None
    return question if principal.role == "owner" or inbound.user in question.speakers else None


def _may_forget(connection: Connection, record: Record, call: CommandCall) -> bool:
    return not call.author or Memory.history.is_said_only_by(connection, record, call.author)


def _is_own_turn(connection: Connection, unread: UnextractedTurn, call: CommandCall) -> bool:
    turn = unread.turn.inbox_id
    return not call.author or (turn is not None and conversation.authors(connection, [turn]).get(turn) == call.author)


def _read_choice(answer: Answer, records: Sequence[int]) -> list[int]:
    """Return the records that an answer means; none when it does not say which of several."""
    if answer == "all" or (answer == "yes" and len(records) == 1):
        return list(records)
    if isinstance(answer, frozenset):
        return [number for number in records if number in answer] if answer <= set(records) else []
    return []


def is_known(
    connection: Connection, topic: str, principal: Principal, memory: Memory, *, is_whole: bool = True
) -> bool:
    """Return whether a memory has all words of `topic`. is_whole: False where many of them suffice."""
    matches = memory.find(connection, topic, principal.read_scopes)
    return bool(matches) if not is_whole else any(each.exact or each.overlap >= _WHOLE for each in matches)
