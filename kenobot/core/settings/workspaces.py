"""Check the workspaces of the settings: none may give tools a way to the bot itself."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kenobot.core import lazy
from kenobot.core.settings.explain import with_origin
from kenobot.core.settings.schema import WorkspaceSettings
from kenobot.ports.sentences import Sentence
from kenobot.ports.workspace import Workspace

_NAME: Final = lazy.regex(r"[a-z0-9][a-z0-9_-]{0,63}")
_SYSTEM: Final = ("/proc", "/sys", "/dev", "/etc", "/boot")
_SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - folders in it are of people


def resolve_workspaces(settings: Mapping[str, WorkspaceSettings]) -> tuple[Workspace, ...]:
    """Return the workspaces with the folders that their paths lead to now."""
    return tuple(
        Workspace(name, Path(os.path.realpath(Path(each.path).expanduser())), each.read_only)
        for name, each in settings.items()
    )


def find_mistakes(
    settings: Mapping[str, WorkspaceSettings],
    home: Path,
    credentials: Path | None,
    origins: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield the name of each workspace that may not be one, and why not. credentials: secrets outside of the home."""
    found = resolve_workspaces(settings)
    for each in found:
        why = _why_not(each, settings[each.name].path, home, credentials) or _overlap(each, found)
        if why:
            place = f"tools.workspaces.{each.name} = {settings[each.name].path!r}"
            told = Sentence("settings.problem", place=place, problem=why)
            yield each.name, with_origin(("tools", "workspaces", each.name), origins, told)


def _why_not(workspace: Workspace, written: str, home: Path, credentials: Path | None) -> str:
    path = workspace.path
    if not _NAME.fullmatch(workspace.name):
        return Sentence("workspaces.bad_name")
    if not written.startswith(("/", "~/")):
        return Sentence("workspaces.not_whole")
    if path.exists() and not path.is_dir():
        return Sentence("workspaces.no_folder")
    if _SHARED_MEMORY not in path.parents and any(_is_within(path, Path(system)) for system in _SYSTEM):
        return Sentence("workspaces.of_system")
    for private in filter(None, (home, credentials)):
        if _is_within(path, private) or _is_within(private, path):
            return Sentence("workspaces.holds_home", folder=private)
    own = (Path(__file__).parents[2], Path(sys.prefix))
    if not workspace.read_only and any(_is_within(program, path) or _is_within(path, program) for program in own):
        return Sentence("workspaces.holds_program")
    return ""


def _overlap(workspace: Workspace, others: tuple[Workspace, ...]) -> str:
    """Say which other is around it or in it: where one of the two may not be changed, neither is safe."""
    for other in others:
        if other is not workspace and _is_within(workspace.path, other.path):
            return Sentence("workspaces.inside", other=other.name)
        if other is not workspace and _is_within(other.path, workspace.path):
            return Sentence("workspaces.around", other=other.name)
    return ""


def _is_within(path: Path, folder: Path) -> bool:
    """Return whether `path` is `folder` or in it, whatever names and mounts they have there."""
    resolved = Path(os.path.realpath(path))
    if resolved.is_relative_to(os.path.realpath(folder)):
        return True
    if not folder.exists():
        return False
    return any(each.exists() and each.samefile(folder) for each in (resolved, *resolved.parents))
