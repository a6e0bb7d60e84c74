"""docs/plugins.md keeps its word: what it shows is a package that passes the tests it shows, and can be switched on."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "plugins.md"
EXAMPLES = ("folder_channel", "heartbeat")
MODULES = {"birthday": "class Birthday:", "dice": "class Dice:", "pages": "def count_pages"}
TABLE = "[pages]"
"""What the table of a command begins with, which is none of settings."""


def blocks(language: str) -> list[str]:
    """The page's code blocks in one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages, with the page's own in it."""
    site = tmp_path / "site"
    package = site / "my_package"
    package.mkdir(parents=True)
    for name, shown in MODULES.items():
        (package / f"{name}.py").write_text(next(text for text in blocks("python") if shown in text), "utf-8")
    for name in EXAMPLES:
        (package / f"{name}.py").write_text((ROOT / "docs" / "examples" / f"{name}.py").read_text("utf-8"), "utf-8")
    (package / "__init__.py").touch()
    (package / "commands.toml").write_text(next(text for text in blocks("toml") if text.startswith(TABLE)), "utf-8")
    project = tomllib.loads(blocks("toml")[0])["project"]
    entry_points = project["entry-points"] | {
        "kenobot.channels": {"folder": "my_package.folder_channel:plugin"},
        "kenobot.tools": {"dice": "my_package.dice:plugin"},
        "kenobot.observers": {"heartbeat": "my_package.heartbeat:plugin"},
        "kenobot.commands": {"pages": "my_package"},
    }
    installed = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", "utf-8")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in entry_points.items()
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    return site


def run(site: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a module of Python, with the packages of `site` installed beside KenoBot."""
    environ = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=environ, cwd=site, timeout=60, check=False
    )


def test_the_tests_of_the_page_pass(site: Path) -> None:
    """The post-processor and the channel pass the suites as the page calls them, and a whole bot uses the first."""
    for number, tests in enumerate(text for text in blocks("python") if "import pytest" in text):
        (site / f"test_{number}.py").write_text(tests, "utf-8")
    done = run(site, "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 25, done.stdout


def test_the_settings_of_the_page_are_taken(site: Path) -> None:
    """The plugins are found by their entry points, and `kenobot config` shows their settings."""
    home = site / "home"
    home.mkdir()
    (home / "kenobot.toml").write_text(
        "\n".join(text for text in blocks("toml")[1:] if not text.startswith(TABLE)), "utf-8"
    )
    done = run(site, "kenobot", "--home", str(home), "config")
    assert (done.returncode, done.stderr) == (0, "")
    for line in ("birthday", "channels.folder.path", "observers.heartbeat.file"):
        assert line in done.stdout


def test_the_command_of_the_page_runs(site: Path) -> None:
    """By its entry point and its table, as a command of KenoBot."""
    done = run(site, "kenobot", "--home", str(site / "home"), "pages", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (0, '{"pages": 0}\n', "")
