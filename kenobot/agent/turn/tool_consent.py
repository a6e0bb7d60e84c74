"""Ask the owner whether a call may run that the guard or their rules held back, and find their yes: for that call."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from kenobot.agent.commands.natural_language import parse_answer
from kenobot.agent.safety.unlinked import unlink
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.tool_refusals import ASKS_FIRST, HELD, RULE_ASKS
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core import lazy, texts
from kenobot.core.redaction import escape_controls
from kenobot.gateway.buttons import Choice
from kenobot.language.words import fold
from kenobot.ports.json_value import Json
from kenobot.ports.provider import ToolCall
from kenobot.storage import approvals, inbox_rows, message_rows, tool_grants
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

ConsentAnswer = Literal["yes", "no", "always"]

_ALWAYS = frozenset(("always", "always for this", "siempre", "siempre para esto"))
_ANSWER_WITHIN = timedelta(hours=1)
_LONGEST_ALWAYS = 30  # characters
_LONGEST = 1000  # characters of a call that is shown
_FENCE = "```"
_BLANK = lazy.regex(  # letters, marks and signs that have no look of their own
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def may_ask(data: TurnData, call: ToolCall) -> bool:
    """Return whether the owner can be asked: they speak, and the call can be shown to them whole."""
    return data.principal.role == "owner" and bool(_show_call(call))


def find_wanted_call(rounds: Sequence[ToolRound]) -> tuple[ToolCall, str] | None:
    """Return the last call that was held back, and what the model was told; also when a crash came between."""
    pairs = [pair for each in rounds for pair in zip(each.calls, each.results, strict=True)]
    return next(
        ((call, result.text) for call, result in reversed(pairs) if result.failed and result.text in HELD), None
    )


def question(data: TurnData) -> str:
    """Word the question whether the call of a turn may run. Addresses in it are written so that none is opened."""
    assert data.held_back is not None
    call, told = data.held_back
    sentences = {RULE_ASKS: texts.TOOL_MAY_RUN_FIRST, ASKS_FIRST: texts.TOOL_MAY_RUN_ASKED}
    sentence = sentences.get(told, texts.TOOL_MAY_RUN)(data.language)
    if not data.pending.inbound.private:
        sentence = f"{sentence} {texts.TOOL_BY_BUTTON(data.language)}"
    return f"{sentence}\n{_FENCE}\n{_show_call(call)}\n{_FENCE}"


def ask(
    connection: Connection, data: TurnData, at: datetime, more: Mapping[str, Json] | None = None
) -> tuple[Choice, ...]:
    """Open the question, in the transaction that commits the turn and behind its messages; return its buttons.

    more: of the task that it is asked for.
    """
    if data.held_back is None:
        return ()
    pending, (call, told) = data.pending, data.held_back
    newest = message_rows.newest_message_id(connection, pending.session)
    payload: dict[str, Json] = {"after": newest, "asked": pending.id, "call": _show_call(call)}
    payload["behind"] = inbox_rows.newest_id(connection)  # what was written by then answers something else
    by_rule = told == RULE_ASKS  # what the guard holds back is asked each time
    payload |= {"id": call.id, "name": call.name, "arguments": dict(call.arguments), "by_rule": by_rule}
    payload |= more or {}
    until = at + _ANSWER_WITHIN
    asked = Approval(pending.session, pending.inbound.user, approvals.TOOL_CALL, payload, until)
    number = approvals.open_approval(connection, asked)
    choices = [(texts.BUTTON_YES_PLAIN, "yes"), (texts.BUTTON_NO_PLAIN, "no")]
    if by_rule:
        choices.append((texts.BUTTON_ALWAYS, "always"))
    return tuple(Choice(label(data.language), approvals.TOOL_CALL, f"{word} {number}") for label, word in choices)


def read_answer(data: TurnData) -> ConsentAnswer | None:
    """Return the answer to such a question that the owner gives by a button, or in private by nothing but its words."""
    inbound = data.pending.inbound
    if data.principal.role != "owner" or inbound.forwarded or not (inbound.private or data.pressed):
        return None
    said = data.pressed.partition(" ")[0] or (None if "?" in inbound.text else parse_answer(inbound.text))
    if said in ("yes", "no", "always"):
        return cast("ConsentAnswer", said)
    return "always" if len(inbound.text) < _LONGEST_ALWAYS and fold(inbound.text).strip(" .!") in _ALWAYS else None


def find_asked(connection: Connection, data: TurnData, at: datetime) -> Approval | None:
    """Return the question about a call that the message of a turn answers; None where there is none.

    An answer that quotes a message of the bot's counts for the question in that message alone, as a button does.
    """
    pending, quotes = data.pending, bool(data.pending.inbound.reply_to)
    if data.pressed:
        asked = approvals.get_approval(connection, int(data.pressed.partition(" ")[2]))
        asked = asked if asked is not None and asked.expires > at else None
    elif quotes:
        asked = approvals.find_quoted(connection, pending.inbound, at)
    else:
        asked = approvals.find_approval(connection, pending.session, at)
    if asked is None or asked.kind != approvals.TOOL_CALL:
        return None
    if (asked.session, asked.account) != (pending.session, pending.inbound.user):
        return None
    if data.pressed or quotes:
        return asked
    behind, after = asked.payload.get("behind", 0), asked.payload.get("after")
    is_later = isinstance(behind, int) and pending.id > behind
    return asked if is_later and after == message_rows.newest_message_id(connection, pending.session) else None


def answer_question(connection: Connection, data: TurnData, answer: ConsentAnswer, at: datetime) -> ToolCall | None:
    """Follow the owner's answer inside a transaction; return the call to be made, None for a no or no question.

    The question stays open until the call begins.
    """
    asked = find_asked(connection, data, at)
    if asked is None or "name" not in asked.payload or "wanted" in asked.payload or "task" in asked.payload:
        return None
    return close_asked(connection, asked, answer, at, is_begun=False)


def close_asked(
    connection: Connection, asked: Approval, answer: ConsentAnswer, at: datetime, *, is_begun: bool = True
) -> ToolCall | None:
    """Follow an answer to a question; return the call to be made, None for a no. is_begun: the question is over."""
    if answer == "no":
        approvals.close_approval(connection, asked.id, "denied")
        return None
    payload = cast("dict[str, Any]", asked.payload)
    call = ToolCall(str(payload["id"]), str(payload["name"]), payload["arguments"])
    if answer == "always" and payload["by_rule"]:
        tool_grants.add_grant(connection, call.name, describe_call(call), asked.account, at)
    if is_begun:
        approvals.close_approval(connection, asked.id, "approved")
    return call


def take_consent(connection: Connection, data: TurnData, call: ToolCall, at: datetime) -> bool:
    """Use up the owner's yes to this very call, inside a transaction; False where there is none."""
    asked = find_asked(connection, data, at)
    if asked is None or asked.payload.get("call") != _show_call(call):
        return False
    return approvals.close_approval(connection, asked.id, "approved")


def describe_call(call: ToolCall) -> str:
    """Return a call in one line: the tool's name, and its arguments as JSON."""
    return escape_hidden(f"{call.name} {json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True)}")


def escape_hidden(text: str) -> str:
    """Return a text with escapes in the place of what nobody would see of it."""
    text = escape_controls(text)
    return text if text.isascii() else "".join(map(_make_visible, text))


def _make_visible(letter: str) -> str:
    """Return a letter, or its escape where nobody would see it: words can be hidden in such letters."""
    if letter.isprintable() and not _BLANK.match(letter):
        return letter
    return letter if letter in "\n\t" else f"\\u{ord(letter):04x}"


def _show_call(call: ToolCall) -> str:
    """Return a call as its owner reads it; "" for one that cannot be shown whole."""
    text = unlink(describe_call(call))
    return "" if len(text) > _LONGEST or _FENCE in text else text
