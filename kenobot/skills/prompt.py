"""Word skills for a model: names and descriptions always, a file of one when it reads it. Pure."""

from collections.abc import Sequence

from kenobot.skills.skill import PAGE, Skill

_HEADING = (
    "## Skills\nHow some tasks are done here. When one fits, read it with read_skill before you begin; what it tells "
    "to install or run beforehand is for the person to decide."
)
_ROOM = 6_000  # characters of all descriptions
_SHORTEST = 60  # characters that a description keeps
_PART = 6_000  # characters of a file that are read at once


def list_skills(skills: Sequence[Skill]) -> str:
    """Write the section of a prompt; "" without skills."""
    if not skills:
        return ""
    longest = max(_SHORTEST, _ROOM // len(skills))
    return "\n".join([_HEADING, *(f"- {each.name}: {_cut(each.description, longest)}" for each in skills)])


def read_part(skill: Skill, path: str, part: int) -> str | None:
    """Write a part of a skill's file, and behind the last part of its page which further files there are.

    None where there is no such file, or no text.
    """
    text = skill.page.body if path == PAGE else skill.files.text(path)
    if text is None:
        return None
    parts = _split(text)
    shown = parts[min(part, len(parts)) - 1]
    if part < len(parts):
        return f"{shown}\n[part {part} of {len(parts)}: read part {part + 1} as well]"
    others = "\n".join(f"- {name}" for name in skill.other_files) if path == PAGE else ""
    return f"{shown}\n\n[files of this skill:]\n{others}" if others else shown


def _split(text: str) -> list[str]:
    """Split a text between lines into parts that a result has room for."""
    parts, left = [], text
    while len(left) > _PART:
        at = left.rfind("\n", _PART // 2, _PART) + 1 or _PART
        parts.append(left[:at].rstrip("\n"))
        left = left[at:]
    return [*parts, left]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
