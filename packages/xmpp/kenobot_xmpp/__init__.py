"""The XMPP plugin: chats with the bot's account, and rooms that say its nick."""

from kenobot.channels.people import check_packages, check_people, check_set
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_xmpp.settings import XmppSettings


def build(settings: XmppSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError for what only a person can decide."""
    check_set("xmpp", account=settings.account, password=settings.password.get_secret_value())
    check_people(settings, "xmpp", "ana@example.org")
    check_packages(XmppSettings)
    from kenobot_xmpp.channel import XmppChannel

    return XmppChannel(settings, surroundings.clock)


plugin = Plugin(settings=XmppSettings, build=build)
