"""Show what the guard held back of a reply, once, to whom it may be shown: see `kenobot.agent.turn.held_note`.

In a group that is the owner alone, in private the person whose chat it is.
"""

from datetime import datetime
from typing import Any, cast

from kenobot.agent.commands.command import CommandCall, CommandContext
from kenobot.core import texts
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

KIND = "held"
"""The kind of these among approvals."""


@dataclass(frozen=True, slots=True)
class HeldPayload:
    """Hold what was held back of a reply.

    held: each as it was written. asked: inbox row of the message that was answered. after: the conversation's last
    message, behind which plain words count.
    """

    held: list[str]
    asked: int
    after: int


def show_held(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Follow plain words: "show it"."""
    approval = find_held(connection, call.inbound, call.principal, call.at)
    return texts.DECIDED(call.language) if approval is None else _show(connection, approval, call)


def show_held_by_button(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Follow a pressed button. arguments: the approval."""
    approval = approvals.get_approval(connection, int(call.arguments))
    if approval is None or not _may_see(approval, call.inbound, call.principal):
        return texts.DECIDED(call.language)
    return _show(connection, approval, call)


def find_held(connection: Connection, inbound: Inbound, principal: Principal, at: datetime) -> Approval | None:
    """Return what plain words of this sender ask for, by the message that they answer or right behind the reply."""
    if inbound.reply_to:
        approval = approvals.find_quoted(connection, inbound, at)
        found = approval if approval is not None and approval.kind == KIND else None
    else:
        found = approvals.find_beside(connection, inbound.session, KIND, at)
        newest = message_rows.newest_message_id(connection, inbound.session)
        found = found if found is not None and found.payload["after"] == newest else None
    return found if found is not None and _may_see(found, inbound, principal) else None


def _may_see(approval: Approval, inbound: Inbound, principal: Principal) -> bool:
    """Return whether a person may see what was held back here."""
    own = inbound.private and approval.account == inbound.user
    return approval.kind == KIND and approval.session == inbound.session and (own or principal.role == "owner")


def _show(connection: Connection, approval: Approval, call: CommandCall) -> str:
    if not approvals.close_approval(connection, approval.id, "approved"):
        return texts.DECIDED(call.language)
    payload = HeldPayload(**cast("dict[str, Any]", approval.payload))
    return "\n\n".join([texts.HELD_SHOWN(call.language), *payload.held])
