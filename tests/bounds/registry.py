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

LIFETIMES = {
    "turn": f"{HERE}/test_in_memory.py::test_nothing_of_a_turn_stays_when_it_is_over",
    "start": f"{HERE}/test_in_memory.py::test_what_is_wired_up_at_the_start_does_not_grow",
    "night": f"{HERE}/test_nights.py::test_nothing_of_a_night_stays_when_it_is_over",
}
"""Tests that drive all containers of one lifetime."""

FOUND = tuple(walk.running())
CACHES = tuple(found.name for found in FOUND if found.is_cache and found.marker is None)
IN_MEMORY = tuple(
    Bound(found.name, found.marker.limit, "the code beside it", LIFETIMES.get(found.marker.test, found.marker.test))
    for found in FOUND
    if found.marker is not None
)
ALL = (*IN_MEMORY, *TABLES, *FILES)


@cache
def tests_called(name: str) -> tuple[str, ...]:
    """The files with a test of this name."""
    pattern = re.compile(rf"^(?:async )?def {name}\(", re.MULTILINE)
    return tuple(str(path) for path in Path(walk.ROOT / "tests").rglob("test_*.py") if pattern.search(path.read_text()))
