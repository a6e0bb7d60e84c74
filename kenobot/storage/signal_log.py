"""The audit trail: which signals were sent, without people's words and without secrets, in bounded space."""

import json
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kenobot.core.bus import Bus
from kenobot.core.redaction import Redactor
from kenobot.ports.errors import StoreError
from kenobot.ports.sentences import Sentence, change_values, pack
from kenobot.ports.signals import ALL_SIGNALS, Envelope
from kenobot.storage.connection import Connection, make_storable
from kenobot.storage.database import Database

_BATCH = 64
_HELD = 10_000
_BLOTTED = 512
_PRUNED_SHARE = 200  # of what is kept: when so many rows more are there, the oldest are dropped
_COLUMNS = ("at", "name", "source", "trace", "payload")
_VALUES = ", ".join(f"json_extract(value, '$[{at}]')" for at in range(len(_COLUMNS)))
_INSERT = f"INSERT INTO signal ({', '.join(_COLUMNS)}) SELECT {_VALUES} FROM json_each(?) ORDER BY key"
_encode = json.JSONEncoder(ensure_ascii=False).encode


class SignalLog:
    """Collects envelopes and writes them in batches. The newest `keep` rows stay, and at most 0.5 % more.

    redact: blots secrets out, because what a signal tells of an error may quote one.
    """

    def __init__(self, database: Database, keep: int = 20_000, redact: Callable[[str], str] | None = None) -> None:
        self._database = database
        self._keep = keep
        self._redact = lru_cache(maxsize=_BLOTTED)(redact or Redactor())  # the names of chats come again and again
        self._unpruned = keep  # rows since old ones were dropped
        # bounded: 10,000 signals, in practice 64; test_what_is_held_in_memory_is_bounded
        self._held: deque[Envelope] = deque(maxlen=_HELD)

    def attach(self, bus: Bus) -> None:
        """Log every signal from now on."""
        for signal in ALL_SIGNALS.values():
            bus.wake_on(signal, self.append)

    def append(self, envelope: Envelope) -> None:
        """Hold a signal for the next batch. A crash may lose the last few."""
        self._held.append(envelope)
        if len(self._held) >= _BATCH:
            envelopes = self._take()
            self._database.write_nowait(lambda connection: self._insert(connection, envelopes))

    async def flush(self) -> None:
        """Write what is held; return when it is on disk. Raises StoreError, and goes on holding it."""
        held = self._take()
        if not held:
            return
        try:
            await self._database.write(lambda connection: self._insert(connection, held))
        except StoreError:
            room = _HELD - len(self._held)
            self._held.extendleft(reversed(held[max(0, len(held) - room) :]))
            raise

    def _take(self) -> list[Envelope]:
        held = list(self._held)
        self._held.clear()
        return held

    def _insert(self, connection: Connection, envelopes: list[Envelope]) -> None:
        connection.execute(_INSERT, (json.dumps([*map(self._row, envelopes)]),))
        self._unpruned += len(envelopes)
        if self._unpruned * _PRUNED_SHARE >= self._keep:
            self._unpruned = 0
            connection.execute("DELETE FROM signal WHERE id <= (SELECT max(id) FROM signal) - ?", (self._keep,))

    def _row(self, envelope: Envelope) -> tuple[str, str, str, str, str]:
        """Make the row of a signal; people's words become their length."""
        told_keys = envelope.signal.text_keys
        payload: dict[str, Any] = {
            key: value if not isinstance(value, str) else len(value) if key in told_keys else self._redact(value)
            for key, value in envelope.payload.items()
        }
        if isinstance(reason := envelope.payload.get("reason"), Sentence):  # to be worded in another language
            payload["said"] = pack(change_values(reason, self._redact))
        at = envelope.at.isoformat(timespec="microseconds")
        told = make_storable(_encode(payload))
        return at, envelope.signal.name, envelope.source, envelope.trace, told
