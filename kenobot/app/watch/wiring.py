"""Build the watch of a running bot."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from kenobot.app.plugin_instances import PluginInstances
from kenobot.app.running_channels import ChannelState
from kenobot.app.watch import probes
from kenobot.app.watch.pulse import Pulse
from kenobot.app.watch.watch import Watch
from kenobot.core.bus import Bus
from kenobot.core.redaction import Redactor
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.core.stacks import StackDumps
from kenobot.gateway.health_notices import HealthNotices
from kenobot.gateway.owner_alerts import OwnerAlerts
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.storage.database import Database


class WatchedApp(Protocol):
    """The parts of a running bot that are watched."""

    home: Home
    settings: Settings
    database: Database
    clock: Clock
    redact: Redactor
    channels: dict[str, Channel]  # bounded: the channels there are; start
    plugins: PluginInstances
    owner_alerts: OwnerAlerts
    bus: Bus

    def circuits(self) -> Sequence[tuple[str, CircuitBreaker]]:
        """Return the name of each provider that answers people, and the breaker in front of it."""
        ...


def build_watch(app: WatchedApp, states: Callable[[], Sequence[ChannelState]]) -> Watch:
    """Build the watch of an app; inside its event loop. states: of the channels."""
    pulse = Pulse(StackDumps(app.home.stacks, asyncio.get_running_loop()), probes.PAUSE_SECONDS)
    services = probes.ProbeServices(
        home=app.home,
        settings=app.settings,
        database=app.database,
        clock=app.clock,
        redact=app.redact,
        channels=app.channels,
        states=states,
        circuits=app.circuits,
        pulse=pulse,
        servers=app.plugins.mcp,
    )
    notices = HealthNotices(app.database, app.clock, app.owner_alerts) if app.settings.watch.notify else None
    return Watch(probes.Probes(services), notices, app.bus, app.clock, probes.LOOK_SECONDS, pulse)
