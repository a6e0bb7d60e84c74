"""Find the question that an answer is for, among those that the bot put to a person alone, and close it."""

from datetime import datetime
from typing import Any, cast

from kenobot.agent.commands.command import CommandCall
from kenobot.agent.commands.natural_language import Answer, parse_answer
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that its person answered. is_part: with "only a part". payload: what was stored with it."""

    is_yes: bool
    is_part: bool
    payload: dict[str, Any]


def close_by_words(connection: Connection, call: CommandCall, kind: str) -> AnsweredQuestion | None:
    """Close the question of a kind that is open here, by plain words; None where they answer none."""
    return _close(connection, parse_answer(call.arguments), find_question(connection, call.inbound, call.at, kind))


def close_by_button(connection: Connection, call: CommandCall, kind: str) -> AnsweredQuestion | None:
    """Close the question whose button was pressed, however long ago it was put; None where it is not this person's."""
    number, _, word = call.arguments.partition(" ")
    approval = approvals.get_approval(connection, int(number))
    is_own = approval is not None and is_put_to(approval, call.inbound, kind)
    return _close(connection, parse_answer(word), approval if is_own else None)


def _close(connection: Connection, answer: Answer | None, approval: Approval | None) -> AnsweredQuestion | None:
    if approval is None or answer not in ("yes", "no", "part"):
        return None
    approvals.close_approval(connection, approval.id, "denied" if answer == "no" else "approved")
    return AnsweredQuestion(answer == "yes", answer == "part", cast("dict[str, Any]", approval.payload))


def find_question(connection: Connection, inbound: Inbound, at: datetime, kind: str) -> Approval | None:
    """Return the question of a kind that a plain answer of this sender is for, if one is open."""
    if inbound.reply_to:
        approval = approvals.find_quoted(connection, inbound, at)
        return approval if approval is not None and is_put_to(approval, inbound, kind) else None
    approval = approvals.find_approval(connection, inbound.session, at)
    if approval is None or not is_put_to(approval, inbound, kind):
        return None
    current = approval.payload["after"] == message_rows.newest_message_id(connection, inbound.session)
    return approval if current else None


def is_put_to(approval: Approval, inbound: Inbound, kind: str) -> bool:
    """Return whether a question is of a kind, and put to the sender of a message, alone with the bot."""
    own = approval.session == inbound.session and approval.account == inbound.user
    return own and approval.kind == kind and inbound.private
