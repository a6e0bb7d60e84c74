"""Explain where memories come from, and forget one."""

from pydantic import Field

from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects


class MemoryArguments(ToolArguments):
    text: str = Field(min_length=3, max_length=500, description="The memory in its own words, as a search shows it.")


class MemoryWhy:
    """Tells where memories come from."""

    name = "memory_why"
    description = "Tell where a memory comes from, since when it is known and how certain it is."
    arguments = MemoryArguments
    effects = ToolEffects(reads_private=True, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: MemoryArguments, turn: ToolContext) -> str:
        """Return a line for each memory that has these words."""
        return await turn.memory.explain(arguments.text)


class MemoryForget:
    """Forgets a memory, after the owner's yes."""

    name = "memory_forget"
    description = "Forget one memory because the person wants that. They are asked first, and can undo it."
    arguments = MemoryArguments
    effects = ToolEffects(
        reads_private=True, brings_untrusted=False, way_out=False, changes_outside=True, asks_always=True
    )

    async def run(self, arguments: MemoryArguments, turn: ToolContext) -> str:
        """Forget it and return what it was."""
        return await turn.memory.forget(arguments.text)


why = Plugin(settings=NoSettings, build=lambda _settings, _context: MemoryWhy())
forget = Plugin(settings=NoSettings, build=lambda _settings, _context: MemoryForget())
