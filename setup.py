"""Have an installation from the source tree take the distributions in `packages/` from there, not from an index.

The rest of the build is in pyproject.toml. A source archive has no `packages/`: the extras of a wheel that is built of
one name released distributions.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.egg_info import egg_info

PACKAGES = Path(__file__).resolve().parent / "packages"


def locate(requirement: str) -> str:
    """Return a requirement of an extra; by the path of its folder where that is in the tree."""
    name, pinned, _ = requirement.partition("==")  # a path is not pinned: it was located before
    folder = PACKAGES / name.partition("[")[0].removeprefix("kenobot-")
    is_here = bool(pinned) and name.startswith("kenobot-") and folder.is_dir()
    return f"{name} @ {folder.as_uri()}" if is_here else requirement


class EggInfo(egg_info):
    """Write the metadata of what is built."""

    def run(self) -> None:
        built = self.distribution
        if "sdist" not in built.commands:
            extras = {name: [locate(line) for line in lines] for name, lines in built.extras_require.items()}
            built.extras_require = built.metadata.extras_require = extras
        super().run()


setup(cmdclass={"egg_info": EggInfo})
