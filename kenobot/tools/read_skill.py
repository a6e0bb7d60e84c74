"""Read a skill that the owner trusts, or a file of one."""

from pydantic import Field

from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects
from kenobot.skills.library import READER


class SkillArguments(ToolArguments):
    name: str = Field(min_length=1, max_length=64, description="A name listed under Skills.")
    file: str = Field("SKILL.md", min_length=1, max_length=1000, description="A file that its text names.")
    part: int = Field(1, ge=1, le=1000, description="Of a long file.")


class ReadSkill:
    """Reads the text of a skill. Offered only where a prompt lists any.

    What it reads is the owner's own choice, so it is no word of others; it may hold what was learned from memory.
    """

    name = READER
    description = "Read how a task is done here, before you begin it: a skill, or a file of one."
    arguments = SkillArguments
    effects = ToolEffects(reads_private=True, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: SkillArguments, turn: ToolContext) -> str:
        """Return the text."""
        return await turn.skills.read(arguments.name.strip(), arguments.file.strip().removeprefix("./"), arguments.part)


plugin = Plugin(settings=NoSettings, build=lambda _settings, _context: ReadSkill())
