"""Bound what one event of a service's answer may hold, by a hook of its HTTP client, and note the mark of its end."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final, cast

import httpx2

from kenobot.providers.service import EndlessAnswer, StrangeAnswer

MOST_EVENT_BYTES: Final = 4 * 1024 * 1024
"""Size of the largest event of a stream that is read, and of the largest answer that is no stream."""

_END: Final = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")
_TAIL: Final = 16  # bytes of what came before, in which a mark may have begun
_BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


async def bound_answer(response: httpx2.Response) -> None:
    """Bound an answer. Raises StrangeAnswer for a compressed one, of which nothing tells how long it will be."""
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise StrangeAnswer("providers.compressed")
    response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))


def has_ended(response: httpx2.Response) -> bool:
    """Return whether an answer of OpenAI's API came to the mark of its end: what breaks off has none."""
    return isinstance(response.stream, _Bounded) and response.stream.has_ended


class _Bounded(httpx2.AsyncByteStream):
    """Chunks of an answer. Raises EndlessAnswer for one without a blank line in MOST_EVENT_BYTES."""

    def __init__(self, chunks: httpx2.AsyncByteStream) -> None:
        self._chunks = chunks
        self.has_ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        since, tail = 0, b""
        chunks = self._chunks.__aiter__()
        try:
            async for chunk in chunks:
                joined = tail + chunk  # a blank line may be cut in two
                at = max(map(joined.rfind, _BLANK_LINES))
                since = len(joined) - at if at >= 0 else since + len(chunk)
                if since > MOST_EVENT_BYTES:
                    raise EndlessAnswer
                self.has_ended = self.has_ended or _END.search(joined) is not None
                tail = joined[-_TAIL:]
                yield chunk
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def aclose(self) -> None:
        await self._chunks.aclose()
