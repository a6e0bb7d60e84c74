"""Define the settings of the Slack channel."""

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from kenobot.channels.people import ChatSettings, Names, each_fits
from kenobot.core import lazy
from kenobot.core.network import BaseAddress

_ID = lazy.regex(r"[A-Z][A-Z0-9]{1,20}")
Ids = Annotated[Names, each_fits(_ID, "slack.bad_id")]


class SlackSettings(ChatSettings):
    """The `[channels.slack]` part of the configuration."""

    title: ClassVar[str] = "Slack"
    asked: ClassVar[tuple[str, ...]] = ("token", "app_token", "owners")
    packages: ClassVar[tuple[str, ...]] = ("slack_sdk", "aiohttp")
    extra: ClassVar[str] = "slack"

    owners: Ids = Field([], description="Slack ids of the bot's owner")
    allowed_users: Ids = Field([], description="Slack ids of guests")
    allowed_chats: Ids = Field([], description="ids of channels in which everybody may talk to the bot")
    token: SecretStr = Field(SecretStr(""), description="token of the bot, xoxb-…")
    app_token: SecretStr = Field(SecretStr(""), description="token of the app for Socket Mode, xapp-…")
    api: BaseAddress = Field("https://slack.com/api", description="address of Slack's API")
