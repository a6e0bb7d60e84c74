"""The software bill of materials, and its licences: `python -m release.sbom` writes dist/kenobot-VERSION.cdx.json.

CycloneDX, made by cyclonedx-py from an environment that holds the wheel and all that is locked. Then each part is
listed with its licence; exit code 1 when one has none, or one that MIT-licensed work may not be handed out with.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from release.environment import DIST, locked_environment, run, version

_FORBIDDEN = re.compile(
    r"(?<!L)(?:A?GPL|General Public License|SSPL|BUSL|Commons Clause|Proprietary|NonCommercial)", re.I
)
_LESSER = re.compile(r"LGPL|Lesser General Public", re.I)

JUDGED: Mapping[str, str] = {
    "protobuf": "BSD-3-Clause, by its LICENSE file",
    "pyrage": "MIT, by its LICENSE file",
}
"""Parts whose licence was read by a person, and what they found."""


class _License(BaseModel):
    id: str = ""
    name: str = ""


class _Choice(BaseModel):
    expression: str = ""
    license: _License = _License()

    @property
    def text(self) -> str:
        return self.expression or self.license.id or self.license.name.removeprefix("License :: OSI Approved :: ")


class Component(BaseModel):
    """A part of the bill. licenses: every form in which its authors state one."""

    name: str
    version: str = ""
    licenses: list[_Choice] = []

    @property
    def license(self) -> str:
        return "; ".join(dict.fromkeys(choice.text for choice in self.licenses))


class Bill(BaseModel):
    """A bill of materials, of which only its parts are read."""

    model_config = ConfigDict(extra="ignore")

    components: list[Component]


def write_bill() -> Path:
    """Write the bill of a fresh environment; returns the file."""
    python = locked_environment()
    file = DIST / f"kenobot-{version()}.cdx.json"
    maker = (sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", "pyproject.toml")
    run(*maker, "--output-reproducible", "--output-format", "JSON", "--output-file", file, python)
    return file


def objection(part: Component) -> str:
    """Return why a part may not come along; "" when it may."""
    if part.name.lower() in JUDGED or part.name.startswith("kenobot"):
        return ""
    if not part.license:
        return "states no licence: read it, and write what it is into JUDGED"
    if _FORBIDDEN.search(part.license) and not _LESSER.search(part.license) and " OR " not in part.license:
        return "its licence would bind KenoBot's"
    return ""


def main() -> int:
    try:
        file = write_bill()
    except subprocess.CalledProcessError as error:
        print(f"{error}\n{error.stderr}", file=sys.stderr)
        return 1
    bill = Bill.model_validate(json.loads(file.read_text("utf-8")))
    bad = 0
    for part in sorted(bill.components, key=lambda each: each.name.lower()):
        against = objection(part)
        bad += bool(against)
        license_ = JUDGED.get(part.name.lower()) or part.license or "no licence"
        print(f"{part.name} {part.version}: {license_}{f' — {against}' if against else ''}")
    print(f"\n{len(bill.components)} parts in {file.relative_to(file.parents[1])}.")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
