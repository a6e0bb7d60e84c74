"""Find the question that a plain answer is for, among those that the bot put to a person alone."""

from datetime import datetime

from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, conversation
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection


def find_question(connection: Connection, inbound: Inbound, at: datetime, kind: str) -> Approval | None:
    """Return the question of a kind that a plain answer of this sender is for, if one is open."""
    if inbound.reply_to:
        approval = approvals.find_quoted(connection, inbound, at)
        return approval if approval is not None and is_put_to(approval, inbound, kind) else None
    approval = approvals.find_approval(connection, inbound.session, at)
    if approval is None or not is_put_to(approval, inbound, kind):
        return None
    current = approval.payload["after"] == conversation.newest_message_id(connection, inbound.session)
    return approval if current else None


def is_put_to(approval: Approval, inbound: Inbound, kind: str) -> bool:
    """Return whether a question is of a kind, and put to the sender of a message, alone with the bot."""
    own = approval.session == inbound.session and approval.account == inbound.user
    return own and approval.kind == kind and inbound.private
