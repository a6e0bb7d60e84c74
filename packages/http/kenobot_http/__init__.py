"""The HTTP plugin: a signed webhook, and the server of the REST API."""

from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_http.settings import HttpSettings


def build(settings: HttpSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, which listens only once it runs."""
    from kenobot_http.api.application import Api
    from kenobot_http.channel import HttpChannel

    return HttpChannel(settings, surroundings.clock, surroundings.signals, Api)


plugin = Plugin(settings=HttpSettings, build=build)
