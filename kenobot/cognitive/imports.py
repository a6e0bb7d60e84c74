"""Bring memories and talk of elsewhere: marks of earlier imports, and texts that are not to come back."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import cast

from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.store import events, imported_talks, records
from kenobot.language.fingerprint import key_of
from kenobot.language.markdown import list_layout
from kenobot.ports.json_value import Json
from kenobot.storage.connection import Connection


class Imports:
    """Bring memories and talk of elsewhere; inside a transaction of the caller. An import is one decision."""

    @staticmethod
    def begin(connection: Connection, source: str, at: datetime, actor: str, origin: str) -> tuple[int, bool]:
        """Begin the import of a source, or go on with one that was broken off; return its event, and whether it was."""
        begun = imported_talks.find_unfinished(connection, source)
        told: dict[str, Json] = {"from": origin, "source": source}
        return begun or events.add_event(connection, at, actor, imported_talks.IMPORTED, data=told), begun is not None

    @staticmethod
    def note(
        connection: Connection,
        at: datetime,
        actor: str,
        data: Mapping[str, object],
        *,
        session: str = "",
        record: int | None = None,
    ) -> None:
        """Note a part of an import. data: `part_of` names its event."""
        events.add_event(
            connection,
            at,
            actor,
            imported_talks.IMPORTED,
            session=session,
            record=record,
            data=cast("Mapping[str, Json]", data),
        )

    drop_empty = staticmethod(imported_talks.delete_empty)
    """Drop the event of an import that brought nothing."""

    read_marks = staticmethod(imported_talks.read_marks)
    """Return the marks of everything that earlier imports brought and that was not taken back since."""

    @staticmethod
    def find_slot(connection: Connection, scope: str, form: str, slot: str) -> str | None:
        """Return the text that a slot of a scope holds."""
        held = records.slot_record(connection, scope, form, slot)
        return held.text if held is not None else None

    @staticmethod
    def find_obstacle(connection: Connection, scope: str, text: str) -> str:
        """Return why a text is not to be brought: "known", or another reason; "" when it is."""
        found = imported_talks.find_statuses(connection, scope, key_of(text))
        if "erased" in found:
            return "it was erased here"
        if "active" in found:
            return "known"
        if "forgotten" in found:
            return "it was forgotten here"
        gone = [number for number in found.values() if not events.last_change_was_undo(connection, number)]
        return "something newer took its place here" if gone else ""

    list_withdrawn = staticmethod(imported_talks.list_withdrawn)
    """List the records of talk whose import is undone."""

    @staticmethod
    def skip_reading(connection: Connection, session: str, newest: int) -> None:
        """Count the messages of a conversation as read for facts, up to a row."""
        buffer.advance_cursor(connection, session, buffer.cursor(connection, session), newest)

    @staticmethod
    def split_log(text: str) -> Iterator[tuple[str, str | None, str | None]]:
        """Split the log of a day into chunks, each with the H:MM at its head and the fact that it tells."""
        for chunk in list_layout.split("daily", text):
            yield chunk, list_layout.entry_time(chunk), list_layout.fact_text("daily", chunk)
