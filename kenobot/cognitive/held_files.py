"""Decide about files that vanished and lines that came back, which memory holds until the owner says what they were."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kenobot.cognitive.control import missing_files, revived_lines
from kenobot.cognitive.control.missing_files import PendingForget

if TYPE_CHECKING:
    from kenobot.cognitive.remember.admit_context import AdmitContext
    from kenobot.ports.memory_files import MissingFiles, RevivedLine, RevivedLines
    from kenobot.ports.records import Record
    from kenobot.storage.connection import Connection


class HeldFiles:
    """See and settle what is held; inside a transaction of the caller."""

    @staticmethod
    def get_loss(connection: "Connection") -> "MissingFiles | None":
        """Return the files that vanished at once."""
        return missing_files.open_loss(connection)

    @staticmethod
    def settle_loss(connection: "Connection", left: tuple[int, ...] = ()) -> None:
        """Settle a loss; the records `left` are still held."""
        missing_files.resolve_loss(connection, left)

    @staticmethod
    def forget_lost(
        connection: "Connection",
        records: "Sequence[Record]",
        most: int,
        reach: tuple[str, ...],
        occasion: "AdmitContext",
    ) -> int:
        """Forget the records of a loss as one decision, `most` at once and the rest behind the turns.

        Returns the event of the decision, 0 for none.
        """
        event = missing_files.forget_batch(connection, records[:most], reach, occasion)
        if event:
            rest = tuple(record.id for record in records[most:])
            missing_files.save_pending_forget(connection, PendingForget(event, rest, reach, occasion.session))
        return event

    @staticmethod
    def get_revived(connection: "Connection") -> "RevivedLines | None":
        """Return the lines that came back."""
        return revived_lines.open_question(connection)

    @staticmethod
    def settle_revived(connection: "Connection", left: "Sequence[RevivedLine]") -> None:
        """Settle the lines that came back; those `left` are still held."""
        revived_lines.resolve(connection, left)

    @staticmethod
    def restore(connection: "Connection", line: "RevivedLine", occasion: "AdmitContext") -> "Record | None":
        """Remember again what a line says; None where that cannot be, such as what has been erased since."""
        return revived_lines.restore_line(connection, line, occasion)
