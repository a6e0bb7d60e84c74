"""Parse what Telegram tells of a group that becomes a supergroup, which has another id."""

from pydantic import BaseModel, StrictInt, ValidationError


class _Chat(BaseModel):
    id: StrictInt


class _Message(BaseModel):
    chat: _Chat
    migrate_to_chat_id: StrictInt = 0
    migrate_from_chat_id: StrictInt = 0


def chat_move(raw: object) -> tuple[str, str] | None:
    """Return the former and the new id of a group; None when an update tells of no such thing.

    Both groups are told: the old one where it went, and the new one, before any other message, where it comes from.
    """
    body = raw.get("message") if isinstance(raw, dict) else None
    try:
        message = _Message.model_validate(body)
    except ValidationError:
        return None
    if message.migrate_to_chat_id:
        return str(message.chat.id), str(message.migrate_to_chat_id)
    return (str(message.migrate_from_chat_id), str(message.chat.id)) if message.migrate_from_chat_id else None
