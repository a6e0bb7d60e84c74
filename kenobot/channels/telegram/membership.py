"""Parse what Telegram tells of the bot's own place in a group: added, removed, made admin."""

from typing import Final, Literal

from pydantic import BaseModel, Field, StrictInt, StrictStr, ValidationError

from kenobot.ports.sentences import Sentence

_Status = Literal["creator", "administrator", "member", "restricted", "left", "kicked"]
_OUT: Final = ("left", "kicked")


class _Member(BaseModel):
    status: _Status


class _Chat(BaseModel):
    id: StrictInt
    type: StrictStr


class _Change(BaseModel):
    chat: _Chat
    before: _Member = Field(alias="old_chat_member")
    after: _Member = Field(alias="new_chat_member")


def membership_problem(raw: object) -> str:
    """Word what the owner has to know of a raw `my_chat_member` update; "" for any other, and for private chats."""
    body = raw.get("my_chat_member") if isinstance(raw, dict) else None
    if body is None:
        return ""
    try:
        change = _Change.model_validate(body)
    except ValidationError:
        return ""
    if change.chat.type not in ("group", "supergroup"):
        return ""
    before, after = change.before.status, change.after.status
    if after in _OUT and before not in _OUT:
        return Sentence("telegram.removed", group=change.chat.id)
    if after == "administrator" and before != "administrator":
        return Sentence("telegram.made_admin", group=change.chat.id)
    return ""
