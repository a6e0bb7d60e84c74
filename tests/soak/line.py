"""A channel and a model that cost next to nothing, so that a hundred thousand messages take minutes.

They come into a real `kenobot run` by the plugins' own door: `plant` writes the metadata of an installed distribution,
and the channel talks to the driver over a loopback socket, one JSON line a message: [chat, number, text] in,
[chat, text] out.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from kenobot.ports.channel import Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.plugin import NoSettings, Plugin, PluginContext
from kenobot.ports.provider import Delta, Request, Usage

REMEMBER = "remember:"
NOTED = "Noted in passing:"
_RUNTIME = "<kenobot-context>"
_METADATA = "Metadata-Version: 2.1\nName: soak-line\nVersion: 0\n"
_ENTRY_POINTS = (
    "[kenobot.channels]\nline = tests.soak.line:channel\n\n[kenobot.providers]\nparrot = tests.soak.line:provider\n"
)


def plant(folder: Path) -> None:
    """Make the two plugins known to every interpreter that has `folder` on its path."""
    metadata = folder / "soak_line-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(_METADATA)
    (metadata / "entry_points.txt").write_text(_ENTRY_POINTS)


def answer(said: str) -> str:
    """What the model answers: the first line again, and for some a memory."""
    head = said.split("\n", 1)[0]
    _, asked, fact = head.partition(REMEMBER)
    return f"ok: {head} <memory>{NOTED}{fact}</memory>" if asked else f"ok: {head}"


class LineSettings(BaseModel, extra="forbid"):
    """port: where the driver listens. owners: the chats, each of them the owner's."""

    port: int
    owners: tuple[str, ...]


class Line:
    """The channel."""

    name = "line"

    def __init__(self, port: int, clock: Clock) -> None:
        self._port = port
        self._clock = clock
        self._writer: asyncio.StreamWriter | None = None

    async def run(self, sink: Sink) -> None:
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        while line := await reader.readline():
            chat, number, text = json.loads(line)
            await sink(Inbound(self.name, str(number), chat, chat, text, self._clock.now()))

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),)

    async def send(self, outbound: Outbound) -> str:
        if self._writer is None:
            raise Unavailable("The driver is not there yet.")
        self._writer.write(json.dumps([outbound.chat, outbound.part.text]).encode() + b"\n")
        await self._writer.drain()
        return str(outbound.id)


class Parrot:
    """The model."""

    name = "parrot"
    rule_based = True  # it cannot read turns for memories

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        said = next(block.text for block in request.messages[-1].text_blocks if not block.text.startswith(_RUNTIME))
        yield Delta(answer(said), "end_turn", Usage(1000, 20, 900, 0), "parrot")


def _line(settings: LineSettings, surroundings: PluginContext) -> Line:
    return Line(settings.port, surroundings.clock)


def _parrot(settings: NoSettings, surroundings: PluginContext) -> Parrot:
    return Parrot()


channel = Plugin(LineSettings, _line)
provider = Plugin(NoSettings, _parrot)
