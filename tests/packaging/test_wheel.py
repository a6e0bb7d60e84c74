"""What is installed: the wheel, built from the sdist the way an installer does it, holds the tree and nothing else."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.packaging.lowest import beside, read_project

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
LINKS = ("channels", "postprocessors", "cognitive", "config")
OURS = ("kenobot", "packages", *LINKS, "tests", "bench", "docs", "docker")
NEEDED = 77
NO_PACKAGES = ("Could not find a version that satisfies", "No matching distribution found", "Connection to", "resolve")


@dataclass(frozen=True)
class Built:
    """The sdist, the wheel that was made of it, and the copy of the tree that both come from."""

    sdist: Path
    wheel: Path
    tree: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both, built from a copy, because building writes into the tree."""
    copy = tmp_path_factory.mktemp("build") / "tree"
    copy.mkdir()
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, copy)
        elif path.name in OURS:
            waste = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, copy / path.name, symlinks=True, ignore=waste)
    out = copy.parent / "dist"
    _build(copy, out)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Built(sdist, wheel, copy)


def _build(tree: Path, out: Path, *options: str) -> None:
    command = [sys.executable, "-m", "build", "--outdir", str(out), *options, *_isolation(), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode and any(sign in said for sign in NO_PACKAGES):
        pytest.skip(f"building needs setuptools {NEEDED}, which is neither installed nor to be had without a network")
    assert done.returncode == 0, said[-3000:]


def _needs(wheel: Path, extra: str) -> list[str]:
    """List what a wheel needs for an extra."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    found = (line.removeprefix("Requires-Dist: ").partition(";") for line in lines if line.startswith("Requires-Dist"))
    return [needed.strip() for needed, _, marker in found if f'extra == "{extra}"' in marker]


def _isolation() -> list[str]:
    """With a setuptools that is new enough here, no other one has to be fetched."""
    try:
        installed = int(version("setuptools").partition(".")[0])
    except PackageNotFoundError:
        return []
    return ["--no-isolation"] if installed >= NEEDED else []


def expected(tree: Path) -> set[str]:
    """List the files that the wheel should hold, by path in it: all of the package."""
    return {path.relative_to(tree).as_posix() for path in (tree / "kenobot").rglob("*") if path.is_file()}


def test_the_wheel_holds_the_tree(built: Built) -> None:
    """Every module and every file of data is in it; tests and benches are not."""
    with zipfile.ZipFile(built.wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        held = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
        assert all(archive.getinfo(name).file_size for name in held if name.endswith((".sql", ".toml", ".md")))
    wanted = expected(built.tree)
    assert len(names) == len(set(names))
    assert wanted >= {"kenobot/config/identity/core.md", "kenobot/identity/rules.py", "kenobot/py.typed"}
    assert held == wanted


def test_the_wheel_brings_the_command_and_the_plugins(built: Built) -> None:
    """The entry points that the house finds its plugins by are the ones of pyproject.toml."""
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        text = archive.read(name).decode()
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())
    for line in ("[console_scripts]", "[kenobot.channels]", "[kenobot.providers]", "[kenobot.postprocessors]"):
        assert line in text.splitlines()
    assert "kenobot = kenobot.cli:main" in text


def test_the_sdist_holds_each_module_once(built: Built) -> None:
    """The links at the top of the tree, which are for the eye, add no second copy."""
    with tarfile.open(built.sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert set(names) >= expected(built.tree)
    assert not [name for name in names if name.startswith(("bench/", *(f"{link}/" for link in LINKS)))]


def test_an_extra_names_a_distribution_of_the_index_or_of_the_tree(built: Built, tmp_path: Path) -> None:
    """A wheel that is released names its version; one that `pip install .` builds names the folder beside it."""
    released = _needs(built.wheel, "irc")
    assert released == [f"kenobot-irc=={built.wheel.name.split('-')[1]}"]
    _build(built.tree, tmp_path, "--wheel")
    (wheel,) = tmp_path.glob("*.whl")
    assert _needs(wheel, "irc") == [f"kenobot-irc @ {(built.tree / 'packages/irc').as_uri()}"]


@pytest.mark.parametrize("folder", beside().values(), ids=lambda folder: folder.name)
def test_a_wheel_beside_the_core_holds_its_folder(built: Built, tmp_path: Path, folder: Path) -> None:
    """Every module of it and every file of data, and its entry points."""
    folder = built.tree / folder.relative_to(ROOT)
    declared = read_project(folder)["entry-points"]
    _build(folder, tmp_path, "--wheel")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        lines = archive.read(name).decode().splitlines()
    assert {f"{name} = {value}" for points in declared.values() for name, value in points.items()} <= set(lines)
    assert held == {path.relative_to(folder).as_posix() for path in folder.glob("kenobot_*/**/*") if _is_shipped(path)}


def _is_shipped(path: Path) -> bool:
    return path.is_file() and ".egg-info" not in path.as_posix()


def test_the_links_at_the_top_lead_into_the_package() -> None:
    """The owner's card names these folders; the modules are in the package."""
    assert {name: (ROOT / name).readlink().as_posix() for name in LINKS} == {name: f"kenobot/{name}" for name in LINKS}
