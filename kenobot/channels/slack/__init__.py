"""The Slack plugin and its settings: direct messages, and channels whose members mention the bot."""

from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from kenobot.channels.people import ChatSettings, Names, check_packages, check_people, check_set, each_fits
from kenobot.core import lazy
from kenobot.core.network import BaseAddress
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext

_ID = lazy.regex(r"[A-Z][A-Z0-9]{1,20}")
Ids = Annotated[Names, each_fits(_ID, "is no Slack id, which looks like U012AB3CD: the profile of a person shows it")]


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
    request_seconds: float = Field(20, gt=0, le=300, description="deadline of connecting and of each message")


def build(settings: SlackSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError for what only a person can decide."""
    check_set("slack", token=settings.token.get_secret_value(), app_token=settings.app_token.get_secret_value())
    check_people(settings, "slack", "U012AB3CD")
    check_packages(SlackSettings)
    from kenobot.channels.slack.channel import SlackChannel

    return SlackChannel(settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=SlackSettings, build=build)
