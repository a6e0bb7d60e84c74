"""Nothing grows unnoticed: the registry holds every container of the code and every table of the schema."""

from tests.bounds import on_disk, registry, walk
from tests.bounds.bound import Bound
from tests.bounds.walk import Marker
from tests.cases import each


def test_every_container_that_outlives_a_call_is_marked() -> None:
    """A new queue, cache, set or dict needs a limit and a test that drives it past that before it passes here."""
    unmarked = [
        f"{found.place} {found.name}" for found in registry.find_all() if not found.is_cache and not found.marker
    ]
    assert not unmarked, "put `# bounded: how far; test` beside it"


def test_every_table_is_registered() -> None:
    """So does a new table."""
    assert {row.what for row in on_disk.TABLES} == {f"table:{name}" for name in walk.tables()}


@each("row", registry.list_all)
def test_the_test_of_a_row_is_there(row: Bound) -> None:
    """A row names a limit and a test that exists, by its path or by a name that no other test has."""
    assert row.limit and row.by
    path, _, name = row.test.rpartition("::")
    files = registry.tests_called(name)
    assert str(walk.ROOT / path) in files if path else len(files) == 1, f"there is no {row.test}"


def test_no_row_stands_twice() -> None:
    """A container, a table or a file has one row."""
    whats = [row.what for row in registry.list_all()]
    assert len(set(whats)) == len(whats)


def test_the_walk_finds_what_could_grow() -> None:
    """Whichever way a container is made: literal, call, field, several at once, in a module, or as a cache."""
    source = """
import asyncio, functools
from collections import deque
names: dict[str, int] = {}  # bounded: ten names; turn
FIXED = {"a": 1}
class Thing:
    shared = []
    held: list[int] = field(default_factory=list)
    def __init__(self, given):
        self.a, self.b = set(), deque(maxlen=3)
        # bounded: 5 items; test_it
        self.queue = asyncio.Queue(5)
        self.given = given
        self.table = {key: 1 for key in given}
    def later(self):
        self.late = {}
        local = []
@functools.lru_cache(maxsize=3)
def cached(x): ...
def plain(x): ...
"""
    wanted = {"names", "Thing.shared", "Thing.held", "Thing.a", "Thing.b", "Thing.queue", "Thing.late", "cached"}
    found = {each.name: each.marker for each in walk.in_source(source)}
    assert found.keys() == wanted
    assert found["names"] == Marker("ten names", "turn")
    assert found["Thing.queue"] == Marker("5 items", "test_it")
    assert found["Thing.late"] is None


def test_the_schema_is_read_as_the_migrations_leave_it() -> None:
    """A table that was copied to change it counts once, by its final name."""
    assert "inbox" in walk.tables()
    assert not [name for name in walk.tables() if name.endswith("_new")]
