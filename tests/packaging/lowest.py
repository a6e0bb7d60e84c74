"""What pyproject.toml declares: its extras, and the lowest versions as pip's constraints.

`make lowest` installs what `python -m tests.packaging.lowest` prints and runs the tests, so that a lower bound that no
longer holds is noticed. With `--extras` it prints the extras that `make lock` locks.
"""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
FOR_DEVELOPERS = {"dev", "lock", "release", "plots"}


def extras() -> dict[str, list[Requirement]]:
    """Return, by name, the extras that an owner may ask for, and what each of them needs."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    return {
        name: [Requirement(line) for line in lines]
        for name, lines in project["optional-dependencies"].items()
        if name not in FOR_DEVELOPERS
    }


def declared() -> list[Requirement]:
    """List what the installed program needs, with all of its extras."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    needed = [Requirement(line) for line in project["dependencies"]]
    return list(dict.fromkeys([*needed, *(each for extra in extras().values() for each in extra)]))


def lowest(requirement: Requirement) -> str:
    """Return the version that a requirement begins with. Raises ValueError when it has no lower bound."""
    bounds = [each.version for each in requirement.specifier if each.operator in (">=", "==")]
    if len(bounds) != 1:
        raise ValueError(f"{requirement.name} declares no lowest version")
    return bounds[0]


if __name__ == "__main__":
    if "--extras" in sys.argv:
        print(" ".join(f"--extra {name}" for name in extras()))
    else:
        print("\n".join(f"{each.name}=={lowest(each)}" for each in declared()))
