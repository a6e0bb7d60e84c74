"""What the distributions declare: the extras, and the lowest versions as pip's constraints.

`make lowest` installs what `python -m tests.packaging.lowest` prints and runs the tests, so that a lower bound that no
longer holds is noticed. With `--lock` it prints what `make lock` hands to uv.
"""

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
FOR_DEVELOPERS = {"dev", "lock", "release", "plots", "testing"}


def read_project(folder: Path = ROOT) -> dict[str, Any]:
    """Read the table `project` of a distribution."""
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return project


def beside() -> dict[str, Path]:
    """Return the folders of the distributions beside the core, by name."""
    return {f"kenobot-{path.parent.name}": path.parent for path in sorted(ROOT.glob("packages/*/pyproject.toml"))}


def extras() -> dict[str, list[Requirement]]:
    """Return, by name, the extras that an owner may ask for, and which libraries each of them needs."""
    return {
        name: list(_libraries(lines))
        for name, lines in read_project()["optional-dependencies"].items()
        if name not in FOR_DEVELOPERS
    }


def _libraries(lines: Iterable[str]) -> Iterator[Requirement]:
    """Yield the libraries among requirements, and those that distributions of ours among them need."""
    for requirement in map(Requirement, lines):
        if folder := beside().get(requirement.name):
            project = read_project(folder)
            own = project.get("optional-dependencies", {})
            yield from _libraries(
                (*project["dependencies"], *(line for each in requirement.extras for line in own[each]))
            )
        elif requirement.name == "kenobot":
            own = read_project()["optional-dependencies"]
            yield from _libraries(line for extra in sorted(requirement.extras) for line in own[extra])
        else:
            yield requirement


def declared() -> list[Requirement]:
    """List what the installed program needs, with all of its extras."""
    needed = [Requirement(line) for line in read_project()["dependencies"]]
    return list(dict.fromkeys([*needed, *(each for extra in extras().values() for each in extra)]))


def lowest(requirement: Requirement) -> str:
    """Return the version that a requirement begins with. Raises ValueError when it has no lower bound."""
    bounds = [each.version for each in requirement.specifier if each.operator in (">=", "==")]
    if len(bounds) != 1:
        raise ValueError(f"{requirement.name} declares no lowest version")
    return bounds[0]


if __name__ == "__main__":
    if "--lock" in sys.argv:
        ours = [f"--no-emit-package {name}" for name in ("kenobot", *beside())]
        print(*(f"--extra {name}" for name in extras()), *ours)
    else:
        print("\n".join(f"{each.name}=={lowest(each)}" for each in declared()))
