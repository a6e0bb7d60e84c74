"""The Matrix plugin: direct chats, and rooms that mention the bot, without encryption."""

from kenobot.channels.people import check_people, check_set
from kenobot.core.network import building_client
from kenobot.ports.channel import Channel
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_matrix.settings import MatrixSettings


def build(settings: MatrixSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError when the account or the list of people is missing."""
    check_set("matrix", user=settings.user)
    if not (settings.password.get_secret_value() or settings.token.get_secret_value()):
        raise ConfigError("matrix.password_missing")
    check_people(settings, "matrix", "@ana:example.org")
    from kenobot_matrix.channel import MatrixChannel

    with building_client():
        return MatrixChannel(settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=MatrixSettings, build=build)
