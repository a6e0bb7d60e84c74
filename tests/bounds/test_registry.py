"""Nothing grows unnoticed: the registry holds every container of the code and every table of the schema."""

import ast

from tests.bounds import on_disk, registry, walk


def test_every_container_that_outlives_a_call_is_registered() -> None:
    """A new queue, cache, set or dict needs a limit, something that enforces it and a test before it passes here."""
    registered = {row.what for row in registry.IN_MEMORY}
    assert walk.containers() - registered == set(), "not registered: give it a limit and a row"
    assert registered - walk.containers() == set(), "no longer there"


def test_every_table_is_registered() -> None:
    """So does a new table."""
    assert {row.what for row in on_disk.TABLES} == {f"table:{name}" for name in walk.tables()}


def test_every_row_is_whole_and_its_test_is_there() -> None:
    """A row names a limit, what enforces it, and a test that exists."""
    defined: dict[str, set[str]] = {}
    for row in registry.ALL:
        assert row.limit and row.by, row.what
        path, _, name = row.test.partition("::")
        if path not in defined:
            tree = ast.parse((walk.ROOT / path).read_text("utf-8"))
            functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
            defined[path] = {node.name for node in functions}
        assert name in defined[path], f"{row.what}: there is no {row.test}"
    whats = [row.what for row in registry.ALL]
    assert len(set(whats)) == len(whats)


def test_the_walk_finds_what_could_grow() -> None:
    """Whichever way a container is made: literal, call, field, several at once, in a module, or as a cache."""
    source = """
import asyncio, functools
from collections import deque
names: dict[str, int] = {}
FIXED = {"a": 1}
class Thing:
    shared = []
    held: list[int] = field(default_factory=list)
    def __init__(self, given):
        self.a, self.b = set(), deque(maxlen=3)
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
    assert walk.in_source(source) == wanted


def test_the_schema_is_read_as_the_migrations_leave_it() -> None:
    """A table that was copied to change it counts once, by its final name."""
    assert "inbox" in walk.tables()
    assert not [name for name in walk.tables() if name.endswith("_new")]
