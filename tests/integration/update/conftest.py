"""Wheels, an environment with the oldest of them, and a home that it has talked in."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.update.wheels import break_down, build_wheel, forget_everything, never_get_well

from .bot import Product

_OLD, _GOOD, _FORGETFUL, _MUTE, _BROKEN = "0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0"


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The libraries of this environment without KenoBot, which the environments of the tests share."""
    folder = tmp_path_factory.mktemp("libraries")
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "kenobot" not in path.name.lower() and not path.name.endswith(".pth") and path.name != "__pycache__":
            folder.joinpath(path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A version's wheel, built when it is first asked for."""
    folder = tmp_path_factory.mktemp("wheels")
    changes = {_FORGETFUL: forget_everything, _MUTE: never_get_well, _BROKEN: break_down}

    def wheel(version: str) -> Path:
        found = list(folder.glob(f"kenobot-{version}-*.whl"))
        if found:
            return found[0]
        from tests.integration.update.wheels import add_migration

        return build_wheel(
            folder, version, changes.get(version, add_migration if version != _OLD else lambda tree: None)
        )

    return wheel


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, wheels: Callable[[str], Path], libraries: Path) -> Path:
    """An environment in which the oldest version is installed, as a person did."""
    folder = tmp_path_factory.mktemp("base") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = str(folder / "bin" / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(
        [*install, "--no-index", *map(str, wheels(_OLD).parent.glob(f"*-{_OLD}-*.whl"))], check=True, env=own
    )
    return folder


@pytest.fixture
def product(base: Path, libraries: Path, tmp_path: Path) -> Iterator[Product]:
    """KenoBot as it is installed, in a home that has talked."""
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("KENOBOT_", "PYTHON"))},
        "PYTHONPATH": str(libraries),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "KENOBOT_MEMORY__EMBEDDER": "none",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "LC_ALL": "C.UTF-8",
    }
    made = Product(base / "bin" / "kenobot", tmp_path / "home", environ)
    assert made.run("chat", "-m", "Remember that my bike is green.").returncode == 0
    yield made
    made.stop()
