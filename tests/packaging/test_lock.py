"""The lock files hold what pyproject.toml declares, whole and with hashes, and name no place to get it from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.lowest import declared, extras, lowest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "docker/build.lock")
MACHINES = [
    {
        "python_full_version": f"{python}.1",
        "python_version": python,
        "sys_platform": system,
        "platform_machine": machine,
    }
    for python in ("3.11", "3.12", "3.13", "3.14")
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"))
]
_HASHED = re.compile(r"^([^#\s].*?) \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", re.MULTILINE)


def lock(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def pins(name: str) -> list[Requirement]:
    """List each locked package whose archives have hashes; one may be there twice, for different Pythons."""
    return [Requirement(found[1]) for found in _HASHED.finditer(lock(name))]


def installed(machine: dict[str, str]) -> dict[str, str]:
    """Return, by name, the version that pip takes from the lock on a machine."""
    taken: dict[str, str] = {}
    for pin in pins("requirements.lock"):
        if pin.marker is None or pin.marker.evaluate(machine):
            assert pin.name not in taken, f"{pin.name} is locked twice for {machine}"
            (bound,) = pin.specifier
            taken[canonicalize_name(pin.name)] = bound.version
    return taken


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_file_has_hashes_and_no_address(name: str) -> None:
    """So that nothing else can be put in its place, whatever index it comes from."""
    listed = [line for line in lock(name).splitlines() if line and line[0].isalnum()]
    assert len(listed) == len(pins(name)) > 0
    assert not re.search(r"https?://|file:/| @ |--index|--extra-index|--find-links|--trusted", lock(name))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: "-".join(list(each.values())[1:]))
def test_the_lock_file_holds_what_every_extra_needs(machine: dict[str, str]) -> None:
    """On every Python and machine, a version within the declared range. When this fails, `make lock` writes it anew."""
    locked = installed(machine)
    for each in declared():
        if each.marker is None or each.marker.evaluate(machine):
            assert each.specifier.contains(locked[canonicalize_name(each.name)]), each


def test_the_wheel_is_built_with_what_is_locked() -> None:
    """The build system that pyproject.toml asks for is the one that Docker installs first."""
    (needed,) = tomllib.loads(lock("pyproject.toml"))["build-system"]["requires"]
    (pin,) = pins("docker/build.lock")
    (bound,) = pin.specifier
    assert (pin.name, Requirement(needed).specifier.contains(bound.version)) == ("setuptools", True)


def test_every_dependency_has_a_lowest_version_and_an_end() -> None:
    """The next major of an SDK is tried before it is let in; each lower bound is what `make lowest` installs."""
    for each in declared():
        assert lowest(each)
        assert {"<", "=="} & {bound.operator for bound in each.specifier}, each


def test_docker_installs_what_is_locked_and_nothing_else() -> None:
    """With hashes; our own wheel is built, and the environment made, without fetching anything more."""
    steps = re.sub(r"\\\n\s*", "", lock("docker/Dockerfile"))
    commands = [
        command for line in steps.splitlines() for command in line.split("&&") if "pip" in command.split("#")[0]
    ]
    fetching = [each for each in commands if re.search(r"\bpip .*(install|wheel|download)", each)]
    assert len(fetching) > 2
    assert all("--require-hashes" in each or "--no-index" in each for each in fetching)


def test_docker_s_extras_exist() -> None:
    """Those that an image has unless it is built with others."""
    (named,) = re.findall(r"^ARG EXTRAS=(\S+)$", lock("docker/Dockerfile"), re.MULTILINE)
    assert set(named.split(",")) <= set(extras())
