"""Follow the answer to whether a message takes the place of a memory, which `kenobot.agent.turn.change_question` asks.

A yes ends the memory as one decision, which `/undo` takes back; where nothing was noted of the message, that is noted
with it. A no changes nothing: the same pair is never asked about again.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line, undo_button
from kenobot.agent.commands.natural_language import Answer, parse_answer
from kenobot.agent.fact_candidates import confided_tags
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.conflicts import end_record
from kenobot.cognitive.remember.extract import known_memories
from kenobot.cognitive.store import events, records
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.words import fold
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.memory import Candidate
from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, conversation
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

_REASON = "its speaker said that it is over"

KIND = "change"
"""The kind of these questions among approvals."""


@dataclass(frozen=True, slots=True)
class ChangePayload:
    """What a stored question is about.

    old: the memory that may be over. new: the one made of the message, None without one. after: the conversation's last
    message, behind which a plain answer counts. asked: inbox row of the message. language: of the question.
    """

    old: int
    new: int | None
    after: int
    asked: int
    language: Language


def answer_change(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a plain yes or no to the question that is open here."""
    answer, approval = parse_answer(call.arguments), open_change(connection, call.inbound, call.at)
    if approval is None or answer not in ("yes", "no"):
        return texts.NO_QUESTION(call.language)
    return _follow(connection, answer, approval, call, context)


def answer_change_by_button(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a pressed button, however long ago the question was put."""
    number, _, word = call.arguments.partition(" ")
    approval, answer = approvals.get_approval(connection, int(number)), parse_answer(word)
    if approval is None or not _is_put_to(approval, call.inbound) or answer not in ("yes", "no"):
        return texts.DECIDED(call.language)
    return _follow(connection, answer, approval, call, context)


def open_change(connection: Connection, inbound: Inbound, at: datetime) -> Approval | None:
    """Return the question that a plain answer of this sender is for, if one is open."""
    if inbound.reply_to:
        approval = approvals.find_quoted(connection, inbound, at)
        return approval if approval is not None and _is_put_to(approval, inbound) else None
    approval = approvals.find_approval(connection, inbound.session, at)
    if approval is None or not _is_put_to(approval, inbound):
        return None
    current = approval.payload["after"] == conversation.newest_message_id(connection, inbound.session)
    return approval if current else None


def _is_put_to(approval: Approval, inbound: Inbound) -> bool:
    own = approval.session == inbound.session and approval.account == inbound.user
    return own and approval.kind == KIND and inbound.private


def _follow(
    connection: Connection, answer: Answer, approval: Approval, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    approvals.close_approval(connection, approval.id, "approved" if answer == "yes" else "denied")
    if answer == "no":
        return texts.CHANGE_DECLINED(call.language)
    asked = ChangePayload(**cast("dict[str, Any]", approval.payload))
    old = records.get(connection, asked.old, call.principal.read_scopes)
    if old is None or old.status != "active":
        return texts.CHANGE_GONE(call.language)
    event = _end(connection, old, asked, call, context.admit_context(call))
    text = texts.CHANGE_MADE(call.language, what=one_line(old.text))
    return CommandAnswer(text, ((undo_button(event, call.language),),))


def _end(connection: Connection, old: Record, asked: ChangePayload, call: CommandCall, occasion: AdmitContext) -> int:
    """End a memory by the one that takes its place; returns the event by which all of it is undone."""
    new = records.get(connection, asked.new, (old.scope,)) if asked.new is not None else None
    root: int | None = None
    if new is None or new.status != "active":
        new, root = _noted(connection, old, asked, call, occasion)
    by, status = (new.id, "superseded") if new is not None else (None, "invalidated")
    for record in (old, *_longer(connection, old, by)):
        event = end_record(connection, record, status, occasion.change_context(_REASON, root), by=by)
        root = event if root is None else root
    assert root is not None
    return root


def _longer(connection: Connection, old: Record, new: int | None) -> list[Record]:
    """Return the memories of the same message that begin with what a memory says and go on about it."""
    begins, told = f"{fold(old.text.rstrip(' .'))}. ", set(old.source_message_ids)
    live = known_memories.live_memories(connection, scope=old.scope)
    others = (each for each in live if each.id not in (old.id, new) and told.intersection(each.source_message_ids))
    return [each for each in others if fold(each.text).startswith(begins)]


def _noted(
    connection: Connection, old: Record, asked: ChangePayload, call: CommandCall, occasion: AdmitContext
) -> tuple[Record | None, int | None]:
    """Note the message itself, of which nothing was noted; returns the record, and the event of its making."""
    said = [each for each in conversation.messages_of_turns(connection, [asked.asked]) if each.role == "user"]
    if not said:
        return None, None
    candidate = Candidate(
        form="note",
        scope=old.scope,
        text=said[0].text,
        source="extraction",
        trust=call.principal.trust,
        subject="" if old.subject == "owner" else old.subject,
        tags=confided_tags([said[0].text]),
        evidence=(asked.asked,),
        by_rules=True,
    )
    decision = admit(connection, candidate, occasion)
    if decision.record is None or decision.record == old.id:
        return None, None
    new = records.get(connection, decision.record, (old.scope,))
    created = decision.action in ("created", "replaced")
    return new, events.last_decision_on(connection, decision.record) if created else None
