"""Wheels of this tree as other versions: built the way a release is, from a copy with a few lines changed."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_ROOMS = ("kenobot", "channels", "postprocessors", "cognitive", "config")
_FILES = ("pyproject.toml", "README.md", "LICENSE")
_WASTE = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")

Change = Callable[[Path], None]


def build_wheel(target: Path, version: str, change: Change = lambda tree: None) -> Path:
    """Build the tree as `version` into the folder `target`, with the distributions that update and serve beside it.

    change: edits the copy of the tree before.
    """
    tree = target / f"tree-{version}"
    beside = {name: target / f"{name}-{version}" for name in ("deploy", "http")}
    tree.mkdir(parents=True)
    for room in _ROOMS:
        shutil.copytree(ROOT / room, tree / room, symlinks=True, ignore=_WASTE)
    for name in _FILES:
        shutil.copy(ROOT / name, tree)
    for name, folder in beside.items():
        shutil.copytree(ROOT / "packages" / name, folder, ignore=_WASTE)
    for folder in (tree, *beside.values()):
        replace(folder / "pyproject.toml", r'(?m)^version = ".*"$', f'version = "{version}"')
        needs = (folder / "pyproject.toml").read_text("utf-8")
        needs = re.sub(r'"(kenobot[a-z-]*(?:\[[\w,-]+\])?)==[\d.]+"', rf'"\1=={version}"', needs)
        (folder / "pyproject.toml").write_text(needs, "utf-8")
    replace(tree / "kenobot" / "__init__.py", r'__version__ = ".*"', f'__version__ = "{version}"')
    change(tree)
    for folder in (*beside.values(), tree):
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        shutil.rmtree(folder)
    (wheel,) = target.glob(f"kenobot-{version}-*.whl")
    return wheel


def replace(path: Path, pattern: str, text: str) -> None:
    """Replace the one match of a pattern in a file."""
    changed, count = re.subn(pattern, lambda _: text, path.read_text("utf-8"))
    assert count == 1, (path, pattern, count)
    path.write_text(changed, "utf-8")


def add_migration(tree: Path) -> None:
    """Have the version bring a column and a table of its own."""
    folder = tree / "kenobot" / "storage" / "migrations"
    number = max(int(path.name[:4]) for path in folder.glob("*.sql")) + 1
    sql = "ALTER TABLE inbox ADD COLUMN later TEXT NOT NULL DEFAULT '';\nCREATE TABLE later (id INTEGER PRIMARY KEY);\n"
    folder.joinpath(f"{number:04d}_later.sql").write_text(sql)


def forget_everything(tree: Path) -> None:
    """Have the version recall nothing, so that it fails its canary."""
    replace(
        tree / "kenobot" / "providers" / "offline" / "__init__.py", r"(?s)\Z", "\n\nraise RuntimeError('no voice')\n"
    )


def never_get_well(tree: Path) -> None:
    """Have the version give no verdict on its trial, after a migration of its own."""
    add_migration(tree)
    replace(tree / "kenobot" / "app" / "trial.py", r"_STEADY_SECONDS = .*", "_STEADY_SECONDS = 1e9")


def break_down(tree: Path) -> None:
    """Have the version fail when it serves, after a migration of its own."""
    add_migration(tree)
    replace(tree / "kenobot" / "app" / "trial.py", r"(?m)^_LOOK_SECONDS = .*$", "raise RuntimeError('broken')")
