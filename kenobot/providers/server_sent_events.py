"""Decode server-sent events out of the bytes of an HTTP answer.

As https://html.spec.whatwg.org/multipage/server-sent-events.html has them, but for ids and the pauses that servers ask
for: an answer that breaks off is not continued.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

_LONGEST = 4 * 1024 * 1024  # bytes of one event; a server that sends more is broken


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event. name: "" when the server gives none."""

    name: str
    data: str


async def decode_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
    """Yield each event when it is complete. Raises ValueError for one that is no UTF-8 or without an end."""
    decoder = _Decoder()
    async for chunk in chunks:
        for event in decoder.feed(chunk):
            yield event


class _Decoder:
    """Collects lines until an empty one. What is left at the end of a stream is half an event, and none."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []  # bounded: the lines of one event: _LONGEST
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        lines = (self._rest + chunk).splitlines(keepends=True)  # of bytes: at CR and LF alone
        # A CR at the end may be half of a CRLF.
        self._rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if self._size + len(self._rest) > _LONGEST:
            raise ValueError("an event of the server does not end")
        events = []
        for line in lines:
            event = self._take(line.rstrip(b"\r\n").decode("utf-8"))
            if event is not None:
                events.append(event)
        return events

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            event = ServerEvent(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data, self._size = "", [], 0
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
            self._size += len(value)
        return None
