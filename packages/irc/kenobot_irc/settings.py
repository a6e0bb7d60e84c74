"""Define the settings of the IRC channel."""

import string
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from kenobot.channels.people import ChatSettings, Names
from kenobot.ports.sentences import Sentence

_SMALL: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _masks(values: list[str]) -> list[str]:
    for value in values:
        if not value.startswith("account:") and not ("!" in value and "@" in value):
            raise ValueError(Sentence("irc.bare_nick", value=value))
        if not value.startswith("account:") and not value.rpartition("@")[2].strip("*?."):
            raise ValueError(Sentence("irc.wide_mask", value=value))
    return values


def _lower(values: list[str]) -> list[str]:
    return [value.translate(_SMALL) for value in values]  # of other letters many servers tell large from small


Masks = Annotated[Names, AfterValidator(_masks)]
Rooms = Annotated[Names, AfterValidator(_lower)]


def _line(value: object) -> object:
    """Refuse what would end a line of the protocol."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if isinstance(text, str) and any(char in text for char in "\r\n\0"):
        raise ValueError(Sentence("settings.line_break"))
    return value


Line = Annotated[str, BeforeValidator(_line)]
SecretLine = Annotated[SecretStr, BeforeValidator(_line)]


class IrcSettings(ChatSettings):
    """The `[channels.irc]` part of the configuration."""

    title: ClassVar[str] = "IRC"
    asked: ClassVar[tuple[str, ...]] = ("server", "owners")

    owners: Masks = Field([], description="masks or accounts of the bot's owner")
    allowed_users: Masks = Field([], description="masks or accounts of guests")
    allowed_chats: Rooms = Field([], description="channels in which everybody may talk to the bot")
    server: Line = Field("", description="host name of the server")
    port: int = Field(6697, ge=1, le=65535, description="its port")
    tls: bool = Field(True, description="whether the connection is encrypted")
    nick: Annotated[Line, Field(pattern=r"^[^\s:#&@!+,]{1,30}$")] = Field("kenobot", description="the bot's nick")
    password: SecretLine = Field(SecretStr(""), description="password of the server")
    account: Line = Field("", description="name to log in with (SASL PLAIN)")
    account_password: SecretLine = Field(SecretStr(""), description="password to log in with")
    join: Rooms = Field([], description="channels to be in")
    ping_seconds: ClassVar[float] = 60
