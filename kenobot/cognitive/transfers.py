"""Carry memory from home to home: exports as JSON Lines, and memory made again from its Markdown files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from kenobot.cognitive.control import export
from kenobot.cognitive.mirror import fresh_copy, rebuild
from kenobot.cognitive.mirror.paths import is_memory_file
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.stepped_work import run_steps

if TYPE_CHECKING:
    from kenobot.cognitive.control.export import ExportSummary
    from kenobot.cognitive.remember.admit_context import AdmitContext
    from kenobot.ports.memory_files import MemoryImportReport

Progress = Callable[[int], None]


class Transfers:
    """Write and read exports, and rebuild memory; inside a transaction of the caller."""

    count_confidences = staticmethod(export.count_confidences)
    """Count the live records of an export that were told in confidence."""

    @staticmethod
    def export(
        connection: Connection, reach: Scopes, at: datetime, identity: Mapping[str, str] | None = None
    ) -> Iterator[str]:
        """Iterate over the lines of an export. identity: texts of the bot's character, of a whole home."""
        return export.export(connection, reach, at, export.NO_IDENTITY if identity is None else identity)

    @staticmethod
    def import_all(
        connection: Connection, lines: Iterable[str], occasion: "AdmitContext", progress: Progress | None = None
    ) -> "MemoryImportReport":
        """Import the lines of an export in one transaction. Raises ImportFormatError."""
        return export.import_lines(connection, lines, occasion, is_memory_file, progress)

    @staticmethod
    def check(lines: Iterable[str]) -> "ExportSummary":
        """Check the lines of an export before any is imported. Raises ImportFormatError."""
        return export.check_lines(lines, is_memory_file)

    @staticmethod
    def import_checked(
        connection: Connection,
        lines: Iterable[str],
        summary: "ExportSummary",
        occasion: "AdmitContext",
        next_transaction: Callable[[], None],
        progress: Progress | None = None,
    ) -> "MemoryImportReport":
        """Import lines that were checked; `next_transaction` is called where a transaction may end."""
        steps = export.import_in_steps(connection, lines, summary, occasion, is_memory_file, progress)
        return run_steps(steps, next_transaction)

    @staticmethod
    def find_identity(lines: Iterable[str]) -> dict[str, str]:
        """Find the texts of the bot's character in an export, by name."""
        return export.identity_in(lines, is_memory_file)

    rebuild = staticmethod(rebuild.rebuild)
    """Make memory again from its files; see `mirror.rebuild`. Raises ConfigError."""

    complete_copy = staticmethod(fresh_copy.complete_copy)
    """Make anew in a copy of the database what it was made without: the words of records, and what was written."""
