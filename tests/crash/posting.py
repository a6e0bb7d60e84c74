"""Two tools for the bot that is killed: one that leaves a mark in its home, and one that only looks."""

import asyncio
import os
from pathlib import Path

from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects

POSTED = "posted.txt"
_SECONDS = 0.05  # that the world outside takes, before and after the mark


class Tag(ToolArguments):
    tag: str


class Post:
    """Appends a line to a file, as something that may happen once."""

    name = "post"
    description = "Post a tag."
    arguments = Tag
    effects = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=True)

    def __init__(self, home: Path) -> None:
        self._file = home / POSTED

    async def run(self, arguments: Tag, turn: ToolContext) -> str:
        await asyncio.sleep(_SECONDS)
        await asyncio.to_thread(self._append, arguments.tag)
        await asyncio.sleep(_SECONDS)
        return f"posted {arguments.tag}"

    def _append(self, tag: str) -> None:
        file = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{tag}\n".encode())
        finally:
            os.close(file)


class Look:
    """Says what it was given."""

    name = "look"
    description = "Look at a tag."
    arguments = Tag
    effects = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: Tag, turn: ToolContext) -> str:
        await asyncio.sleep(_SECONDS)
        return f"seen {arguments.tag}"


post = Plugin(settings=NoSettings, build=lambda _settings, context: Post(context.home))
look = Plugin(settings=NoSettings, build=lambda _settings, _context: Look())
