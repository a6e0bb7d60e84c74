"""The HTTP plugin: a signed webhook, and the server of the REST API."""

import importlib.util

from kenobot.channels.http.settings import HttpSettings
from kenobot.ports.channel import Channel
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin, PluginContext

_NEEDED = ("fastapi", "uvicorn", "httptools")


def build(settings: HttpSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, which listens only once it runs. Raises ConfigError where its packages are missing."""
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        raise ConfigError("channels.packages_missing", missing=", ".join(missing))
    from kenobot.channels.http.channel import HttpChannel

    return HttpChannel(settings, surroundings.clock, surroundings.signals)


plugin = Plugin(settings=HttpSettings, build=build)
