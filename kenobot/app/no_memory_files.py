"""Memory without files: for a process that serves many homes, in whose folders nobody looks."""

from collections.abc import Callable, Iterable
from typing import Final


class NoMemoryFiles:
    """The files of a memory that has none: there is nothing to read, and nothing is written."""

    problems: Final[tuple[str, ...]] = ()

    def begin(self) -> None:
        """Begin nothing."""

    async def wait_caught_up(self) -> None:
        """Return at once."""

    async def stop(self) -> None:
        """End nothing."""

    async def sync_in(self, session: str | None = None) -> int:
        """Take in nothing."""
        return 0

    def has_changes(self, session: str) -> Callable[[], bool] | None:
        """Make a check that finds nothing."""
        return _find_nothing

    def mark_dirty(self, record_ids: Iterable[int] = ()) -> None:
        """Remember nothing."""

    async def scan(self) -> None:
        """Look at nothing."""

    async def sync_out(self) -> None:
        """Write nothing."""


def _find_nothing() -> bool:
    return False
