"""Decide about files that vanished and lines that came back, which memory holds until the owner says what they were."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kenobot.cognitive.control import missing_files, revived_lines
from kenobot.cognitive.control.missing_files import PendingForget

if TYPE_CHECKING:
    from kenobot.cognitive.remember.admit_context import AdmitContext
    from kenobot.ports.records import Record
    from kenobot.storage.connection import Connection


class HeldFiles:
    """See and settle what is held; inside a transaction of the caller."""

    get_loss = staticmethod(missing_files.open_loss)
    """Return the files that vanished at once."""

    settle_loss = staticmethod(missing_files.resolve_loss)
    """Settle a loss; the records `left` are still held."""

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

    get_revived = staticmethod(revived_lines.open_question)
    """Return the lines that came back."""

    settle_revived = staticmethod(revived_lines.resolve)
    """Settle the lines that came back; those `left` are still held."""

    restore = staticmethod(revived_lines.restore_line)
    """Remember again what a line says; None where that cannot be, such as what has been erased since."""
