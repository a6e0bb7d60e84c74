"""`kenobot skills`: add skills, look at their files, trust and remove them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.table import print_table
from kenobot.core.redaction import escape_controls, one_line
from kenobot.skills import intake
from kenobot.skills import trust as trust_rows
from kenobot.skills.front_matter import UnusableSkill
from kenobot.skills.library import READER, ShelvedSkill, SkillLibrary
from kenobot.skills.skill import Skill, find_problems, read_page, reveal

_NONE = "There are no skills: `kenobot skills add PATH` takes one in."
_OFF = "It is off until you trust it: `kenobot skills trust {name}` shows its files first."
_NO_READER = "No model reads skills yet: put read_skill into tools.enabled in kenobot.toml."
_CHANGED = "Its files were changed since you trusted them: a model does not read it any more."


def list_(context: CommandContext) -> int:
    shelf = _library(context).list_skills(_read_trusted(context))
    if not shelf or context.args.json:
        return options.print_rows(map(_row, shelf), context.args.json, str, _NONE)
    cells = [
        (each.name, say(each.state), each.skill.description if each.skill else translate(each.why)) for each in shelf
    ]
    print_table(("skill", "state", "description"), cells)
    return 0


def show(context: CommandContext) -> int:
    found = _find(context)
    if found.skill is None:
        return options.print_failure(found.why, options.FAILED)
    if context.args.json:
        contents = {path: found.skill.files.text(path) for path in found.skill.files.contents}
        return options.print_rows([_row(found) | {"contents": contents}], True, str)
    print("\n".join(_iterate_files(found.skill, found)))
    return 0


def check(context: CommandContext) -> int:
    """Say in what skills stray from the specification; also of a folder or an archive that is none of the home's."""
    names = [context.args.name] if context.args.name else _library(context).names()
    rows = [{"name": name, "problems": _problems(context, name)} for name in names]
    code = options.print_rows(rows, context.args.json, _render_check, _NONE)
    return code or (options.FAILED if any(row["problems"] for row in rows) else 0)


def add(context: CommandContext) -> int:
    source = Path(context.args.path).expanduser()
    context.require_database()
    if not source.exists():
        return options.print_failure(say("There is nothing at {source}.", source=source))
    try:
        name, files = intake.read_source(source)
        intake.write_skill(context.home.skills, name, files)
    except UnusableSkill as error:
        return options.print_failure(error, options.FAILED)
    added = _library(context).find(name, _read_trusted(context))
    assert added is not None
    lines = [say("Added: {name} ({count} files)", name=name, count=len(files.contents)), *_remarks(added)]
    if added.state != "trusted":
        lines.append(say(_OFF, name=name))
    return options.print_row(_row(added), context.args.json, "\n".join(lines))


def trust(context: CommandContext) -> int:
    found = _find(context)
    if found.skill is None:
        return options.print_failure(found.why, options.FAILED)
    digest = found.skill.digest
    if context.args.yes is None:
        print("\n".join(_iterate_files(found.skill, found)))
        if not options.confirm(
            "Do you trust these files as they are? [y/N] ", "Nobody can be asked here: use --yes HASH."
        ):
            return options.FAILED
    elif context.args.yes != digest:
        return options.print_failure(say("Its hash is another one: {digest}", digest=digest), options.FAILED)
    with context.write() as connection:
        trust_rows.trust(connection, found.name, digest, context.now)
    row = _row(found) | {"state": "trusted"}
    code = options.print_row(row, context.args.json, say("Trusted: {name}", name=found.name))
    if READER not in context.loaded.settings.tools.enabled:
        options.print_failure(_NO_READER)
    return code


def remove(context: CommandContext) -> int:
    found = _find(context)
    question = say("Remove {name} and its files? [y/N] ", name=one_line(found.name))
    if not context.args.yes and not options.confirm(question, "Nobody can be asked here: use --yes."):
        return options.FAILED
    with context.write() as connection:
        trust_rows.withdraw(connection, found.name)
    try:
        intake.remove_skill(context.home.skills, found.name)
    except UnusableSkill as error:
        return options.print_failure(error, options.FAILED)
    return options.print_row({"removed": found.name}, context.args.json, say("Removed: {name}", name=found.name))


def _library(context: CommandContext) -> SkillLibrary:
    return SkillLibrary(context.home.skills)


def _read_trusted(context: CommandContext) -> trust_rows.Trusted:
    try:
        with context.read() as connection:
            return trust_rows.read_trusted(connection)
    except options.NoDatabase:
        return {}


def _find(context: CommandContext) -> ShelvedSkill:
    """Return the skill that is named. Raises NothingFound."""
    found = _library(context).find(context.args.name, _read_trusted(context))
    if found is None:
        raise options.NothingFound("skills.no_such_skill", name=context.args.name)
    return found


def _problems(context: CommandContext, named: str) -> list[str]:
    """Find what the specification has against a skill of the home, or at a path. Raises NothingFound."""
    found = _library(context).find(named, {})
    if found is not None:
        return [found.why] if found.skill is None else [*found.skill.problems]
    source = Path(named).expanduser()
    if not source.exists():
        raise options.NothingFound("skills.no_such_skill", name=named)
    try:
        name, files = intake.read_source(source)
        return [*find_problems(source.resolve().name if source.is_dir() else name, read_page(files))]
    except UnusableSkill as error:
        return [str(error)]


def _render_check(row: Any) -> str:
    problems = [f"  {one_line(translate(problem))}" for problem in row["problems"]] or [f"  {say('in order')}"]
    return "\n".join([one_line(row["name"]), *problems])


def _row(found: ShelvedSkill) -> dict[str, Any]:
    skill = found.skill
    if skill is None:
        return {"name": found.name, "state": found.state, "why": found.why}
    values = {"description": skill.description, "hash": skill.digest, "files": [*skill.files.contents]}
    return {"name": found.name, "state": found.state, **values, "problems": [*skill.problems], "notes": [*skill.notes]}


def _iterate_files(skill: Skill, found: ShelvedSkill) -> Iterator[str]:
    """Yield the files of a skill whole, what is to be said of them, and their hash."""
    for path, content in skill.files.contents.items():
        text = skill.files.text(path)
        yield f"── {one_line(path)} ({len(content)} B)"
        shown = escape_controls(reveal(text)) if text is not None else say("(no text: it cannot be shown)")
        yield "\n".join(f"│ {line}" for line in shown.rstrip("\n").split("\n"))  # so that no file can feign the next
    yield "──"
    yield from _remarks(found)


def _remarks(found: ShelvedSkill) -> Iterator[str]:
    assert found.skill is not None
    yield from (one_line(translate(remark)) for remark in (*found.skill.problems, *found.skill.notes))
    if found.state == "changed":
        yield say(_CHANGED)
    yield f"{say('hash')}: {found.skill.digest}"
