"""Build the watch of a running bot."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kenobot.app.running_channels import ChannelState
from kenobot.app.watch.probes import Probes, ProbeServices
from kenobot.app.watch.pulse import Pulse
from kenobot.app.watch.watch import Watch
from kenobot.core.stacks import StackDumps
from kenobot.gateway.health_notices import HealthNotices

if TYPE_CHECKING:
    from kenobot.app.app import App


def build_watch(app: "App", states: Callable[[], Sequence[ChannelState]]) -> Watch:
    """Build the watch of an app; inside its event loop. states: of the channels."""
    limits = app.settings.watch
    pulse = Pulse(StackDumps(app.home.stacks, asyncio.get_running_loop()), limits.pause_seconds)
    services = ProbeServices(
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
    notices = HealthNotices(app.database, app.clock, app.owner_alerts) if limits.notify else None
    return Watch(Probes(services), notices, app.bus, app.clock, limits.every_seconds, pulse)
