"""Define the settings of the Discord channel."""

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from kenobot.channels.people import ChatSettings, Names, each_fits
from kenobot.core import lazy

_ID = lazy.regex(r"[0-9]{1,20}")
Ids = Annotated[Names, each_fits(_ID, "discord.bad_id")]


class DiscordSettings(ChatSettings):
    """The `[channels.discord]` part of the configuration."""

    title: ClassVar[str] = "Discord"
    asked: ClassVar[tuple[str, ...]] = ("token", "owners")
    packages: ClassVar[tuple[str, ...]] = ("discord",)
    extra: ClassVar[str] = "discord"

    owners: Ids = Field([], description="Discord ids of the bot's owner")
    allowed_users: Ids = Field([], description="Discord ids of guests")
    allowed_chats: Ids = Field([], description="ids of channels in which everybody may talk to the bot")
    token: SecretStr = Field(SecretStr(""), description="token of the bot")
