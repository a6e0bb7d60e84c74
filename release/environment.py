"""What is handed out, and an environment with all of it: the wheel and the source archive, and what is locked."""

import os
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
    """Run a program in the project's root and return what it printed. Raises CalledProcessError, with both outputs.

    Without PYTHONPATH: what that names would be taken for a part of an environment.
    """
    words = [str(part) for part in command]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=ROOT, env=own, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build wheels and source archives into dist/, of the commit alone; returns the core's."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    tree = DIST / "tree"
    run("git", "worktree", "add", "--detach", "--force", tree, "HEAD")
    try:
        for folder in (tree, *sorted(path.parent for path in tree.glob("packages/*/pyproject.toml"))):
            run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, folder)
    finally:
        run("git", "worktree", "remove", "--force", tree)
    return next(DIST.glob("kenobot-*.whl")), next(DIST.glob("kenobot-*.tar.gz"))


def wheel() -> Path:
    """Return the core's wheel in dist/, which is built when there is none; those of its extras are beside it."""
    return next(DIST.glob("kenobot-*.whl"), None) or build()[0]


def locked_environment() -> Path:
    """Make an environment with the wheel and all that is locked, each archive by its hash; returns its Python.

    By uv, which takes a tenth of pip's time for these hundreds of megabytes.
    """
    uv, python = (sys.executable, "-m", "uv"), LOCKED / "bin" / "python"
    run(*uv, "venv", "--quiet", "--clear", "--python", sys.executable, LOCKED)
    install = (*uv, "pip", "install", "--quiet", "--python", python)
    run(*install, "--require-hashes", "--requirement", "docker/build.lock")
    run(*install, "--require-hashes", "--no-build-isolation", "--requirement", "requirements.lock")
    run(*install, "--no-index", "--no-deps", *wheel().parent.glob("*.whl"))
    run(*uv, "pip", "uninstall", "--quiet", "--python", python, "setuptools")
    return python
