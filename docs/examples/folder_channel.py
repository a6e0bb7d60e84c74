"""A channel over a folder: a text file moved into `in/` is a message, and each part of a reply is a file in `out/`.

A file is deleted once its message is stored, so move each in under a name that is not taken.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field

from kenobot.ports.channel import Sink
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.plugin import Plugin

_WIDTH = 2000  # characters of a part: within `Capabilities.longest` whatever they are


class FolderSettings(BaseModel, extra="forbid"):
    """owners: user ids that are the owner's; messages of this channel come from the user "me"."""

    path: Path
    owners: list[str] = ["me"]
    poll_seconds: float = Field(1.0, gt=0, le=60)


class FolderChannel:
    """Poll a folder for messages, and delete each once it is stored."""

    name = "folder"

    def __init__(self, settings: FolderSettings, clock: Clock) -> None:
        self._in, self._out = settings.path / "in", settings.path / "out"
        self._pause = settings.poll_seconds
        self._clock = clock

    async def run(self, sink: Sink) -> None:
        while True:
            for path, inbound in await asyncio.to_thread(self._read):
                await sink(inbound)  # raises when the disk is full: then the file stays and comes again
                await asyncio.to_thread(path.unlink, missing_ok=True)
            await self._clock.sleep(self._pause)

    def render(self, text: str) -> Sequence[MessagePart]:
        return [MessagePart(text[start : start + _WIDTH]) for start in range(0, len(text), _WIDTH)]

    async def send(self, outbound: Outbound) -> str:
        name = f"{outbound.id:06}.txt"  # a part that is sent again takes its own place
        try:
            await asyncio.to_thread(self._write, name, outbound.part.text)
        except OSError as error:
            raise Unavailable(f"The folder cannot be written: {error.strerror}.") from error
        return name

    def _read(self) -> list[tuple[Path, Inbound]]:
        self._in.mkdir(parents=True, exist_ok=True)
        found = sorted((path.stat().st_mtime_ns, path.name, path) for path in self._in.glob("*.txt") if path.is_file())
        return [(path, self._parse(path, changed)) for changed, _, path in found]

    def _parse(self, path: Path, changed: int) -> Inbound:
        """The same file comes twice under one `external_id`, and is one message."""
        text, sent_at = path.read_text("utf-8", "replace"), datetime.fromtimestamp(changed / 1e9, UTC)
        return Inbound(self.name, f"{path.name}#{changed}", chat="me", user="me", text=text, sent_at=sent_at)

    def _write(self, name: str, text: str) -> None:
        self._out.mkdir(parents=True, exist_ok=True)
        (self._out / name).write_text(text, "utf-8", "replace")


plugin = Plugin(settings=FolderSettings, build=lambda settings, context: FolderChannel(settings, context.clock))
