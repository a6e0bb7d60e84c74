"""Define the settings of the Matrix channel."""

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from kenobot.channels.people import ChatSettings, Names, each_fits, fits
from kenobot.core import lazy
from kenobot.core.network import BaseAddress

_USER = lazy.regex(r"@[^:\s]+:\S+")
User = Annotated[str, fits(_USER, "matrix.bad_id")]
Users = Annotated[Names, each_fits(_USER, "matrix.bad_id")]


class MatrixSettings(ChatSettings):
    """The `[channels.matrix]` part of the configuration."""

    title: ClassVar[str] = "Matrix"
    asked: ClassVar[tuple[str, ...]] = ("homeserver", "user", "password", "owners")

    owners: Users = Field([], description="Matrix ids of the bot's owner")
    allowed_users: Users = Field([], description="Matrix ids of guests")
    allowed_chats: Names = Field([], description="ids of rooms in which everybody may talk to the bot")
    homeserver: BaseAddress = Field("https://matrix.org", description="where the bot's account is")
    user: User = Field("", description="Matrix id of the bot")
    password: SecretStr = Field(SecretStr(""), description="password of that account")
    token: SecretStr = Field(SecretStr(""), description="access token, in place of the password")
    poll_seconds: ClassVar[int] = 30
