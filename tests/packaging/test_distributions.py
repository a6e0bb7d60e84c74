"""The distributions beside the core: of one version with it, installed by its extras, and known to every tool."""

import tomllib
from typing import Any

from packaging.requirements import Requirement

from kenobot import __version__
from kenobot.cli import command_tables
from kenobot.cli.command_tables import list_commands, read_command
from kenobot.core.plugins import APART, KINDS
from tests.packaging.lowest import ROOT, beside, read_project
from tests.sources import PACKAGES

TOOLS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
IMPORTED = {path.name for path in PACKAGES}


def _ours(lines: list[str]) -> list[Requirement]:
    return [each for each in map(Requirement, lines) if each.name == "kenobot" or each.name in beside()]


def test_all_distributions_have_the_version_of_the_core() -> None:
    """And each needs the core, and what else it needs of ours, of exactly that version."""
    assert read_project()["version"] == __version__
    for name, folder in beside().items():
        project = read_project(folder)
        assert (project["name"], project["version"]) == (name, __version__)
        needed = {each.name: str(each.specifier) for each in _ours(project["dependencies"])}
        assert "kenobot" in needed
        assert set(needed.values()) == {f"=={__version__}"}


def test_extras_install_each_distribution() -> None:
    """The one of its name, or one for each of its own extras, with those that it needs: an index may lack them."""
    extras = read_project()["optional-dependencies"]
    for name, folder in beside().items():
        project = read_project(folder)
        if own := project.get("optional-dependencies"):
            assert all(extras[each] == [f"{name}[{each}]=={__version__}"] for each in own)
        else:
            listed = {str(each) for each in _ours(extras[name.removeprefix("kenobot-")])}
            needed = {str(each) for each in _ours(project["dependencies"]) if each.name != "kenobot"}
            assert listed >= {f"{name}=={__version__}", *needed}
            assert all(each.endswith(f"=={__version__}") for each in listed)


def test_a_missing_plugin_s_extra_is_known() -> None:
    """The core knows what ships apart, so that it can name the extra, which brings it, and take it for ours."""
    extras = read_project()["optional-dependencies"]
    shipped = {
        (group, name): distribution
        for distribution, folder in beside().items()
        for group, points in read_project(folder)["entry-points"].items()
        for name in points
        if group in KINDS
    }
    known = {(group, name): extra for group, names in APART.items() for name, extra in names.items()}
    assert {key: Requirement(extras[extra][0]).name for key, extra in known.items()} == shipped


def test_a_missing_command_s_extra_is_known() -> None:
    """The core's list of commands names the distribution that brings each, which is the one that does."""
    listed = tomllib.loads((ROOT / "kenobot" / "cli" / "commands.toml").read_text("utf-8"))
    brought = {
        (name, package.removeprefix("kenobot_"))
        for folder in beside().values()
        for name, package in read_project(folder)["entry-points"].get(command_tables.GROUP, {}).items()
    }
    assert brought == {
        (name, command["extra"]) for name, command in listed.items() if {"section", "extra"} <= command.keys()
    }
    assert all("extra" not in read_command(name)[name] for name in list_commands())


def test_every_tool_sees_the_packages_beside_the_core() -> None:
    """The type checker, the tests, the import rules and uv list them one by one."""
    folders = {folder.relative_to(ROOT).as_posix() for folder in beside().values()}
    assert set(TOOLS["pytest"]["ini_options"]["pythonpath"]) == folders
    assert set(TOOLS["mypy"]["mypy_path"].split(":")) == folders
    assert set(TOOLS["mypy"]["packages"]) == {*IMPORTED, "tests", "bench", "release"}
    assert set(TOOLS["importlinter"]["root_packages"]) == IMPORTED
    assert set(TOOLS["uv"]["sources"]) == {"kenobot", *beside()}


def test_each_distribution_lists_its_folders() -> None:
    """A package that is not listed would be left out of the wheel."""
    for folder in beside().values():
        found = {path.parent.relative_to(folder).as_posix().replace("/", ".") for path in folder.rglob("__init__.py")}
        setuptools = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
        listed = {each for each in found if not each.startswith("build")}
        assert set(setuptools["packages"]) == listed
