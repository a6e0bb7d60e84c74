"""Print the lowest versions that pyproject.toml declares, as pip's constraints: `python -m tests.packaging.lowest`.

`make lowest` installs with them and runs the tests, so that a lower bound that no longer holds is noticed.
"""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def declared() -> list[Requirement]:
    """List what the installed program needs, with the embedders."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    return [Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"]["embedded"])]


def lowest(requirement: Requirement) -> str:
    """Return the version that a requirement begins with. Raises ValueError when it has no lower bound."""
    bounds = [each.version for each in requirement.specifier if each.operator in (">=", "==")]
    if len(bounds) != 1:
        raise ValueError(f"{requirement.name} declares no lowest version")
    return bounds[0]


if __name__ == "__main__":
    print("\n".join(f"{each.name}=={lowest(each)}" for each in declared()))
