"""Take a skill in from a folder or a zip file, unread and untrusted: nothing in it is run."""

import os
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from kenobot.skills.files import LEFT_OUT, MOST_BYTES, MOST_FILES, SkillFiles, check_path, read
from kenobot.skills.front_matter import UnusableSkill
from kenobot.skills.skill import PAGE, name_in, parse_skill, read_page

_DRAFT = ".adding-"
_MOST_MEMBERS = 5_000


def read_source(source: Path) -> tuple[str, SkillFiles]:
    """Read a skill from outside the home; returns its name too. Raises UnusableSkill."""
    # The folder itself may be reached by a link, nothing in it.
    files = _uncover(_unzip(source) if source.is_file() else read(source.resolve(), LEFT_OUT))
    name = name_in(read_page(files), source.stem if source.is_file() else source.resolve().name)
    parse_skill(name, files)
    return name, files


def write_skill(skills: Path, name: str, files: SkillFiles) -> None:
    """Write a skill's files below the folder of skills, all or nothing. Raises UnusableSkill where there is one."""
    target = skills / name
    if target.exists() or target.is_symlink():
        raise UnusableSkill("skills.exists", name=name)
    skills.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in skills.glob(f"{_DRAFT}*"):  # by a crash
        shutil.rmtree(left, ignore_errors=True)
    draft = skills / f"{_DRAFT}{os.getpid()}"
    try:
        for path, content in files.contents.items():
            place = draft / check_path(path)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o600)
        draft.rename(target)
    except OSError as error:
        raise UnusableSkill("skills.unwritable", path=skills, reason=error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_again(skills: Path, name: str, files: SkillFiles) -> None:
    """Write a skill unless it is there already, file by file. Raises UnusableSkill where there is another."""
    target = skills / name
    if target.is_dir() and not target.is_symlink() and read(target).digest == files.digest:
        return
    write_skill(skills, name, files)


def remove_skill(skills: Path, name: str) -> None:
    """Remove a skill's folder, of a link the link alone. Raises UnusableSkill."""
    target = skills / name
    try:
        if target.is_symlink():
            target.unlink()
        else:
            shutil.rmtree(target)
    except OSError as error:
        raise UnusableSkill("files.unremovable", path=target, reason=error) from error


def _unzip(source: Path) -> SkillFiles:
    """Read the files of an archive, as far as they may be a skill's, counting what really comes out of it."""
    contents: dict[str, bytes] = {}
    room = MOST_BYTES
    try:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            if len(members) > _MOST_MEMBERS:
                raise UnusableSkill("skills.too_many_entries", most=_MOST_MEMBERS)
            for member in members:
                if member.is_dir() or LEFT_OUT.intersection(PurePosixPath(member.filename).parts):
                    continue
                path = _member_path(member)
                if path in contents or len(contents) == MOST_FILES:
                    raise UnusableSkill("skills.entry_twice", path=path, most=MOST_FILES)
                with archive.open(member) as file:
                    contents[path] = file.read(room + 1)
                room -= len(contents[path])
                if room < 0:
                    raise UnusableSkill("skills.too_large", most=MOST_BYTES // 1000000)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError, zlib.error) as error:
        raise UnusableSkill("skills.bad_zip", name=source.name, reason=error) from error
    return SkillFiles(dict(sorted(contents.items())))


def _member_path(member: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise UnusableSkill("skills.link", path=repr(member.filename[:80]))
    return check_path(member.filename)


def _uncover(files: SkillFiles) -> SkillFiles:
    """Take away the folder that all files are in, as archives have it; `skill.md` becomes `SKILL.md`."""
    contents = dict(files.contents)
    tops = {path.partition("/")[0] for path in contents}
    if PAGE not in contents and len(tops) == 1 and all("/" in path for path in contents):
        contents = {path.partition("/")[2]: content for path, content in contents.items()}
    if PAGE not in contents and "skill.md" in contents:
        contents[PAGE] = contents.pop("skill.md")
    return SkillFiles(dict(sorted(contents.items())))
