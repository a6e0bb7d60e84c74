"""An observer: write the time of the last reply that left into a file, for a monitor to look at."""

import asyncio

from pydantic import BaseModel

from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.signals import MESSAGE_SENT, Envelope


class HeartbeatSettings(BaseModel, extra="forbid"):
    """file: its name, in the home folder."""

    file: str = "last-reply"


def build(settings: HeartbeatSettings, context: PluginContext) -> None:
    """Subscribe to what leaves."""

    async def note(envelope: Envelope) -> None:
        await asyncio.to_thread((context.home / settings.file).write_text, envelope.at.isoformat(), "utf-8")

    context.signals.subscribe(MESSAGE_SENT, note)


plugin = Plugin(settings=HeartbeatSettings, build=build)
