"""The tutorials keep their word: what a page shows passes its tests, is short, and ends with a bot that answers.

So does each package that `kenobot plugin new` writes.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from kenobot_testing.new_command import package_files
from tests.integration.channels.ngircd import ngircd, person

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PAGES = {page.stem: page.read_text("utf-8") for page in sorted((ROOT / "docs" / "tutorials").glob("*.md"))}
_BLOCK = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MOST_LINES, _WIDTH = 50, 120


def files(page: str) -> dict[str, str]:
    """The files of a page, by their paths."""
    return dict(_BLOCK.findall(PAGES[page]))


def write(page: str, folder: Path) -> Path:
    """Do what a page says: write its files, all but kenobot.toml."""
    for path, text in files(page).items():
        if path != "kenobot.toml":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    return folder


def write_package(folder: Path, kind: str, name: str, changes: Mapping[str, str] | None = None) -> Path:
    """Write what `kenobot plugin new` writes, with changes to its module."""
    for path, text in package_files(kind, name).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        changed = text
        if path.suffix == ".py" and not path.parent.name:
            for before, after in (changes or {}).items():
                assert before in text
                changed = changed.replace(before, after)
        target.write_text(changed, "utf-8")
    return folder


def module(page: str) -> tuple[str, str]:
    """The name and the text of a page's module."""
    ((path, text),) = ((path, text) for path, text in files(page).items() if path.endswith(".py") and "/" not in path)
    return path.removesuffix(".py"), text


def run(*command: str, **environ: str) -> str:
    """Run a program that succeeds; what it printed."""
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env={**os.environ, **environ}, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_a_page_for_each_kind() -> None:
    """Each with a module of less than fifty lines of code, of a width that a page has."""
    assert set(PAGES) == {"channel", "postprocessor", "provider", "tool", "observer"}
    for page in PAGES:
        lines = [line for line in module(page)[1].splitlines() if line.strip()]
        assert len(lines) < _MOST_LINES, f"{page}: {len(lines)} lines"
        assert max(map(len, lines)) <= _WIDTH


def test_the_tests_of_every_page_and_of_every_new_package_pass(tmp_path: Path) -> None:
    """Each plugin, as it is written, keeps to its contract, and a bot with it answers. One run: each start costs."""
    roots = [write(page, tmp_path / page) for page in PAGES]
    roots += [write_package(tmp_path / f"new-{kind}", kind, f"my{kind}") for kind in PAGES]
    path = os.pathsep.join([*map(str, roots), *filter(None, sys.path)])
    told = run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull),
        *("--import-mode", "importlib", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"),
        *("-p", "pytest_asyncio.plugin"),
        *(str(root / "tests") for root in roots),
        PYTHONPATH=path,
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )
    assert int(re.findall(r"(\d+) passed", told)[-1]) > 120


@pytest.mark.parametrize(("page", "answer"), [("provider", "gninrom doog"), ("observer", "")])
def test_a_bot_answers_at_the_end_of_a_page(tmp_path: Path, page: str, answer: str) -> None:
    """With the file moved into the home's folder of plugins, and the settings as the page has them."""
    name, text = module(page)
    place = tmp_path / "plugins" / f"{name.removeprefix('kenobot_')}.py"
    place.parent.mkdir(mode=0o700)
    place.write_text(text, "utf-8")
    place.chmod(0o600)
    (tmp_path / "kenobot.toml").write_text(files(page)["kenobot.toml"], "utf-8")
    said = run(sys.executable, "-m", "kenobot", "--home", str(tmp_path), "chat", "-m", "good morning")
    assert answer in said
    assert answer or (tmp_path / "answers").read_text("utf-8") == "1"


async def test_a_package_made_by_the_page_alone_installs_and_talks_on_a_server(tmp_path: Path) -> None:
    """A channel: into a fresh environment, beside KenoBot; a person on ngircd writes to it and is answered."""
    project = write("channel", tmp_path / "kenobot-parlor")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    python = fresh_environment(tmp_path / "fresh")
    offline = ("--no-index", "--no-build-isolation", "--no-deps", "--disable-pip-version-check")
    run(python, "-m", "pip", "install", "-q", *offline, str(project))
    with ngircd(tmp_path) as port:
        settings = files("channel")["kenobot.toml"] + f"port = {port}\n[memory]\nembedder = 'none'\n"
        (home / "kenobot.toml").write_text(settings, "utf-8")
        serve = [python, "-m", "kenobot", "--home", str(home), "run"]
        bot = subprocess.Popen(serve, env=os.environ | {"PYTHONPATH": ""})
        try:
            async with person(port, "ana") as ana:
                await ana.until_there("keno")
                ana.write("PRIVMSG keno :hello")
                assert "Hello" in await ana.until("PRIVMSG ana :")
        finally:
            bot.terminate()
            bot.wait(30)


def fresh_environment(folder: Path) -> str:
    """Make an environment in which KenoBot and what it needs can be imported, and nothing else is installed."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "house.pth").write_text("\n".join([str(ROOT), *(path for path in sys.path if path)]), "utf-8")
    return str(folder / "bin" / "python")
