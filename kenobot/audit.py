"""The audit trail: which signals were sent, without people's words, in bounded space."""

import json
from collections import deque

from kenobot.db import Connection, Database, storable
from kenobot.signals import Envelope

_BATCH = 64
_HELD = 10_000

Row = tuple[str, str, str, str, str]


class Audit:
    """Collects envelopes and writes them in batches. The newest `keep` rows stay."""

    def __init__(self, database: Database, keep: int) -> None:
        self._database = database
        self._keep = keep
        self._held: deque[Envelope] = deque(maxlen=_HELD)

    def note(self, envelope: Envelope) -> None:
        """Remember one signal; written with the next batch. A crash may lose the last few."""
        self._held.append(envelope)
        if len(self._held) >= _BATCH:
            self._submit()

    async def flush(self) -> None:
        """Write what is held; return when it is on disk."""
        if not self._held:
            return
        rows = [_row(envelope) for envelope in self._held]
        self._held.clear()
        await self._database.write(lambda connection: self._insert(connection, rows))

    def _submit(self) -> None:
        envelopes = list(self._held)
        self._held.clear()
        self._database.post(lambda connection: self._insert(connection, [_row(item) for item in envelopes]))

    def _insert(self, connection: Connection, rows: list[Row]) -> None:
        connection.executemany("INSERT INTO signal (at, name, source, trace, payload) VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute(
            "DELETE FROM signal WHERE id <= (SELECT max(id) FROM signal) - ?",
            (self._keep,),
        )


def _row(envelope: Envelope) -> Row:
    """People's words become their length: the trail says what happened, not what was said."""
    payload = {
        key: len(value) if key in envelope.signal.texts and isinstance(value, str) else value
        for key, value in envelope.payload.items()
    }
    at = envelope.at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
    return at, envelope.signal.name, envelope.source, envelope.trace, storable(json.dumps(payload, ensure_ascii=False))
