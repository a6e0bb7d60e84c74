"""`/skills`: tell the owner which skills there are, and which of them a model reads."""

from collections.abc import Mapping

from kenobot.agent.commands.command import CommandCall, CommandContext, one_line
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.core.redaction import escape_controls
from kenobot.skills.library import ShelvedSkill, State
from kenobot.skills.trust import read_trusted
from kenobot.storage.connection import Connection

_LINES: Mapping[State, Text] = {
    "trusted": texts.SKILLS_TRUSTED,
    "untrusted": texts.SKILLS_UNTRUSTED,
    "changed": texts.SKILLS_CHANGED,
    "broken": texts.SKILLS_BROKEN,
}


def show_skills(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/skills`: list the skills with their states. What nobody has looked at is not quoted."""
    shelf = [] if context.skills is None else context.skills.list_skills(read_trusted(connection))
    if not shelf:
        return texts.SKILLS_NONE(call.language)
    return texts.SKILLS_SOME(call.language, lines="\n".join(_line(each, call.language) for each in shelf))


def _line(found: ShelvedSkill, language: Language) -> str:
    what = one_line(found.skill.description) if found.skill is not None else ""
    return _LINES[found.state](language, name=escape_controls(found.name).replace("`", "'"), what=what)
