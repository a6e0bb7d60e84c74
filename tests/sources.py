"""Where the modules of the product are: the core, and the distributions beside it."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "kenobot"
PACKAGES = (CORE, *sorted(path.parent for path in ROOT.glob("packages/*/kenobot_*/__init__.py")))
"""The folder of each importable package."""
COMMANDS = (CORE / "cli", *(path for path in PACKAGES if (path / "commands.toml").is_file()))
"""The folder of each package that brings commands, with their tables."""


def find_modules() -> Iterator[Path]:
    """Yield the file of each module, in order."""
    for package in PACKAGES:
        yield from sorted(package.rglob("*.py"))


def place(path: Path) -> str:
    """Return the path of a module from the folder that its package is in, such as `kenobot/core/bus.py`."""
    package = next(each for each in PACKAGES if path.is_relative_to(each))
    return path.relative_to(package.parent).as_posix()


def module_name(path: Path) -> str:
    """Return the name by which a module is imported."""
    return place(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def name_called(function: ast.expr) -> str:
    """Return the last part of the name of a function or class, as it is written."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ast.unparse(function).rpartition(".")[2]
