"""Follow the answer to whether a message takes the place of a memory, which `kenobot.agent.turn.change_question` asks.

A yes ends the memory, or the clause or the value of it that is meant, as one decision, which `/undo` takes back; where
that is not clear, the person is asked once more whether all of it is over. After "only a part" the person is asked how
the rest should read, unless that is clear. A no changes nothing: the same pair is never asked about again.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line, undo_button
from kenobot.agent.commands.open_questions import AnsweredQuestion, close_by_button, close_by_words
from kenobot.cognitive.memory import AdmitContext, Memory, Telling
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.changes.clauses import without_clause
from kenobot.language.changes.value_phrase import tells_more, without_value
from kenobot.language.relatives import find_lost_relative
from kenobot.language.sentences import begins_with, without_sentence
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory_changes import BOTH_STAND
from kenobot.ports.messages import Inbound
from kenobot.ports.records import Record
from kenobot.storage import approvals, inbox_rows, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

_REASON = "its speaker said that it is over"
_ANSWER_WITHIN = timedelta(hours=1)
_CLAUSE_REASON = "its speaker said that a clause of it is over"

KIND = "change"
"""The kind of these questions among approvals."""


@dataclass(frozen=True, slots=True)
class ChangePayload:
    """Hold what a stored question is about.

    old: the memory that may be over. new: the one made of the message, None without one. after: the conversation's last
    message, behind which a plain answer counts. asked: inbox row of the message. language: of the question. clause:
    what of the memory may be over, "" for all of it. whole: whether that all of it is over was asked.
    """

    old: int
    new: int | None
    after: int
    asked: int
    language: Language
    clause: str = ""
    whole: bool = False


def open_change(
    connection: Connection, inbound: Inbound, payload: ChangePayload, at: datetime, *, may_be_part: bool = True
) -> tuple[Choice, ...]:
    """Open a question to the sender of a message; return its buttons. may_be_part: a part alone may be over."""
    approval = Approval(inbound.session, inbound.user, KIND, asdict(payload), at + _ANSWER_WITHIN)
    number, language = approvals.open_approval(connection, approval), payload.language
    part = Choice(texts.BUTTON_PARTLY(language), "changed", f"{number} part")
    if payload.whole:
        return Choice(texts.BUTTON_WHOLE(language), "changed", f"{number} yes"), part
    yes = Choice(texts.BUTTON_REPLACES(language), "changed", f"{number} yes")
    no = Choice(texts.BUTTON_BOTH(language), "changed", f"{number} no")
    return (yes, part, no) if may_be_part else (yes, no)


def answer_change(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a plain yes or no to the question that is open here."""
    answered = close_by_words(connection, call, KIND)
    return _follow(connection, answered, call, context) if answered is not None else texts.NO_QUESTION(call.language)


def answer_change_by_button(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a pressed button."""
    answered = close_by_button(connection, call, KIND)
    return _follow(connection, answered, call, context) if answered is not None else texts.DECIDED(call.language)


def _follow(
    connection: Connection, answered: AnsweredQuestion, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    asked = ChangePayload(**answered.payload)
    if not answered.is_yes and not answered.is_part and not asked.whole:
        Telling.note(connection, asked.old, BOTH_STAND, call.at, call.inbound.session, {"new": asked.new})
        return texts.CHANGE_DECLINED(call.language)
    old = Memory.records.get(connection, asked.old, call.principal.read_scopes)
    if old is None or old.status != "active":
        return texts.CHANGE_GONE(call.language)
    message = inbox_rows.read_text(connection, asked.asked)
    new = Memory.records.get(connection, asked.new, (old.scope,)) if asked.new is not None else None
    holds_all = new is not None and begins_with(new.text, old.text) and not answered.is_part
    said = asked.clause or old.text
    kept = "" if holds_all else _find_kept(asked, old.text, message, is_part=answered.is_part)
    if not answered.is_yes and not kept:
        from kenobot.agent.commands.correct import ask_for_words  # noqa: PLC0415 - seldom needed, and it reads facts

        return ask_for_words(connection, old, call, asked.clause)
    if not kept and not holds_all and not asked.whole and tells_more(said, message):
        return _ask_whole(connection, old, asked, call)
    left = without_clause(old.text, asked.clause) if asked.clause and not holds_all else ""
    if kept:
        left = old.text.replace(said, kept, 1)
    event = _end(connection, old, asked, left, context.admit_context(call))
    text = texts.CHANGE_MADE(call.language, what=one_line(said))
    return CommandAnswer(text, ((undo_button(event, call.language),),))


def _find_kept(asked: ChangePayload, text: str, message: str, *, is_part: bool) -> str:
    """Return the words that still hold of what was asked about; "" where none do, or it is not clear which."""
    if asked.whole:
        return ""
    said = asked.clause or text
    if (left := without_value(said, message, is_part=is_part)) or is_part:
        return left
    return "" if tells_more(said, message) else find_lost_relative(said, message)


def _ask_whole(connection: Connection, old: Record, asked: ChangePayload, call: CommandCall) -> CommandAnswer:
    """Ask whether all of a memory is over that says more than a message is about."""
    newest = message_rows.newest_message_id(connection, call.inbound.session)
    payload = replace(asked, whole=True, after=newest)
    text = texts.CHANGE_WHOLE(asked.language, what=one_line(asked.clause or old.text))
    return CommandAnswer(text, (open_change(connection, call.inbound, payload, call.at),))


def _end(connection: Connection, old: Record, asked: ChangePayload, left: str, occasion: AdmitContext) -> int:
    """End what is over by the memory that takes its place; returns the event by which all of it is undone."""
    new = Memory.records.get(connection, asked.new, (old.scope,)) if asked.new is not None else None
    by, status = (new.id, "superseded") if new is not None and new.status == "active" else (None, "invalidated")
    if left and Memory.records.get_same(connection, old.scope, old.form, left) is None:
        return Telling.keep_rest(connection, old, left, occasion, _CLAUSE_REASON)
    root = Telling.end(connection, old, status, occasion, _REASON, by)
    live = Telling.list_live(connection, old.scope)
    shorter = _list_shorter(connection, old, live)
    for record in shorter:
        Telling.end(connection, record, status, replace(occasion, part_of=root), _REASON, by)
    for record in _list_longer(connection, old, new, [each for each in live if each not in shorter]):
        sentence = record.text[: len(old.text.rstrip(" .!?…"))]
        left = without_sentence(record.text, sentence)
        Telling.keep_rest(connection, record, left, occasion, _CLAUSE_REASON, root)
    return root


def _list_shorter(connection: Connection, old: Record, live: Sequence[Record]) -> list[Record]:
    """List the memories among live ones that a memory, now over, corrected and quotes: they are over with it."""
    found = [old]
    for each in sorted(live, key=lambda record: -record.id):
        asked = Memory.history.list_asked(connection, each.id) if begins_with(old.text, each.text) else set[int]()
        if not asked.isdisjoint(r.id for r in found):
            found.append(each)
    return found[1:]


def _list_longer(connection: Connection, old: Record, new: Record | None, live: Sequence[Record]) -> list[Record]:
    """List the other corrections of a memory among live ones, which begin with its words, but for the new one's.

    They would be about nothing without their beginning. One that the person said holds beside it is none.
    """
    apart = {old.id, *Memory.history.list_denied(connection, old.id)} | ({new.id} if new is not None else set())
    others = (each for each in live if each.id not in apart)
    longer = (each for each in others if begins_with(each.text, old.text))
    return [each for each in longer if new is None or not begins_with(each.text, new.text)]
