"""What is handed out, and an environment with all of it: the wheel and the source archive, and what is locked."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from release.page import ROOT

DIST = ROOT / "dist"
LOCKED = ROOT / ".venv-release"


def version() -> str:
    """Return the version that pyproject.toml declares."""
    declared: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return declared


def run(*command: str | Path) -> str:
    """Run a program in the project's root and return what it printed. Raises CalledProcessError, with both outputs."""
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build wheel and source archive into dist/, of the commit alone; returns both."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    tree = DIST / "tree"
    run("git", "worktree", "add", "--detach", "--force", tree, "HEAD")
    try:
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, tree)
    finally:
        run("git", "worktree", "remove", "--force", tree)
    return next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))


def wheel() -> Path:
    """Return the wheel in dist/, which is built when there is none."""
    return next(DIST.glob("*.whl"), None) or build()[0]


def locked_environment() -> Path:
    """Make an environment with the wheel and all that is locked, each archive by its hash; returns its Python."""
    python = LOCKED / "bin" / "python"
    run(sys.executable, "-m", "venv", "--clear", LOCKED)
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--require-hashes", "--requirement", "docker/build.lock")
    run(*pip, "install", "--quiet", "--require-hashes", "--no-build-isolation", "--requirement", "requirements.lock")
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel())
    run(*pip, "uninstall", "--quiet", "--yes", "setuptools", "pip")
    return python
