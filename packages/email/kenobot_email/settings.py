"""Define the settings of the e-mail channel."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, SecretStr

from kenobot.channels.people import ChatSettings, Names
from kenobot.ports.sentences import Sentence


def _address(value: str) -> str:
    name, at, host = value.strip().rpartition("@")
    if (value and not (name and at and host)) or any(char.isspace() or char in "<>,;" for char in value.strip()):
        raise ValueError(Sentence("email.bad_address"))
    return value.strip().lower()


Address = Annotated[str, AfterValidator(_address)]
Addresses = Annotated[Names, AfterValidator(lambda values: [_address(value) for value in values])]
Security = Literal["tls", "starttls", "none"]


class EmailSettings(ChatSettings):
    """The `[channels.email]` part of the configuration."""

    title: ClassVar[str] = "E-mail"
    asked: ClassVar[tuple[str, ...]] = ("address", "password", "imap_server", "smtp_server", "verified_by", "owners")

    owners: Addresses = Field([], description="addresses of the bot's owner")
    allowed_users: Addresses = Field([], description="addresses of guests")
    allowed_chats: Addresses = Field([], description="the same as allowed_users")
    address: Address = Field("", description="the bot's own address")
    username: str = Field("", description="name to log in with; the address when it is empty")
    password: SecretStr = Field(SecretStr(""), description="password of the mailbox")
    imap_server: str = Field("", description="host name of the server that keeps the mailbox")
    imap_port: int = Field(993, ge=1, le=65535)
    imap_security: Security = "tls"
    smtp_server: str = Field("", description="host name of the server that takes mail to send")
    smtp_port: int = Field(465, ge=1, le=65535)
    smtp_security: Security = "tls"
    smtp_login: bool = Field(True, description="whether to log in where mail is sent, too")
    folder: str = Field("INBOX", min_length=1, pattern=r'^[^"\\\r\n]+$', description="folder that is read")
    verified_by: str = Field("", description="first word of Authentication-Results, as the mail server writes it")
    strangers: bool = Field(False, description="whether people on no list get an answer: a pairing code")
    poll_seconds: ClassVar[float] = 10
    request_seconds: ClassVar[float] = 30
    most_mb: ClassVar[float] = 25
