"""Read the owner's skills for the tools of a turn: only to the owner, and only while nobody has changed them."""

import asyncio

from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.skills.library import SkillLibrary
from kenobot.skills.trust import Trusted, read_trusted
from kenobot.storage.database import Database

_NONE = 'There is no skill "{name}": use a name that is listed under Skills.'
_NOT_SEEN = (
    'The skill "{name}" is not read: {why}. Do the task without it, and tell the person that `kenobot skills show '
    "{name}` shows its files and `kenobot skills trust {name}` trusts them."
)
_NO_FILE = 'The skill "{name}" has no text file "{file}". It has: {files}.'
_MOST_NAMED = 50
_WHY = {
    "untrusted": "its owner has not looked at it yet",
    "changed": "its files were changed since its owner looked at them",
    "broken": "it cannot be used",
}


@dataclass(frozen=True, slots=True)
class TurnSkills:
    """The skills that the speaker of a turn may have read to the model."""

    database: Database
    library: SkillLibrary
    principal: Principal

    async def read(self, name: str, file: str, part: int) -> str:
        """Return a part of a file of a trusted skill. Raises ToolFailed."""
        if OWNER_SCOPE not in self.principal.read_scopes:
            raise ToolFailed(_NONE.format(name=name))
        trusted = await self.database.read(read_trusted)
        return await asyncio.to_thread(self._read, trusted, name, file, part)

    def _read(self, trusted: Trusted, name: str, file: str, part: int) -> str:
        from kenobot.skills.prompt import read_part  # noqa: PLC0415 - loads the reader of YAML

        found = self.library.find(name, trusted)
        if found is None:
            raise ToolFailed(_NONE.format(name=name))
        if found.skill is None or found.state != "trusted":
            raise ToolFailed(_NOT_SEEN.format(name=name, why=_WHY[found.state]))
        text = read_part(found.skill, file, part)
        if text is None:
            files = ", ".join(["SKILL.md", *found.skill.other_files][:_MOST_NAMED])
            raise ToolFailed(_NO_FILE.format(name=name, file=file, files=files))
        return text
