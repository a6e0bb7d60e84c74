"""Put what a tool wants to know to the owner, question by question, and have the call go on with their answers.

The form is a row: it outlasts restarts. Nothing of it goes to the tool before its last question is answered.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import cast

from kenobot.agent.commands.command import Command, CommandAnswer, button_rows
from kenobot.agent.turn import tool_consent
from kenobot.agent.turn.input_form import Form
from kenobot.agent.turn.input_values import Refusal, read_value
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.told_secrets import find_told_secret, names_secret
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.provider import Reply, ToolCall, ToolResult
from kenobot.ports.tool_input import GivenInput, InputField, WantedInput
from kenobot.storage import approvals, inbox_rows, message_rows, turn_steps
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

DECLINED = "It asked for a password or another secret. Such a thing is never passed on: that was declined."

_WAITS = (
    "Not finished: {asker} wants to know something of the owner first. They are asked below your answer, and it goes "
    "on with what they say. Do not call it again. Say in a sentence that their answer is wanted, and end your answer."
)
_FENCE = "```"
_CLAUSE = lazy.regex(r"[.:;!?()\n]")
_WARNS = lazy.regex(  # that no secret is to be given
    r"(?i)\b(?:do not|don['’]?t|never|no|nunca) (?:\w+ ){0,2}?(?:give|share|enter|include|send|provide|type|tell|write"
    r"|use|des|compartas|incluyas|escribas|pongas|env[ií]es)\b"
)
_OPEN_ENDED = ("text", "number", "integer")


# ── the call ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def may_ask(data: TurnData) -> bool:
    """Return whether the owner can be asked: they speak, alone with the bot, and wait for the answer."""
    return data.principal.role == "owner" and data.pending.inbound.private and data.task is None


def asks_secret(wanted: WantedInput) -> bool:
    """Return whether a form asks for a password or the like, by its fields or by its message."""
    return any(_asks_secret(each) for each in wanted.fields if each.kind in _OPEN_ENDED)


def _asks_secret(asked: InputField) -> bool:
    title, _, about = asked.label.partition(": ")
    clauses = _CLAUSE.split(f"{about}. {asked.message}")
    told = (clause for clause in clauses if not _WARNS.search(clause))
    return asked.form == "password" or names_secret(f"{asked.name} {title}") or any(map(names_secret, told))


def suspend(call: ToolCall, wanted: WantedInput) -> ToolResult:
    """Return what the model is told of a call that waits for the owner."""
    told = _WAITS.format(asker=f'"{wanted.asker}"')
    return ToolResult(call.id, told, failed=True, wanted=wanted.to_json())


def read_given(call: ToolCall) -> GivenInput | None:
    """Return what the owner gave to a call that goes on."""
    return GivenInput.from_json(call.given) if call.given else None


def describe_given(call: ToolCall) -> str:
    """Return what the owner gave to a call, for them to read later; "" for a call that asked for nothing."""
    given = read_given(call)
    if given is None:
        return ""
    return " declined" if given.declined else f" answered {json.dumps(given.values, ensure_ascii=False)}"


def find_wanted(rounds: Sequence[ToolRound]) -> Form | None:
    """Return the last form that a call of a turn waits for; also when a crash came between."""
    pairs = [pair for each in rounds for pair in zip(each.calls, each.results, strict=True)]
    waiting = next(((call, result) for call, result in reversed(pairs) if result.wanted), None)
    if waiting is None:
        return None
    return Form(replace(waiting[0], given=""), WantedInput.from_json(waiting[1].wanted), {})


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────────────────


def word_question(form: Form, language: Language) -> str:
    """Word the question that a form is at. The words of the asker stand in a block, in which nothing is a link."""
    asked, asker = form.field, tool_consent.escape_hidden(form.wanted.asker)
    if asked is None:
        sent = {name: value for group in form.values.values() for name, value in group.items()}
        lines = [f"{name}: {_make_plain(value)}" for name, value in sent.items()] or ["—"]
        return f"{texts.INPUT_SEND(language, asker=asker)}\n{_block(lines)}"
    numbered = [f"{number}. {title}" for number, (_, title) in enumerate(asked.choices, 1)]
    question = f"{texts.INPUT_ASKED(language, asker=asker)}\n{_block([asked.message, asked.label, *numbered])}"
    hints = [_HOW[asked.kind](language)]
    if asked.kind in _OPEN_ENDED and (asked.least is not None or asked.most is not None):
        hints.append(_word_bounds(asked, language))
    if asked.default is not None:
        hints.append(texts.INPUT_DEFAULT(language, value=_block_line(asked.default)))
    elif not asked.required and asked.kind not in ("address", "consent"):
        hints.append(texts.INPUT_OPTIONAL(language))
    return f"{question}\n{' '.join(hints)}"


_HOW = {
    "text": texts.INPUT_TEXT,
    "number": texts.INPUT_NUMBER,
    "integer": texts.INPUT_INTEGER,
    "boolean": texts.INPUT_BOOLEAN,
    "choice": texts.INPUT_CHOICE,
    "choices": texts.INPUT_CHOICES,
    "address": texts.INPUT_ADDRESS,
    "consent": texts.INPUT_CONSENT,
}


def ask(connection: Connection, data: TurnData, form: Form, at: datetime) -> tuple[Choice, ...]:
    """Open the form behind the messages of its turn, in the transaction that commits that; return its buttons."""
    pending = data.pending
    until = at + timedelta(seconds=form.wanted.seconds)
    opened = Approval(
        pending.session, pending.inbound.user, approvals.TOOL_CALL, _make_payload(connection, data, form), until
    )
    return _buttons(form, approvals.open_approval(connection, opened), data.language)


def _make_payload(connection: Connection, data: TurnData, form: Form) -> dict[str, Json]:
    call = form.call
    return {
        "after": message_rows.newest_message_id(connection, data.pending.session),
        "behind": inbox_rows.newest_id(connection),
        "asked": data.pending.id,
        "call": "",
        "id": call.id,
        "name": call.name,
        "arguments": dict(call.arguments),
        "wanted": form.wanted.to_json(),
        "values": json.loads(json.dumps(form.values)),
        "at": form.at,
    }


def _load(asked: Approval) -> Form | None:
    payload = cast("dict[str, object]", asked.payload)
    if "wanted" not in payload:
        return None
    call = ToolCall(str(payload["id"]), str(payload["name"]), cast("dict[str, Json]", payload["arguments"]))
    values = cast("dict[str, dict[str, Json]]", payload["values"])
    return Form(call, WantedInput.from_json(str(payload["wanted"])), values, cast("int", payload["at"]))


def _buttons(form: Form, number: int, language: Language) -> tuple[Choice, ...]:
    asked = form.field
    kind = "consent" if asked is None else asked.kind
    words: list[tuple[str, str]] = []
    if kind == "address":
        words.append((texts.BUTTON_DONE(language), "done"))
    elif kind in ("consent", "boolean"):
        words.append((texts.BUTTON_YES_PLAIN(language), "yes"))
        if kind == "boolean":
            words.append(("No", "no"))
    elif asked is not None and kind == "choice":
        words += [(str(place), str(place)) for place in range(1, len(asked.choices) + 1)]
    if asked is not None and asked.default is not None:
        words.append((texts.BUTTON_DEFAULT(language), "skip"))
    elif asked is not None and not asked.required and kind not in ("address", "consent"):
        words.append((texts.BUTTON_LEAVE_OUT(language), "skip"))
    words.append((texts.BUTTON_DECLINE(language), "decline"))
    return tuple(Choice(label, approvals.TOOL_CALL, f"{word} {number}") for label, word in words)


def word_press(pressed: str, language: Language) -> str:
    """Return the words that a button of a question about a tool says."""
    labels = {
        "yes": texts.BUTTON_YES_PLAIN,
        "no": texts.BUTTON_NO_PLAIN,
        "always": texts.BUTTON_ALWAYS,
        "done": texts.BUTTON_DONE,
        "skip": texts.BUTTON_LEAVE_OUT,
        "decline": texts.BUTTON_DECLINE,
    }
    word = pressed.partition(" ")[0]
    return labels[word](language) if word in labels else word


# ── the answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def go_on(connection: Connection, data: TurnData, at: datetime) -> Reply | Command | None:
    """Take in the answer that the message of a turn gives to a form, inside a transaction.

    Returns the piece that makes the call, at the end; the command that asks on; None where the message is no answer.
    """
    found = _find(connection, data, at)
    if found is None:
        return None
    asked, form = found
    answer = _read(form, data)
    if answer is None:
        return None
    if isinstance(answer, Refusal):
        again = partial(_put, data, asked, form, answer.text(data.language))
        return Command((), lambda within, *_: again(within), changes=frozenset())
    answered = form.answer(answer.value)
    if not (answer.declined or answered.is_over):
        following = partial(_put, data, asked, answered, "")
        return Command((), lambda within, *_: following(within), changes=frozenset())
    given = form.give(declined=True) if answer.declined else answered.give()
    approvals.close_approval(connection, asked.id, "denied" if answer.declined else "approved")
    call = replace(form.call, given=given.to_json())
    piece = Reply("", "tool_use", calls=(call,))
    turn_steps.append_step(connection, data.pending.id, 0, piece, at, attempt=data.attempt)
    return piece


@dataclass(frozen=True, slots=True)
class _Answer:
    """Hold the answer to a question; value: None leaves it out."""

    value: Json = None
    declined: bool = False


def is_asked(connection: Connection, data: TurnData, at: datetime) -> bool:
    """Return whether a form waits for the message of a turn."""
    return _find(connection, data, at) is not None


def _find(connection: Connection, data: TurnData, at: datetime) -> tuple[Approval, Form] | None:
    inbound = data.pending.inbound
    if not may_ask(data) or inbound.forwarded or inbound.attachments:
        return None
    asked = tool_consent.find_asked(connection, data, at)
    form = _load(asked) if asked is not None else None
    return (asked, form) if asked is not None and form is not None else None


def _read(form: Form, data: TurnData) -> _Answer | Refusal | None:
    """Read a message as the answer to the question that a form is at; None where it is none."""
    asked, inbound = form.field, data.pending.inbound
    said = data.pressed.partition(" ")[0] or inbound.text.strip()
    if asked is None:
        asked = InputField("", "", "consent", "")
    value = read_value(asked, said)
    if value == "decline":
        return _Answer(declined=True)
    if value == "skip":
        return _Answer(list(asked.default) if isinstance(asked.default, tuple) else asked.default)
    if value is None:
        return Refusal(texts.INPUT_UNFIT) if data.pressed or inbound.reply_to else None
    if isinstance(value, Refusal):
        return value
    if isinstance(value.value, str) and asked.kind == "text" and find_told_secret(value.value) is not None:
        return Refusal(texts.INPUT_SECRET)
    return _Answer(value.value)


def _put(data: TurnData, asked: Approval, form: Form, why: str, connection: Connection) -> CommandAnswer:
    """Put the question that a form is at in place of the one that was answered, or answered amiss. why: that is so."""
    approvals.close_approval(connection, asked.id, "approved")
    number = approvals.open_approval(connection, replace(asked, payload=_make_payload(connection, data, form)))
    question = word_question(form, data.language)
    buttons = button_rows(_buttons(form, number, data.language))
    return CommandAnswer(f"{why}\n\n{question}" if why else question, buttons)


# ── the words of others ──────────────────────────────────────────────────────────────────────────────────────────────


def _block(lines: Sequence[str]) -> str:
    """Set the words of an asker in a block, which none of them ends."""
    shown = "\n".join(tool_consent.escape_hidden(line).replace("`", "'") for line in lines if line)
    return f"{_FENCE}\n{shown}\n{_FENCE}"


def _block_line(value: object) -> str:
    shown = tool_consent.escape_hidden(_make_plain(value)).replace("`", "'")
    return f"`{shown}`"


def _make_plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _word_bounds(asked: InputField, language: Language) -> str:
    least, most = (None if each is None else f"{each:g}" for each in (asked.least, asked.most))
    if asked.kind == "text":
        return texts.INPUT_LENGTH(language, least=least or "0", most=most or "…")
    return texts.INPUT_RANGE(language, least=least or "…", most=most or "…")
