"""Ask the owner whether a call may run that the guard held back, and find their yes: for that call alone, once."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from kenobot.agent.commands.natural_language import parse_answer
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core import lazy, texts
from kenobot.core.redaction import escape_controls
from kenobot.ports.provider import Json, ToolCall
from kenobot.storage import approvals, conversation
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

HELD_BACK = (
    "Not run yet, for safety: private memory and words of others are both on show, and it could carry memory out. The "
    "owner is asked below your answer whether it may run with exactly these arguments. Say why you want it, and "
    "call it again, unchanged, once they have said yes."
)
ASKS_FIRST = (
    "Not run yet, for safety: words of others are on show, and may have talked you into it. The owner is asked below "
    "your answer whether it may run with exactly these arguments. Say why you want it, and call it again, unchanged, "
    "once they have said yes."
)
_KIND = "tool"
_ANSWER_WITHIN = timedelta(hours=1)
_LONGEST = 1000  # characters of a call that is shown
_FENCE = "```"
_LINKS = lazy.regex(r"(?<=\w)(?:\.(?=\w)|:(?=//))")


def may_ask(data: TurnData, call: ToolCall) -> bool:
    """Return whether the owner can be asked: they speak in private, and the call can be shown to them whole."""
    return data.principal.role == "owner" and data.pending.inbound.private and bool(_shown(call))


def wanted_call(rounds: Sequence[ToolRound]) -> ToolCall | None:
    """Return the last call that was held back, also when a crash came between."""
    pairs = [pair for each in rounds for pair in zip(each.calls, each.results, strict=True)]
    return next(
        (call for call, result in reversed(pairs) if result.failed and result.text in (HELD_BACK, ASKS_FIRST)), None
    )


def question(data: TurnData) -> str:
    """Word the question whether the call of a turn may run. Addresses in it are written so that none is opened."""
    assert data.held_back is not None
    return f"{texts.TOOL_MAY_RUN(data.language)}\n{_FENCE}\n{_shown(data.held_back)}\n{_FENCE}"


def ask(connection: Connection, data: TurnData, at: datetime) -> None:
    """Open the question, in the transaction that commits the turn and behind its messages."""
    if data.held_back is None:
        return
    pending = data.pending
    newest = conversation.newest_message_id(connection, pending.session)
    payload: dict[str, Json] = {"after": newest, "asked": pending.id, "call": _shown(data.held_back)}
    until = at + _ANSWER_WITHIN
    approvals.open_approval(connection, Approval(pending.session, pending.inbound.user, _KIND, payload, until))


def says_yes(data: TurnData) -> bool:
    """Return whether the message is a yes and nothing else, of the owner's own."""
    inbound = data.pending.inbound
    own = data.principal.role == "owner" and inbound.private and not inbound.forwarded
    return own and parse_answer(inbound.text) == "yes"


def take_consent(connection: Connection, data: TurnData, call: ToolCall, at: datetime) -> bool:
    """Use up the owner's yes to this very call, inside a transaction; False where there is none.

    A yes that quotes a message of the bot's counts for the question in that message alone.
    """
    pending, quotes = data.pending, bool(data.pending.inbound.reply_to)
    if quotes:
        asked = approvals.find_quoted(connection, pending.inbound, at)
    else:
        asked = approvals.find_approval(connection, pending.session, at)
    if asked is None or asked.kind != _KIND or asked.account != pending.inbound.user:
        return False
    if asked.payload.get("call") != _shown(call):
        return False
    if not quotes and asked.payload.get("after") != conversation.newest_message_id(connection, pending.session):
        return False
    return approvals.close_approval(connection, asked.id, "approved")


def _shown(call: ToolCall) -> str:
    """Return a call as its owner reads it; "" for one that cannot be shown whole."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True)
    text = _LINKS.sub(lambda match: f"[{match[0]}]", escape_controls(f"{call.name} {arguments}"))
    return "" if len(text) > _LONGEST or _FENCE in text else text
