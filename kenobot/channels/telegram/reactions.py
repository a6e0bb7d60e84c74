"""Read reactions to messages from raw updates."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

from kenobot.channels.telegram.updates import CHANNEL, LAST_SECOND, IgnoredUpdate, MalformedUpdate, update_id
from kenobot.ports.messages import Inbound

FIELD = "message_reaction"


class _User(BaseModel):
    id: StrictInt
    is_bot: StrictBool = False


class _Chat(BaseModel):
    id: StrictInt
    type: StrictStr


class _Kind(BaseModel):
    """A reaction; one of a custom or paid kind has no emoji that says anything."""

    emoji: StrictStr = ""


class _Reaction(BaseModel):
    chat: _Chat
    message_id: StrictInt
    user: _User | None = None
    date: Annotated[StrictInt, Field(ge=0, le=LAST_SECOND)]
    new_reaction: list[_Kind]


def parse_reaction(raw: object) -> Inbound | IgnoredUpdate | None:
    """Parse a reaction, the newest of a person's to that message; None for any other update. Raises MalformedUpdate.

    Telegram tells of them in private chats, and in groups to administrators.
    """
    body, number = (raw.get(FIELD), update_id(raw)) if isinstance(raw, dict) else (None, None)
    if body is None:
        return None
    try:
        reaction = _Reaction.model_validate(body)
    except ValidationError as error:
        fields = {".".join(str(part) for part in problem["loc"]) for problem in error.errors()}
        raise MalformedUpdate(f"the reaction has no valid {', '.join(sorted(fields))}") from None
    if number is None:
        raise MalformedUpdate("the update has no number")
    if reaction.user is None:
        return IgnoredUpdate("a reaction in the name of a chat, not of a person")
    if reaction.user.is_bot:
        return IgnoredUpdate("a reaction of a bot")
    emoji = reaction.new_reaction[-1].emoji if reaction.new_reaction else ""
    return Inbound(
        channel=CHANNEL,
        external_id=str(number),
        chat=str(reaction.chat.id),
        user=str(reaction.user.id),
        text="",
        sent_at=datetime.fromtimestamp(reaction.date, UTC),
        private=reaction.chat.type == "private",
        kind="reaction",
        target=str(reaction.message_id),
        value=emoji.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
    )
