"""Everything that can grow: what, how far, and the test that drives it past that.

Containers and caches say it themselves, in a comment beside them: see `tests.bounds.walk`. Tables and files of the disk
are data in `tests.bounds.on_disk`. `test_registry.py` compares both with the code and the schema.
"""

import re
from functools import cache
from pathlib import Path

from tests.bounds import walk
from tests.bounds.bound import HERE, Bound
from tests.bounds.on_disk import FILES, TABLES
from tests.bounds.walk import Found

LIFETIMES = {
    "turn": f"{HERE}/test_in_memory.py::test_nothing_of_a_turn_stays_when_it_is_over",
    "start": f"{HERE}/test_in_memory.py::test_what_is_wired_up_at_the_start_does_not_grow",
    "night": f"{HERE}/test_nights.py::test_nothing_of_a_night_stays_when_it_is_over",
}
"""Tests that drive all containers of one lifetime."""


@cache
def find_all() -> tuple[Found, ...]:
    """Find every container and cache of the code: it takes a second, which the collection of tests need not."""
    return tuple(walk.running())


def find_caches() -> list[str]:
    """Name the caches that nothing else bounds."""
    return [found.name for found in find_all() if found.is_cache and found.marker is None]


@cache
def list_in_memory() -> tuple[Bound, ...]:
    """List the bounds of what is in memory."""
    return tuple(
        Bound(found.name, found.marker.limit, "the code beside it", LIFETIMES.get(found.marker.test, found.marker.test))
        for found in find_all()
        if found.marker is not None
    )


def list_all() -> list[Bound]:
    """List the bounds of memory, tables and files."""
    return [*list_in_memory(), *TABLES, *FILES]


def tests_called(name: str) -> list[str]:
    """The files with a test of this name."""
    return _places().get(name, [])


@cache
def _places() -> dict[str, list[str]]:
    """Find the files of every function of the tests by its name."""
    pattern = re.compile(r"^(?:async )?def (\w+)\(", re.MULTILINE)
    places: dict[str, list[str]] = {}
    for path in Path(walk.ROOT / "tests").rglob("test_*.py"):
        for name in dict.fromkeys(pattern.findall(path.read_text())):
            places.setdefault(name, []).append(str(path))
    return places
