"""Settings of the Telegram channel."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, SecretStr

_TOKEN = re.compile(r"[0-9]{8,10}:[A-Za-z0-9_-]{35}")
_ID = re.compile(r"-?[0-9]{1,20}")


def is_token(text: str) -> bool:
    """Whether `text` has the form of a bot token: 8 to 10 digits, a colon, 35 of `[A-Za-z0-9_-]`."""
    return _TOKEN.fullmatch(text) is not None


def _ids(value: object) -> list[str]:
    """Parse chat or user ids from `"1, 2"`, from `1`, or from a list of texts and numbers."""
    value = value.split(",") if isinstance(value, str) else value
    items: Iterable[object] = value if isinstance(value, list | tuple) else [value]
    ids = [text for item in items if (text := item.strip() if isinstance(item, str) else str(item))]
    if not all(_ID.fullmatch(item) for item in ids):
        raise ValueError("Telegram ids are whole numbers such as 123456789; names and @handles do not work")
    return ids


Ids = Annotated[list[str], BeforeValidator(_ids)]


class TelegramSettings(BaseModel, extra="forbid", frozen=True, hide_input_in_errors=True):
    """The `[telegram]` part of the configuration."""

    token: SecretStr = Field(SecretStr(""), description="bot token from @BotFather")
    base_url: str = Field(
        "https://api.telegram.org/bot", pattern=r"^https?://", description="Bot API server; the token is appended"
    )
    owners: Ids = Field([], description="user ids of the bot's owner")
    allowed_users: Ids = Field([], description="user ids of guests")
    allowed_chats: Ids = Field([], description="ids of chats in which everybody may talk to the bot")
    poll_seconds: int = Field(30, ge=1, le=50, description="how long one request waits for messages")
    request_seconds: float = Field(20, gt=0, le=300, description="deadline of every other request")
