"""The lock file holds what pyproject.toml declares, whole and with hashes, and names no place to get it from."""

import re
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.packaging.lowest import declared, lowest

ROOT = Path(__file__).resolve().parents[2]
_PIN = re.compile(
    r"^([A-Za-z0-9._-]+)==([^ ;\\]+)((?:.*\n)(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def lock() -> str:
    return (ROOT / "requirements.lock").read_text("utf-8")


def pins() -> dict[str, Version]:
    """By name, the version of each package whose archives have hashes."""
    return {canonicalize_name(found[1]): Version(found[2]) for found in _PIN.finditer(lock())}


def test_every_package_of_the_lock_file_has_hashes_and_no_address() -> None:
    """So that nothing else can be put in its place, whatever index it comes from."""
    listed = [line for line in lock().splitlines() if line and line[0].isalnum()]
    assert len(listed) == len(pins()) > 20
    assert not re.search(r"https?://|file:/| @ |--index|--extra-index|--find-links|--trusted", lock())


def test_the_lock_file_holds_a_version_within_every_declared_range() -> None:
    """When this fails, `make lock` writes it anew."""
    locked = pins()
    for each in declared():
        assert each.specifier.contains(locked[canonicalize_name(each.name)]), each
    assert "setuptools" in locked  # the wheel is built with it


def test_every_dependency_has_a_lowest_version_and_an_end() -> None:
    """The next major of an SDK is tried before it is let in; each lower bound is what `make lowest` installs."""
    for each in declared():
        assert lowest(each)
        assert {"<", "=="} & {bound.operator for bound in each.specifier}, each


def test_docker_installs_what_is_locked_and_nothing_else() -> None:
    """With hashes; our own wheel is built without fetching anything more."""
    text = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    fetching = [line for line in text.splitlines() if "pip " in line and "--no-index" not in line]
    assert fetching and all("--require-hashes" in line or "--no-deps" in line for line in fetching)
