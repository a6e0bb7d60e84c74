"""Files of memory: large edits, files that vanished, lines that came back, and imports of an export."""

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Protocol

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class IntakeNotice:
    """A large intake that begins, or is done. changes: lines or files that are not as they were."""

    path: str
    changes: int
    is_done: bool


@dataclass(frozen=True, slots=True)
class MissingFiles:
    """Memories whose files are gone at once. where: a folder or file that shows it. files: how many files or lines.

    records: whose files or lines they were, which are held back. event: the decision that forgot them instead, 0 where
    they are held back. told: the owner knows.
    """

    at: str
    where: str
    files: int
    records: tuple[int, ...] = ()
    event: int = 0
    told: bool = False


@dataclass(frozen=True, slots=True)
class RevivedLine:
    """A line that came back. record: what it says, as it was forgotten; 0: it was erased, and `text` is all of it."""

    scope: str
    record: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class RevivedLines:
    """Lines that came back, the file of the first, and when. told: the owner has been asked."""

    at: str
    where: str
    lines: tuple[RevivedLine, ...]
    told: bool = False


@dataclass(slots=True)
class MemoryImportReport:
    """Counts what an import did, by kind of line. already_known: was here already, and stayed as it was.

    skipped: by reason.
    """

    added: dict[str, int]
    already_known: dict[str, int]
    skipped: dict[str, int] = field(default_factory=dict)  # bounded: the reasons there are; turn


class Mirror(Protocol):
    """The Markdown files of memory, as whatever changes memory sees them."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Name the files that are left alone, each with the reason in one plain sentence."""

    def begin(self) -> None:
        """Begin to catch up, and to write along."""

    async def wait_caught_up(self) -> None:
        """Return once it has caught up, or cannot for now."""

    async def stop(self) -> None:
        """End the background work and write what is left."""

    async def sync_in(self, session: str | None = None) -> int:
        """Take in what people did to the files; how many facts they touched. Raises StoreError."""

    def has_changes(self, session: str) -> Callable[[], bool] | None:
        """Make a cheap check of whether `sync_in(session)` may find a change; None where it is to be called."""

    def mark_dirty(self, record_ids: Iterable[int] = ()) -> None:
        """Remember that these records were written. Call after the commit."""

    async def scan(self) -> None:
        """Look at some of the files that no turn looks at."""

    async def sync_out(self) -> None:
        """Write every file whose records changed. Raises StoreError."""
