"""The folder of skills: list them with their state, and read again only those whose files were changed."""

import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kenobot.ports.frozen import dataclass
from kenobot.skills.trust import Trusted, read_trusted
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.skills.files import Stamp
    from kenobot.skills.skill import Skill

State = Literal["trusted", "untrusted", "changed", "broken"]
MOST_SKILLS = 100

READER = "read_skill"
"""The tool that reads skills: it is offered only where a prompt lists some."""


@dataclass(frozen=True, slots=True)
class ShelvedSkill:
    """A skill and whether it may be read to a model. skill: None where it cannot be used, and `why` not."""

    name: str
    state: State
    skill: "Skill | None" = None
    why: str = ""


@dataclass(slots=True)
class SkillLibrary:
    """The skills of a home. Every method blocks; those of a prompt run in a reader's thread."""

    path: Path
    # bounded: MOST_SKILLS, and those trusted; test_skills_that_are_gone_are_let_go
    _known: "dict[str, tuple[Stamp, Skill | str]]" = field(default_factory=dict)

    def names(self) -> list[str]:
        """List the names of the folders, sorted; of no more than `MOST_SKILLS`."""
        try:
            with os.scandir(self.path) as found:
                return sorted(each.name for each in found if _is_skill(each))[:MOST_SKILLS]
        except OSError:
            return []

    def list_skills(self, trusted: Trusted) -> list[ShelvedSkill]:
        """List all skills with their states, by name, and let go of what was read of others."""
        names, known = self.names(), self._known  # other threads may read beside this one
        self._known = {name: read for name in names if (read := known.get(name)) is not None}
        return [self._find_state(name, trusted) for name in names]

    def list_trusted(self, trusted: Trusted) -> "list[Skill]":
        """List the skills that may be read to a model, by name.

        Of one that was read before only the page is looked at, which is all that is listed; the rest when it is read.
        """
        from kenobot.skills.files import is_same
        from kenobot.skills.skill import PAGE

        found: list[Skill] = []
        for name in sorted(trusted)[:MOST_SKILLS]:
            known = self._known.get(name)
            if known is None or not is_same(f"{self.path}/{name}/{PAGE}", known[0]):
                skill = self._read(name)
            else:
                skill = known[1]
            if not isinstance(skill, str) and skill.digest == trusted[name]:
                found.append(skill)
        return found

    def prompt_section(self, connection: Connection) -> str:
        """Write what a prompt says of the skills that are trusted; "" without any."""
        if not self.path.is_dir():
            return ""
        trusted = read_trusted(connection)
        skills = self.list_trusted(trusted) if trusted else []
        if not skills:
            return ""
        from kenobot.skills.prompt import list_skills

        return list_skills(skills)

    def find(self, name: str, trusted: Trusted) -> ShelvedSkill | None:
        """Return a skill by its name; None where there is none."""
        return self._find_state(name, trusted) if name in self.names() else None

    def _find_state(self, name: str, trusted: Trusted) -> ShelvedSkill:
        found = self._read(name)
        if isinstance(found, str):
            return ShelvedSkill(name, "broken", why=found)
        if name not in trusted:
            return ShelvedSkill(name, "untrusted", found)
        return ShelvedSkill(name, "trusted" if trusted[name] == found.digest else "changed", found)

    def _read(self, name: str) -> "Skill | str":
        """Return a skill, or why it cannot be used."""
        from kenobot.skills import files
        from kenobot.skills.front_matter import UnusableSkill
        from kenobot.skills.skill import parse_skill

        try:
            now = files.stamp(self.path / name)
        except UnusableSkill as error:
            self._known.pop(name, None)
            return str(error)
        known = self._known.get(name)
        if known is not None and known[0] == now:
            return known[1]
        found: Skill | str
        try:
            found = parse_skill(name, files.read(self.path / name))
        except UnusableSkill as error:
            found = str(error)
        self._known[name] = (now, found)
        return found


def _is_skill(entry: "os.DirEntry[str]") -> bool:
    """Return whether this may be a skill: a link counts, so that its owner is told why it is none."""
    return not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir())
