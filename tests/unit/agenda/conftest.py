"""A database in memory, with the whole schema."""

from collections.abc import Iterator

import pytest

from kenobot.storage.connection import Connection
from tests.memory_rows import open_memory


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A connection to a new database."""
    with open_memory() as opened:
        yield opened
