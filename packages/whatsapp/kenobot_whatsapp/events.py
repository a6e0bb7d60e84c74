"""Read what Meta's Cloud API posts: messages, reactions, presses of buttons, and what became of messages sent."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, StrictStr, ValidationError

from kenobot.channels.intake import read_time
from kenobot.channels.mention import strip_name
from kenobot.ports.clock import Clock
from kenobot.ports.messages import Attachment, Inbound, MediaKind

NAME: Final = "whatsapp"
_CHARACTERS: Final = 4000  # of an attachment in words
_FILES: Final[Mapping[str, MediaKind]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "document": "document",
}
_SILENT: Final = frozenset({"revoke", "request_welcome", "ephemeral"})
_SILENT_UNSUPPORTED: Final = frozenset({"edit", "pin", "keep", "poll_update", "event_response"})

Text = Annotated[StrictStr, Field(max_length=100_000)]
Id = Annotated[StrictStr, Field(min_length=1, max_length=512)]


class MalformedMessage(Exception):
    """Something that cannot be understood. The text names the fields at fault, never their content."""


class _Body(BaseModel):
    body: Text = ""


class _File(BaseModel):
    id: Id
    mime_type: Text = ""
    caption: Text = ""
    filename: Text = ""
    voice: bool = False


class _Location(BaseModel):
    latitude: float = Field(allow_inf_nan=False)
    longitude: float = Field(allow_inf_nan=False)
    name: Text = ""
    address: Text = ""


class _PersonName(BaseModel):
    formatted_name: Text = ""


class _Phone(BaseModel):
    phone: Text = ""


class _Person(BaseModel):
    name: _PersonName = _PersonName()
    phones: tuple[_Phone, ...] = ()


class _Reaction(BaseModel):
    message_id: Id
    emoji: Text = ""


class _Choice(BaseModel):
    id: Text


class _Press(BaseModel):
    button_reply: _Choice | None = None
    list_reply: _Choice | None = None


class _TemplateButton(BaseModel):
    text: Text = ""


class _Context(BaseModel):
    id: Text = ""
    author: Text = Field("", alias="from")
    forwarded: bool = False
    frequently_forwarded: bool = False


class _Unsupported(BaseModel):
    type: Text = ""


class _System(BaseModel):
    type: Text = ""
    wa_id: Text = ""


class _Edit(BaseModel):
    original_message_id: Id
    message: dict[str, Any]


class _Message(BaseModel):
    id: Id
    timestamp: int
    type: Text
    number: Text = Field("", alias="from")
    user_id: Text = Field("", alias="from_user_id")
    group_id: Text = ""
    context: _Context = _Context()
    text: _Body = _Body()
    file: _File | None = None
    location: _Location | None = None
    contacts: tuple[_Person, ...] = ()
    reaction: _Reaction | None = None
    interactive: _Press | None = None
    button: _TemplateButton | None = None
    unsupported: _Unsupported = _Unsupported()
    system: _System = _System()
    edit: _Edit | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """A raw message or status of a request. names: of the people it is about, by the ids Meta gives them."""

    raw: Mapping[str, Any]
    names: Mapping[str, str]
    is_status: bool = False

    @property
    def id(self) -> str:
        """Meta's id of it; a digest of what has none, so that one such is told from another."""
        return str(self.raw.get("id") or "")[:512] or sha256(json.dumps(self.raw).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class BotNumber:
    """The bot as people see it: its phone number in digits, and its name; "" before Meta told them."""

    number: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class NewNumber:
    """A person goes on from another phone number."""

    former: str
    current: str


Identify = Callable[[str, str], str]
"""Give the id of a person by phone number and Meta's own id, either of which may be missing as ""."""


def iterate_posted(body: object, phone_number_id: str) -> Iterator[Posted]:
    """Yield what a request brings for one phone number, in its order. What is of another form is left out."""
    for change in _maps(each for entry in _maps(_get(body, "entry")) for each in _maps(entry.get("changes"))):
        value = change.get("value")
        if change.get("field") != "messages" or _get(_get(value, "metadata"), "phone_number_id") != phone_number_id:
            continue
        names = dict[str, str]()
        for contact in _maps(_get(value, "contacts")):
            name = str(_get(contact.get("profile"), "name") or "")[:200]
            names |= {str(contact[key]): name for key in ("wa_id", "user_id") if contact.get(key)}
        for raw in _maps(_get(value, "messages")):
            yield Posted(raw, names)
        for raw in _maps(_get(value, "statuses")):
            yield Posted(raw, names, is_status=True)


def number_of(found: Posted) -> str:
    """Return the phone number from which a message that was parsed came; "" where it tells none."""
    return str(found.raw.get("from") or "")


def user_id_of(found: Posted) -> str:
    """Return Meta's own id of who sent a message that was parsed; "" where it tells none."""
    return str(found.raw.get("from_user_id") or "")


def parse(found: Posted, me: BotNumber, identify: Identify, clock: Clock) -> Inbound | NewNumber | None:
    """Parse a message; None for one that is not for the bot. Raises MalformedMessage."""
    raw, kind = found.raw, str(found.raw.get("type"))
    try:
        message = _Message.model_validate({**raw, "file": raw.get(kind) if kind in _FILES else None})
    except ValidationError as error:
        fields = {".".join(str(part) for part in problem["loc"][:2]) for problem in error.errors()}
        raise MalformedMessage(f"the message has no valid {', '.join(sorted(fields))}") from None
    if message.type == "system":
        changed = message.system.wa_id if message.system.type.endswith("_changed_number") else ""
        return NewNumber(message.number, changed) if changed else None
    if message.edit is not None:
        return _parse_edit(found, message.edit, message, (me, identify, clock))
    user = identify(message.number, message.user_id)
    if not user:
        raise MalformedMessage("the message has no sender")
    chat, context = message.group_id or user, message.context
    inbound = Inbound(
        channel=NAME,
        external_id=message.id,
        chat=chat,
        user=user,
        text="",
        sent_at=read_time(message.timestamp * 1000, clock),
        user_name=found.names.get(message.number) or found.names.get(message.user_id, ""),
        private=not message.group_id,
        forwarded=context.forwarded or context.frequently_forwarded,
        platform_id=message.id,
        reply_to=context.id,
    )
    filled = _fill(inbound, message)
    return filled if filled is None or filled.private else _for_bot(filled, context, me)


def _parse_edit(
    found: Posted, edit: _Edit, message: _Message, given: tuple[BotNumber, Identify, Clock]
) -> Inbound | None:
    """Parse an edit: the whole message as it reads now."""
    own = {key: found.raw[key] for key in ("from", "from_user_id", "group_id", "timestamp") if key in found.raw}
    said = {**edit.message, **own, "id": edit.original_message_id, "edit": None}
    inbound = parse(replace(found, raw=said), *given)
    if not isinstance(inbound, Inbound) or inbound.kind != "message":
        return None
    number = f"{message.id} edited {message.timestamp}"
    return replace(inbound, kind="edit", external_id=number, target=edit.original_message_id)


def _fill(inbound: Inbound, message: _Message) -> Inbound | None:
    """Put in what a message says; None for one that says nothing."""
    kind = message.type
    if message.reaction is not None:
        return replace(
            inbound, kind="reaction", target=message.reaction.message_id, value=message.reaction.emoji, reply_to=""
        )
    if message.interactive is not None:
        choice = message.interactive.button_reply or message.interactive.list_reply
        if choice is None:
            raise MalformedMessage("an answer to something interactive that the bot did not send")
        return replace(inbound, kind="action", target=message.context.id, value=choice.id, reply_to="")
    if kind in ("text", "button"):
        text = message.button.text if message.button is not None else message.text.body
        return replace(inbound, text=text) if text else None
    if message.file is not None:
        file = message.file
        return replace(inbound, text=file.caption, attachments=(_attachment(kind, file),))
    if kind == "location" and message.location is not None:
        return replace(inbound, attachments=(_place(message.location),))
    if kind == "contacts":
        return replace(inbound, attachments=tuple(_person(person) for person in message.contacts))
    if kind == "sticker":
        return replace(inbound, attachments=(Attachment("sticker", text="…"),))
    if kind == "unsupported" and message.unsupported.type not in _SILENT_UNSUPPORTED:
        what = message.unsupported.type.replace("_", " ")[:100]
        return replace(inbound, attachments=(Attachment("other", name=what),))
    if kind == "unsupported" or kind in _SILENT:
        return None
    raise MalformedMessage("a message of a kind that is not known")


def _for_bot(inbound: Inbound, context: _Context, me: BotNumber) -> Inbound | None:
    """Return a message of a group that names the bot or answers it; None for any other."""
    if inbound.kind != "message":
        return inbound
    named, text = strip_name(inbound.text, (me.name, me.number))
    answers = bool(me.number) and context.author == me.number
    return replace(inbound, text=text) if named or answers else None


def _attachment(kind: str, file: _File) -> Attachment:
    mime = file.mime_type.partition(";")[0].strip()[:100]
    found: MediaKind = "voice" if file.voice else _FILES[kind]
    return Attachment(found, mime, file.filename[:200], handle=file.id)


def _place(place: _Location) -> Attachment:
    where = f"{place.latitude:.6f}, {place.longitude:.6f}"
    words = [word for word in (place.name, place.address) if word]
    return Attachment("location", name="venue" if words else "", text="\n".join([*words, where])[:_CHARACTERS])


def _person(person: _Person) -> Attachment:
    words = [person.name.formatted_name, *(each.phone for each in person.phones)]
    return Attachment("contact", text="\n".join(word for word in words if word)[:_CHARACTERS])


def _maps(found: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(found, list | Iterator):
        yield from (each for each in found if isinstance(each, dict))


def _get(found: object, name: str) -> object:
    return found.get(name) if isinstance(found, dict) else None
