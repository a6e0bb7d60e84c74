"""Parse raw updates from Telegram."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

from kenobot.channels.telegram.media import ATTACHMENT_FIELDS, read_attachments
from kenobot.core.redaction import one_line
from kenobot.ports.messages import Attachment, Inbound

CHANNEL: Final = "telegram"
EDITED: Final = "edited_message"
ALBUM: Final = "album"
"""Where an update that stands for an album has the messages of all its items."""


@dataclass(frozen=True, slots=True)
class BotUser:
    """The bot's own account; `username` may be empty."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class IgnoredUpdate:
    """An update that needs no answer. reason: without words of the message."""

    reason: str


@dataclass(frozen=True, slots=True)
class EphemeralId:
    """The id of a message of a group that `user` alone sees, which has no number among the others."""

    user: str
    number: int

    def __str__(self) -> str:
        return f"~{self.user}.{self.number}"

    @classmethod
    def parse(cls, text: str) -> "EphemeralId | None":
        """Read what `str` gives; None for the id of any other message."""
        user, _, number = text.removeprefix("~").partition(".")
        return cls(user, int(number)) if text.startswith("~") and user.isdecimal() and number.isdecimal() else None


class MalformedUpdate(ValueError):
    """An update that does not have the documented form."""


# ── the wire ─────────────────────────────────────────────────────────────────────────────────────────────────────

LAST_SECOND: Final = 253_402_300_799  # of the year 9999, the last of a datetime


class _User(BaseModel):
    id: StrictInt
    is_bot: StrictBool = False
    first_name: StrictStr = ""
    last_name: StrictStr = ""


class _Chat(BaseModel):
    id: StrictInt
    type: StrictStr


class _Entity(BaseModel):
    type: StrictStr
    offset: StrictInt
    length: StrictInt


class _RepliedTo(BaseModel):
    message_id: object = None
    sender: _User | None = Field(None, alias="from")
    text: StrictStr = ""
    caption: StrictStr = ""
    forum_topic_created: object = None


class _Quote(BaseModel):
    text: StrictStr = ""


class _Message(BaseModel):
    date: Annotated[StrictInt, Field(ge=0, le=LAST_SECOND)]
    edit_date: Annotated[StrictInt, Field(ge=0, le=LAST_SECOND)] = 0
    chat: _Chat
    sender: _User | None = Field(None, alias="from")
    sender_chat: _Chat | None = None
    text: StrictStr = ""
    caption: StrictStr = ""
    entities: tuple[_Entity, ...] = ()
    caption_entities: tuple[_Entity, ...] = ()
    reply_to_message: _RepliedTo | None = None
    quote: _Quote | None = None
    message_id: object = None
    ephemeral_message_id: StrictInt = 0
    receiver_user: _User | None = None
    message_thread_id: StrictInt = 0
    is_topic_message: StrictBool = False

    @property
    def id(self) -> str:
        """Return the message's id; "" where it has none."""
        if self.ephemeral_message_id and self.sender is not None:
            return str(EphemeralId(str(self.sender.id), self.ephemeral_message_id))
        return str(self.message_id or "")


_QUOTED_KEPT: Final = 1000  # characters
_GROUPS: Final = ("group", "supergroup")
_QUOTATIONS: Final = ("blockquote", "expandable_blockquote", "pre")


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


_FIELDS: Final[Mapping[str, list[str]]] = _load("message_fields.toml")
_BY_SENDER: Final = ATTACHMENT_FIELDS.union(_FIELDS["by_sender"])
_IGNORED_UPDATES: Final = frozenset(_FIELDS["ignored_updates"])


def known_fields() -> frozenset[str]:
    """Return the fields of a message that are known to leave its words to the sender, or to make them another's."""
    return _BY_SENDER.union(_FIELDS["by_others"])


def undecided_fields(raw: object) -> list[str]:
    """Return the fields of a raw update's message that are not known; they make its words somebody else's."""
    body = message_body(raw)[1] if isinstance(raw, dict) else None
    return sorted(str(name) for name in body.keys() - known_fields()) if isinstance(body, dict) else []


def message_body(raw: Mapping[str, Any]) -> tuple[Literal["message", "edit"], Any]:
    """Return the message that a raw update brings, and whether it is new; None for any other update."""
    edited = raw.get(EDITED)
    return ("message", raw.get("message")) if edited is None else ("edit", edited)


def update_id(raw: object) -> int | None:
    """The number of a raw update; None when it has none that can be confirmed."""
    number = raw.get("update_id") if isinstance(raw, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62 else None


def parse_update(raw: object, me: BotUser) -> Inbound | IgnoredUpdate:
    """Parse an update. Raises MalformedUpdate, whose text names the fields at fault, never their content.

    In groups only messages that mention the bot or reply to it are for the bot. Admission is checked elsewhere. Words
    count as forwarded unless every field of the message is known to leave them to its sender.
    """
    number = update_id(raw)
    if number is None or not isinstance(raw, dict):
        raise MalformedUpdate("the update has no number")
    kind, body = message_body(raw)
    if body is None:
        kinds = sorted(one_line(str(key)[:32]) for key in raw if key != "update_id")
        if not _IGNORED_UPDATES.issuperset(kinds):
            raise MalformedUpdate(f"an update of a kind that is not known: {', '.join(kinds[:3])}")
        return IgnoredUpdate(f"only messages are answered, not {', '.join(kinds[:3]) or 'nothing'}")
    try:
        message = _Message.model_validate(body)
    except ValidationError as error:
        fields = {".".join(str(part) for part in problem["loc"]) or "message" for problem in error.errors()}
        raise MalformedUpdate(f"the message has no valid {', '.join(sorted(fields))}") from None
    sender = message.sender
    if sender is None or message.sender_chat is not None:
        return IgnoredUpdate("written in the name of a chat, not of a person")
    if reason := _why_ignored(kind, sender, message, body):
        return IgnoredUpdate(reason)
    items: list[dict[str, Any]] = raw.get(ALBUM) or [body]
    text, attachments = _text(message), tuple(each for item in items for each in _attachments(item))
    private = message.chat.type == "private"
    if not text and not attachments:
        if private and (unknown := undecided_fields(raw)):
            raise MalformedUpdate(f"a message of nothing but what is not known: {one_line(', '.join(unknown[:3]))}")
        return IgnoredUpdate("a service message")
    answered = message.reply_to_message
    if answered is not None and answered.forum_topic_created is not None:
        answered = None  # what opens a topic seems to be answered by everything in it
    if not private:
        replied = answered.sender if answered is not None else None
        mentioned, text = strip_mention(text, me.username)
        addressed = [user.id for user in (replied, message.receiver_user) if user is not None]
        if not mentioned and me.id not in addressed:
            return IgnoredUpdate("a group message that is not for the bot")
    quoted, author = _quoted(message, answered, me)
    return Inbound(
        channel=CHANNEL,
        external_id=str(number),
        chat=str(message.chat.id),
        user=str(sender.id),
        text=text,
        sent_at=datetime.fromtimestamp(max(message.date, message.edit_date), UTC),
        user_name=_full_name(sender),
        private=private,
        forwarded=not body.keys() <= _BY_SENDER,
        kind=kind,
        target=message.id if kind == "edit" else "",
        platform_id=message.id,
        attachments=attachments,
        reply_to=str((answered and answered.message_id) or ""),
        quoted=quoted,
        quoted_author=author,
        # In a group without topics the number is that of a thread of replies, to which nothing can be sent.
        thread=str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else "",
    )


def _why_ignored(kind: str, sender: _User, message: _Message, body: Mapping[str, Any]) -> str:
    """Return why a message is not answered, wherever it stands; "" for one that may be."""
    if sender.is_bot:
        return "written by a bot"
    if message.chat.type not in ("private", *_GROUPS):
        return "neither a private chat nor a group"
    if kind == "edit" and "location" in body:  # every few seconds, for hours
        return "a live location that moved"
    return ""


def strip_mention(text: str, username: str) -> tuple[bool, str]:
    """Strip mentions of the bot from `text`, and tell whether there were any. A text of nothing else stays as it is."""
    if not username:
        return False, text
    name = re.escape(username)
    text, commands = re.subn(rf"\A(/\w{{1,32}})@{name}(?!\w)", r"\1", text, flags=re.IGNORECASE)
    rest, mentions = re.subn(rf"(?<![\w@])@{name}(?!\w)", "", text, flags=re.IGNORECASE)
    return bool(commands or mentions), rest.strip() or text


def _quoted(message: _Message, answered: _RepliedTo | None, me: BotUser) -> tuple[str, str]:
    """Return the beginning of what a message answers or quotes, and its author's name; "" for the bot.

    In a group people answer the bot to speak to it, so its own words count only where somebody marked some of them.
    """
    quote = message.quote
    sender = answered.sender if answered is not None else None
    own = sender is not None and sender.id == me.id
    text = quote.text if quote is not None else ""
    if answered is not None and not text and (message.chat.type == "private" or not own):
        text = answered.text or answered.caption
    name = "" if own else _full_name(sender) or "Somebody"
    return _clean(text)[:_QUOTED_KEPT], name if text else ""


def _full_name(user: _User | None) -> str:
    return "" if user is None else _clean(" ".join(f"{user.first_name} {user.last_name}".split()))


def _text(message: _Message) -> str:
    """The words of a message, or below its attachment; "" where there are none."""
    words, entities = message.text, message.entities
    if not words:
        words, entities = message.caption, message.caption_entities
    return _clean(_with_quotation_marks(words, entities))


def _attachments(body: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The attachments of a raw message, with its id where it is an item of an album."""
    item = str(body.get("message_id") or "") if body.get("media_group_id") else ""
    return tuple(
        replace(each, name=_clean(each.name), mime=_clean(each.mime), text=_clean(each.text), item=item)
        for each in read_attachments(body)
    )


def _with_quotation_marks(text: str, entities: Sequence[_Entity]) -> str:
    """Put `> ` before the lines of quotations, whose marks Telegram has taken out of the text."""
    units, at, marked = text.encode("utf-16-le", "surrogatepass"), 0, ""
    spans = sorted((each.offset, each.offset + each.length) for each in entities if each.type in _QUOTATIONS)
    for first, last in spans:
        start, end = _letter_start(units, max(at, first)), _letter_start(units, last)
        if start >= end:
            continue
        quoted = "\n".join(f"> {line}" for line in _decoded(units, start, end).removesuffix("\n").split("\n"))
        marked = _on_new_line(_on_new_line(marked, _decoded(units, at, start)), quoted)
        at = end
    return _on_new_line(marked, _decoded(units, at, len(units) // 2))


def _decoded(units: bytes, start: int, end: int) -> str:
    return units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def _letter_start(units: bytes, offset: int) -> int:
    """Return the offset, in UTF-16 units, of the letter that `offset` falls into, at most that of the end."""
    offset = min(offset, len(units) // 2)
    return offset - (offset > 0 and "\udc00" <= _decoded(units, offset, offset + 1) <= "\udfff")


def _on_new_line(text: str, more: str) -> str:
    """Append `more` to `text` on a line of its own."""
    apart = text and more and not text.endswith("\n") and not more.startswith("\n")
    return f"{text}\n{more}" if apart else text + more


def _clean(text: str) -> str:
    """Remove NULs, which cut texts short in C, and replace lone surrogates, which have no UTF-8."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
