"""Define the settings of the Telegram channel."""

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr

from kenobot.core import lazy
from kenobot.core.network import HttpAddress
from kenobot.ports.sentences import Sentence

_TOKEN = lazy.regex(r"[0-9]{8,10}:[A-Za-z0-9_-]{35}")
_ID = lazy.regex(r"-?[0-9]{1,20}")


def is_token(text: str) -> bool:
    """Return whether `text` has the form of a bot token: 8 to 10 digits, a colon, 35 of `[A-Za-z0-9_-]`."""
    return _TOKEN.fullmatch(text) is not None


def _ids(value: object) -> list[str]:
    """Parse chat or user ids from `"1, 2"`, from `1`, or from a list of texts and numbers."""
    value = value.split(",") if isinstance(value, str) else value
    items: Iterable[object] = value if isinstance(value, list | tuple) else [value]
    ids = [text for item in items if (text := item.strip() if isinstance(item, str) else str(item))]
    if not all(_ID.fullmatch(item) for item in ids):
        raise ValueError(Sentence("telegram.bad_id"))
    return ids


def _token(value: SecretStr) -> SecretStr:
    """Refuse what cannot be a token. Empty means that there is none."""
    if value.get_secret_value() and not is_token(value.get_secret_value()):
        raise ValueError(Sentence("telegram.bad_token"))
    return value


def _public(value: str) -> str:
    """Refuse an address that Telegram would not post to. Empty means that the bot polls."""
    if value and not value.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise ValueError(Sentence("telegram.no_tls"))
    return value


Ids = Annotated[list[str], BeforeValidator(_ids)]


class TelegramSettings(BaseModel, extra="forbid", frozen=True, hide_input_in_errors=True):
    """The `[telegram]` part of the configuration."""

    token: Annotated[SecretStr, AfterValidator(_token)] = Field(SecretStr(""), description="bot token from @BotFather")
    base_url: HttpAddress = Field("https://api.telegram.org/bot", description="Bot API server; the token is appended")
    owners: Ids = Field([], description="user ids of the bot's owner")
    allowed_users: Ids = Field([], description="user ids of guests")
    allowed_chats: Ids = Field([], description="ids of chats in which everybody may talk to the bot")
    webhook_url: Annotated[str, AfterValidator(_public)] = Field("", description="where Telegram reaches channels.http")
    fragment_seconds: float = Field(1.5, ge=0, le=4, description="messages that come within it are one; 0 for each")
    link_previews: bool = Field(False, description="show previews of links; Telegram's servers call their addresses")
    rich_messages: bool = Field(True, description="show headings, lists and tables where the server can")
    poll_seconds: ClassVar[float] = 30
    request_seconds: ClassVar[float] = 20
