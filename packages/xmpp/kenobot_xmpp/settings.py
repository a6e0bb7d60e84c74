"""Define the settings of the XMPP channel."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, SecretStr

from kenobot.channels.people import ChatSettings, Names, each_fits, fits
from kenobot.core import lazy

_JID = lazy.regex(r"[^@/\s]+@[^/\s]+")
Account = Annotated[str, fits(lazy.regex(r"[^@/\s]+@[^@/\s]+"), "xmpp.bad_address")]
Jids = Annotated[
    Names,
    each_fits(_JID, "xmpp.bad_address"),
    AfterValidator(lambda values: [value.lower() for value in values]),
]


class XmppSettings(ChatSettings):
    """The `[channels.xmpp]` part of the configuration."""

    title: ClassVar[str] = "XMPP"
    asked: ClassVar[tuple[str, ...]] = ("account", "password", "owners")
    packages: ClassVar[tuple[str, ...]] = ("slixmpp",)
    extra: ClassVar[str] = "xmpp"

    owners: Jids = Field([], description="addresses of the bot's owner")
    allowed_users: Jids = Field([], description="addresses of guests")
    allowed_chats: Jids = Field([], description="rooms in which everybody may talk to the bot")
    account: Account = Field("", description="address of the bot")
    password: SecretStr = Field(SecretStr(""), description="password of that account")
    server: str = Field("", description="host name of the server, where it is not that of the address")
    port: int = Field(5222, ge=1, le=65535, description="its port, where `server` is set")
    security: Literal["starttls", "tls", "none"] = "starttls"
    nick: str = Field("kenobot", min_length=1, max_length=60, description="name of the bot in rooms")
    join: Jids = Field([], description="rooms to be in, beside those of allowed_chats")
    ping_seconds: ClassVar[float] = 60
