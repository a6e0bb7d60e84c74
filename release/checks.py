"""What must hold before a release, each with the command that shows it and what to do when it does not."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from release.environment import DIST, build, run, version
from release.page import ROOT
from release.say import NOT_HERE

State = Literal["holds", "fails", "not run"]
_HOURS = 3 * 3600


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a check went. said: the end of what was printed, or why it was not run."""

    state: State
    said: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A promise. advice: what to do when it does not hold. needs: programs without which it is not run."""

    name: str
    promise: str
    advice: str
    probe: Callable[[], Outcome]
    needs: tuple[str, ...] = ()

    def run(self) -> tuple[Outcome, float]:
        """Run the check, and return how it went and the seconds that it took."""
        begun = time.monotonic()
        missing = [program for program in self.needs if shutil.which(program) is None]
        outcome = Outcome("not run", f"{', '.join(missing)} is not installed here") if missing else self.probe()
        return outcome, time.monotonic() - begun


def _by(*command: str, not_here: int | None = None) -> Callable[[], Outcome]:
    """Make a probe that holds when a command ends well. not_here: the exit code of one that was not run."""

    def probe() -> Outcome:
        try:
            done = subprocess.run(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_HOURS, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome("fails", f"did not end within {_HOURS // 3600} hours")
        if not done.returncode:
            return Outcome("holds")
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        return Outcome("not run" if done.returncode == not_here else "fails", said)

    return probe


def _python(*arguments: str) -> Callable[[], Outcome]:
    return _by(sys.executable, *arguments)


def _trial(module: str) -> Callable[[], Outcome]:
    """Make a probe of a trial, which may end by saying that this machine has not what it needs."""
    return _by(sys.executable, "-m", module, not_here=NOT_HERE)


def _tests(*paths: str) -> Callable[[], Outcome]:
    return _python("-m", "pytest", *paths)


def _version() -> Outcome:
    """The newest heading of the changelog is this version, with a day; the tag is still free."""
    heading = next(iter(re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)), "")
    if not re.fullmatch(rf"{re.escape(version())} — \d{{4}}-\d\d-\d\d", heading):
        return Outcome("fails", f"pyproject.toml says {version()}, CHANGELOG.md begins with “{heading}”")
    if run("git", "tag", "--list", f"v{version()}").strip():
        return Outcome("fails", f"v{version()} is tagged already")
    return Outcome("holds")


def _tree() -> Outcome:
    changed = run("git", "status", "--porcelain").strip()
    return Outcome("fails", changed[:600]) if changed else Outcome("holds")


def _archives() -> Outcome:
    try:
        build()
    except subprocess.CalledProcessError as error:
        return Outcome("fails", str(error.stderr)[-1500:])
    return Outcome("holds", ", ".join(sorted(path.name for path in DIST.iterdir() if path.is_file())))


CHECKS: Sequence[Check] = (
    Check("version", "the changelog tells of this version, with its day",
          "set it in pyproject.toml, and write it with today's date in CHANGELOG.md's first heading", _version),
    Check("tree", "everything is committed", "commit it, or put it away", _tree),
    Check("lock", "the lock holds what pyproject.toml declares", "run `make lock`, then the tests",
          _tests("tests/packaging/test_lock.py")),
    Check("check", "format, lint, types and import rules are clean", "run `make check`",
          _by("make", "check"), ("make",)),
    Check("test", "all tests pass", "run `make test test-long`", _by("make", "test", "test-long"), ("make",)),
    Check("lowest", "the lowest declared versions still do",
          "raise the bound of the package that fails", _by("make", "lowest"), ("make",)),
    Check("homes", "homes of every earlier schema open", "mend the migration that fails: it runs on people's memory",
          _tests("tests/integration/test_old_home.py", "tests/unit/storage")),
    Check("documents", "what the documents show still runs", "mend the page that fails", _tests("tests/docs")),
    Check("crash", "kills, power cuts and damage lose nothing", "run `make crash`", _by("make", "crash"), ("make",)),
    Check("archives", "wheel and source archive are built from the commit", "read the message", _archives),
    Check("contents", "they hold the tree and nothing else", "see [tool.setuptools.package-data]",
          _tests("tests/packaging/test_wheel.py", "tests/packaging/test_units.py")),
    Check("install", "pip, pipx and uv install the wheel; it answers and finds by meaning",
          "run `python -m release.install`", _python("-m", "release.install")),
    Check("machines", "every native part has a wheel for each Python and machine that is promised",
          "run `python -m release.machines`; pin the last version that had them, with the reason",
          _python("-m", "release.machines")),
    Check("bill", "the bill of materials is written, and every licence in it may come along",
          "run `python -m release.sbom`", _python("-m", "release.sbom")),
    Check("debian", "a fresh Debian follows the getting-started page to a service that answers",
          "run `python -m release.debian` as root", _trial("release.debian")),
    Check("image", "the image is built, and nothing is lost when a container ends",
          "run `python -m release.containers`", _trial("release.containers")),
)  # fmt: skip
