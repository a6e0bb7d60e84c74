"""Parse raw updates from Telegram."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import resources
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

from kenobot.channels.telegram.media import ATTACHMENT_FIELDS, read_attachments
from kenobot.core import lazy
from kenobot.core.redaction import one_line
from kenobot.ports.frozen import dataclass
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
    title: StrictStr = ""


class _Entity(BaseModel):
    type: StrictStr
    offset: StrictInt
    length: StrictInt
    url: StrictStr = ""


class _Worded(BaseModel):
    text: StrictStr = ""
    caption: StrictStr = ""
    entities: tuple[_Entity, ...] = ()
    caption_entities: tuple[_Entity, ...] = ()

    @property
    def words(self) -> tuple[str, tuple[_Entity, ...]]:
        """Return the words of a message, or below its attachment, with their formatting."""
        return (self.text, self.entities) if self.text else (self.caption, self.caption_entities)


class _RepliedTo(_Worded):
    message_id: object = None
    sender: _User | None = Field(None, alias="from")
    forum_topic_created: object = None


class _Message(_Worded):
    date: Annotated[StrictInt, Field(ge=0, le=LAST_SECOND)]
    edit_date: Annotated[StrictInt, Field(ge=0, le=LAST_SECOND)] = 0
    chat: _Chat
    sender: _User | None = Field(None, alias="from")
    sender_chat: _Chat | None = None
    author_signature: StrictStr = ""
    reply_to_message: _RepliedTo | None = None
    quote: _Worded | None = None
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

    @property
    def is_anonymous(self) -> bool:
        """Return whether an administrator of a group wrote it in the name of the group."""
        return self.chat.type in _GROUPS and self.sender_chat is not None and self.sender_chat.id == self.chat.id

    @property
    def author(self) -> tuple[str, str] | None:
        """Return the account that wrote it, that of the group for an anonymous administrator, and its name."""
        if self.is_anonymous and self.sender_chat is not None:
            role = f" ({self.author_signature})" if self.author_signature else ""
            return str(self.chat.id), _clean(" ".join(f"{self.sender_chat.title}{role}".split()))
        if self.sender is None or self.sender_chat is not None:
            return None
        return str(self.sender.id), _full_name(self.sender)


_QUOTED_KEPT: Final = 1000  # characters
_GROUPS: Final = ("group", "supergroup")
_LINK: Final = "text_link"
_SCHEME = lazy.regex(r"\Ahttps?://")
_QUOTATIONS: Final = ("blockquote", "expandable_blockquote", "pre")


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


_FIELDS: Final[Mapping[str, list[str]]] = _load("message_fields.toml")
_BY_SENDER: Final = ATTACHMENT_FIELDS.union(_FIELDS["by_sender"])
_BY_ANONYMOUS: Final = _BY_SENDER | {"sender_chat", "author_signature"}
_IGNORED_UPDATES: Final = frozenset(_FIELDS["ignored_updates"])


def list_known_fields() -> frozenset[str]:
    """Return the fields of a message that are known to leave its words to the sender, or to make them another's."""
    return _BY_SENDER.union(_FIELDS["by_others"])


def list_undecided_fields(raw: object) -> list[str]:
    """Return the fields of a raw update's message that are not known; they make its words somebody else's."""
    body = message_body(raw)[1] if isinstance(raw, dict) else None
    return sorted(str(name) for name in body.keys() - list_known_fields()) if isinstance(body, dict) else []


def message_body(raw: Mapping[str, Any]) -> tuple[Literal["message", "edit"], Any]:
    """Return the message that a raw update brings, and whether it is new; None for any other update."""
    edited = raw.get(EDITED)
    return ("message", raw.get("message")) if edited is None else ("edit", edited)


def update_id(raw: object) -> int | None:
    """Return the number of a raw update; None when it has none that can be confirmed."""
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
        return _ignore_kind(raw)
    bodies: list[dict[str, Any]] = raw.get(ALBUM) or [body]
    message, *items = map(_validate, (body, *bodies))
    author = message.author
    if author is None:
        return IgnoredUpdate("written in the name of a chat, not of a person")
    if reason := _why_ignored(kind, message, body):
        return IgnoredUpdate(reason)
    words = [_clean(_add_marks(*each.words)) for each in items]
    attachments = _attachments(bodies, words)
    private = message.chat.type == "private"
    if not any(words) and not attachments:
        if private and (unknown := list_undecided_fields(raw)):
            raise MalformedUpdate(f"a message of nothing but what is not known: {one_line(', '.join(unknown[:3]))}")
        return IgnoredUpdate("a service message")
    answered = message.reply_to_message
    if answered is not None and answered.forum_topic_created is not None:
        answered = None  # what opens a topic seems to be answered by everything in it
    if not private:
        replied = answered.sender if answered is not None else None
        stripped = [strip_mention(each, me.username) for each in words]
        words = [text for _, text in stripped]
        attachments = _attachments(bodies, words)
        addressed = [user.id for user in (replied, message.receiver_user) if user is not None]
        if not any(mentioned for mentioned, _ in stripped) and me.id not in addressed:
            return IgnoredUpdate("a group message that is not for the bot")
    quoted, quoted_author = _read_quotation(message, answered, me)
    own_fields = _BY_ANONYMOUS if message.is_anonymous else _BY_SENDER
    return Inbound(
        channel=CHANNEL,
        external_id=str(number),
        chat=str(message.chat.id),
        user=author[0],
        text="\n".join(each for each in words if each),
        sent_at=datetime.fromtimestamp(max(message.date, message.edit_date), UTC),
        user_name=author[1],
        private=private,
        forwarded=any(not each.keys() <= own_fields for each in bodies),
        kind=kind,
        target=message.id if kind == "edit" else "",
        platform_id=message.id,
        attachments=attachments,
        reply_to=str((answered and answered.message_id) or ""),
        quoted=quoted,
        quoted_author=quoted_author,
        # In a group without topics the number is that of a thread of replies, to which nothing can be sent.
        thread=str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else "",
    )


def _ignore_kind(raw: dict[str, Any]) -> IgnoredUpdate:
    """Ignore an update that is no message. Raises MalformedUpdate for one of an unknown kind."""
    kinds = sorted(one_line(str(key)[:32]) for key in raw if key != "update_id")
    if not _IGNORED_UPDATES.issuperset(kinds):
        raise MalformedUpdate(f"an update of a kind that is not known: {', '.join(kinds[:3])}")
    return IgnoredUpdate(f"only messages are answered, not {', '.join(kinds[:3]) or 'nothing'}")


def _validate(body: object) -> _Message:
    try:
        return _Message.model_validate(body)
    except ValidationError as error:
        fields = {".".join(str(part) for part in problem["loc"]) or "message" for problem in error.errors()}
        raise MalformedUpdate(f"the message has no valid {', '.join(sorted(fields))}") from None


def _why_ignored(kind: str, message: _Message, body: Mapping[str, Any]) -> str:
    """Return why a message is not answered, wherever it stands; "" for one that may be."""
    if message.sender is not None and message.sender.is_bot and not message.is_anonymous:
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


def _read_quotation(message: _Message, answered: _RepliedTo | None, me: BotUser) -> tuple[str, str]:
    """Return the beginning of what a message answers or quotes, and its author's name; "" for the bot.

    In a group people answer the bot to speak to it, so its own words count only where somebody marked some of them.
    """
    quote = message.quote
    sender = answered.sender if answered is not None else None
    own = sender is not None and sender.id == me.id
    text, entities = quote.words if quote is not None else ("", ())
    if answered is not None and not text and (message.chat.type == "private" or not own):
        text, entities = answered.words
    name = "" if own else _full_name(sender) or "Somebody"
    links = [each for each in entities if each.type == _LINK]
    return _clean(_add_marks(text, links))[:_QUOTED_KEPT], name if text else ""


def _full_name(user: _User | None) -> str:
    return "" if user is None else _clean(" ".join(f"{user.first_name} {user.last_name}".split()))


def _attachments(bodies: Sequence[Mapping[str, Any]], captions: Sequence[str]) -> tuple[Attachment, ...]:
    """Return the attachments of raw messages, each with its id and the length of its caption in an album."""
    found: list[Attachment] = []
    for body, caption in zip(bodies, captions, strict=True):
        item = str(body.get("message_id") or "") if body.get("media_group_id") else ""
        found += (
            replace(
                each,
                name=_clean(each.name),
                mime=_clean(each.mime),
                text=_clean(each.text),
                item=item,
                caption_chars=len(caption) if item else 0,
            )
            for each in read_attachments(body)
        )
    return tuple(found)


def _add_marks(text: str, entities: Sequence[_Entity]) -> str:
    """Put `> ` before the lines of quotations, whose marks Telegram has taken out, and addresses behind their links."""
    units, at, marked = text.encode("utf-16-le", "surrogatepass"), 0, ""
    links = sorted((each for each in entities if each.type == _LINK), key=lambda each: each.offset + each.length)
    spans = sorted((each.offset, each.offset + each.length) for each in entities if each.type in _QUOTATIONS)
    for first, last in spans:
        start, end = _letter_start(units, max(at, first)), _letter_start(units, last)
        if start >= end:
            continue
        lines = _add_addresses(units, start, end, links).removesuffix("\n").split("\n")
        quoted = "\n".join(f"> {line}" for line in lines)
        marked = _on_new_line(_on_new_line(marked, _add_addresses(units, at, start, links)), quoted)
        at = end
    return _on_new_line(marked, _add_addresses(units, at, len(units) // 2, links))


def _add_addresses(units: bytes, start: int, end: int, links: Sequence[_Entity]) -> str:
    """Return a piece of a text with the address of each link that ends in it, unless the link is its address."""
    pieces: list[str] = []
    at = start
    for link in links:
        place, address = _letter_start(units, link.offset + link.length), "".join(link.url.split())
        if not start < place <= end or not address:
            continue
        label = _decode_units(units, _letter_start(units, max(link.offset, 0)), place)
        if label.strip().removesuffix("/") not in (
            address.removesuffix("/"),
            _SCHEME.sub("", address).removesuffix("/"),
        ):
            pieces += (_decode_units(units, at, place), f" ({address})")
            at = place
    return "".join([*pieces, _decode_units(units, at, end)])


def _decode_units(units: bytes, start: int, end: int) -> str:
    return units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def _letter_start(units: bytes, offset: int) -> int:
    """Return the offset, in UTF-16 units, of the letter that `offset` falls into, at most that of the end."""
    offset = min(offset, len(units) // 2)
    return offset - (offset > 0 and "\udc00" <= _decode_units(units, offset, offset + 1) <= "\udfff")


def _on_new_line(text: str, more: str) -> str:
    """Append `more` to `text` on a line of its own."""
    apart = text and more and not text.endswith("\n") and not more.startswith("\n")
    return f"{text}\n{more}" if apart else text + more


def _clean(text: str) -> str:
    """Remove NULs, which cut texts short in C, and replace lone surrogates, which have no UTF-8."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
