"""The Discord plugin: direct messages, and servers whose members mention the bot."""

from kenobot.channels.people import check_packages, check_people, check_set
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_discord.settings import DiscordSettings


def build(settings: DiscordSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError for what only a person can decide."""
    check_set("discord", token=settings.token.get_secret_value())
    check_people(settings, "discord", "80351110224678912")
    check_packages(DiscordSettings)
    from kenobot_discord.channel import DiscordChannel

    return DiscordChannel(settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=DiscordSettings, build=build)
