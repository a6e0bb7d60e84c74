"""Search memory in the model's own words."""

from pydantic import Field

from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects


class SearchArguments(ToolArguments):
    query: str = Field(
        min_length=1,
        max_length=500,
        description="A question, or words that a note may hold, in the person's language.",
    )


class MemorySearch:
    """Searches what the speaker may see of memory, and what was said before."""

    name = "memory_search"
    description = (
        "Search memory and earlier conversations for what the context does not show. Call it before saying that you "
        "do not know something of the person; try other words when nothing fits."
    )
    arguments = SearchArguments
    effects = ToolEffects(reads_private=True, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: SearchArguments, turn: ToolContext) -> str:
        """Return the notes and passages found, as prompts show them."""
        return await turn.search_memory(arguments.query)


plugin = Plugin(settings=NoSettings, build=lambda _settings, _context: MemorySearch())
