"""Read presses of buttons from raw updates, and make the buttons below a message."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError
from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from kenobot.channels.telegram.updates import CHANNEL, EphemeralId, MalformedUpdate, update_id
from kenobot.core.i18n import Language
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Button, Inbound

FIELD = "callback_query"


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A press as it came in. query: what Telegram waits for an answer to. language: of the person's Telegram."""

    inbound: Inbound
    query: str
    language: Language


class _User(BaseModel):
    id: StrictInt
    first_name: StrictStr = ""
    last_name: StrictStr = ""
    language_code: StrictStr = ""


class _Chat(BaseModel):
    id: StrictInt
    type: StrictStr


class _Message(BaseModel):
    message_id: StrictInt = 0
    ephemeral_message_id: StrictInt = 0
    chat: _Chat
    message_thread_id: StrictInt = 0
    is_topic_message: StrictBool = False


class _Query(BaseModel):
    id: StrictStr
    sender: _User = Field(alias="from")
    message: _Message
    data: StrictStr


def parse_press(raw: object, at: datetime) -> ButtonPress | None:
    """Parse a press that came in at this time; None for any other update. Raises MalformedUpdate."""
    body = raw.get(FIELD) if isinstance(raw, dict) else None
    if body is None:
        return None
    try:
        query = _Query.model_validate(body)
    except ValidationError as error:
        fields = {".".join(str(part) for part in problem["loc"]) for problem in error.errors()}
        raise MalformedUpdate(f"the press of a button has no valid {', '.join(sorted(fields))}") from None
    number, message, sender = update_id(raw), query.message, query.sender
    if number is None:
        raise MalformedUpdate("the update has no number")
    unseen = EphemeralId(str(sender.id), message.ephemeral_message_id) if message.ephemeral_message_id else None
    if unseen is None and not message.message_id:
        raise MalformedUpdate("the press of a button has no valid message.message_id")
    name = " ".join(f"{sender.first_name} {sender.last_name}".split())
    inbound = Inbound(
        channel=CHANNEL,
        external_id=str(number),
        chat=str(message.chat.id),
        user=str(sender.id),
        text="",
        sent_at=at,
        user_name=name.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
        private=message.chat.type == "private",
        kind="action",
        target=str(unseen or message.message_id),
        value=query.data,
        thread=str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else "",
    )
    return ButtonPress(inbound, query.id, "es" if sender.language_code.startswith("es") else "en")


def keyboard_markup(buttons: Sequence[Sequence[Button]]) -> InlineKeyboardMarkup | None:
    """Return the buttons of a message as Telegram takes them; None where there are none."""
    rows = [[InlineKeyboardButton(each.label, callback_data=each.value) for each in row] for row in buttons]
    return InlineKeyboardMarkup(rows) if rows else None
