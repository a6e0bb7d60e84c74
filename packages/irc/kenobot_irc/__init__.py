"""The IRC plugin: private messages, and channels that say the bot's nick."""

from kenobot.channels.people import check_people, check_set
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_irc.settings import IrcSettings


def build(settings: IrcSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError when the server or the list of people is missing."""
    check_set("irc", server=settings.server)
    check_people(settings, "irc", "ana!ana@*.example.org")
    from kenobot_irc.channel import IrcChannel

    return IrcChannel(settings, surroundings.clock)


plugin = Plugin(settings=IrcSettings, build=build)
