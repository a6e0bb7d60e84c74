"""Parse raw updates from Telegram."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import Annotated, Final

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

from kenobot.ports.messages import Inbound

CHANNEL: Final = "telegram"


@dataclass(frozen=True, slots=True)
class BotUser:
    """The bot's own account; `username` may be empty."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class IgnoredUpdate:
    """An update that needs no answer. reason: without words of the message."""

    reason: str


class MalformedUpdate(ValueError):
    """An update that does not have the documented form."""


# ── the wire ─────────────────────────────────────────────────────────────────────────────────────────────────────

_LAST_SECOND: Final = 253_402_300_799  # of the year 9999, the last of a datetime


class _User(BaseModel):
    id: StrictInt
    is_bot: StrictBool = False
    first_name: StrictStr = ""
    last_name: StrictStr = ""


class _Chat(BaseModel):
    id: StrictInt
    type: StrictStr


class _RepliedTo(BaseModel):
    sender: _User | None = Field(None, alias="from")


class _Message(BaseModel):
    date: Annotated[StrictInt, Field(ge=0, le=_LAST_SECOND)]
    chat: _Chat
    sender: _User | None = Field(None, alias="from")
    sender_chat: _Chat | None = None
    text: StrictStr = ""
    caption: StrictStr = ""
    reply_to_message: _RepliedTo | None = None
    message_id: object = None


_FORWARD_MARKS: Final = ("forward_origin", "forward_from", "forward_from_chat", "forward_sender_name", "forward_date")
_GROUPS: Final = ("group", "supergroup")
_NOTES: Final[Mapping[str, str]] = tomllib.loads(
    resources.files(__package__).joinpath("attachments.toml").read_text("utf-8")
)


def update_id(raw: object) -> int | None:
    """The number of a raw update; None when it has none that can be confirmed."""
    number = raw.get("update_id") if isinstance(raw, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62 else None


def parse_update(raw: object, me: BotUser) -> Inbound | IgnoredUpdate:
    """Parse an update. Raises MalformedUpdate, whose text names the fields at fault, never their content.

    In groups only messages that mention the bot or reply to it are for the bot. Admission is checked elsewhere.
    """
    number = update_id(raw)
    if number is None or not isinstance(raw, dict):
        raise MalformedUpdate("the update has no number")
    body = raw.get("message")
    if body is None:
        kinds = sorted(str(key)[:32] for key in raw if key != "update_id")
        return IgnoredUpdate(f"only new messages are answered, not {', '.join(kinds[:3]) or 'nothing'}")
    try:
        message = _Message.model_validate(body)
    except ValidationError as error:
        fields = {".".join(str(part) for part in problem["loc"]) or "message" for problem in error.errors()}
        raise MalformedUpdate(f"the message has no valid {', '.join(sorted(fields))}") from None
    sender = message.sender
    if sender is None or message.sender_chat is not None:
        return IgnoredUpdate("written in the name of a chat, not of a person")
    if sender.is_bot:
        return IgnoredUpdate("written by a bot")
    if message.chat.type not in ("private", *_GROUPS):
        return IgnoredUpdate("neither a private chat nor a group")
    text = _text(message, body)
    if not text:
        return IgnoredUpdate("a service message")
    private = message.chat.type == "private"
    if not private:
        replied = message.reply_to_message.sender if message.reply_to_message else None
        mentioned, text = strip_mention(text, me.username)
        if not mentioned and (replied is None or replied.id != me.id):
            return IgnoredUpdate("a group message that is not for the bot")
    return Inbound(
        channel=CHANNEL,
        external_id=str(number),
        chat=str(message.chat.id),
        user=str(sender.id),
        text=text,
        sent_at=datetime.fromtimestamp(message.date, UTC),
        user_name=_clean(" ".join(f"{sender.first_name} {sender.last_name}".split())),
        private=private,
        forwarded=any(mark in body for mark in _FORWARD_MARKS),
        platform_id=str(message.message_id or ""),
    )


def strip_mention(text: str, username: str) -> tuple[bool, str]:
    """Strip mentions of the bot from `text`, and tell whether there were any. A text of nothing else stays as it is."""
    if not username:
        return False, text
    name = re.escape(username)
    text, commands = re.subn(rf"\A(/\w{{1,32}})@{name}(?!\w)", r"\1", text, flags=re.IGNORECASE)
    rest, mentions = re.subn(rf"(?<![\w@])@{name}(?!\w)", "", text, flags=re.IGNORECASE)
    return bool(commands or mentions), rest.strip() or text


def _text(message: _Message, body: Mapping[str, object]) -> str:
    """The words of a message, else a note of its attachment; "" for a service message."""
    if words := _clean(message.text or message.caption):
        return words
    note = next((note for kind, note in _NOTES.items() if kind in body), None)
    return f"[sent {note}]" if note else ""


def _clean(text: str) -> str:
    """Remove NULs, which cut texts short in C, and replace lone surrogates, which have no UTF-8."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
