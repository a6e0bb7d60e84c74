"""The Telegram plugin: private chats, and groups that mention the bot, by long polling."""

from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.core.network import building_client
from kenobot.ports.channel import Channel
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin, PluginContext


def build(settings: TelegramSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError when the token or the list of people is missing."""
    if not settings.token.get_secret_value():
        raise ConfigError("telegram.token_missing")
    if not (settings.owners or settings.allowed_users or settings.allowed_chats):
        raise ConfigError("telegram.no_people")
    from kenobot.channels.telegram.channel import TelegramChannel

    with building_client():
        return TelegramChannel(settings, surroundings.clock)


plugin = Plugin(settings=TelegramSettings, build=build)
