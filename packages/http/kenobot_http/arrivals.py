"""Wake those who read a chat along when something is sent there."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Reader:
    """A reader of a chat. is_over: the server ends."""

    def __init__(self) -> None:
        self.is_over = False
        self._news = asyncio.Event()

    def wake(self) -> None:
        """Wake the reader, which looks for news then."""
        self._news.set()

    async def wait(self, seconds: float) -> bool:
        """Wait for something to be sent; False when nothing was in this time."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        return True


class Arrivals:
    """The readers of each chat."""

    def __init__(self) -> None:
        self._readers: dict[str, list[Reader]] = {}  # bounded: the server's connections; turn
        self._is_closed = False

    @property
    def is_read(self) -> bool:
        """Return whether a chat is read along."""
        return bool(self._readers)

    def begin(self) -> None:
        """Take readers again after `close`."""
        self._is_closed = False

    def close(self) -> None:
        """End every reader."""
        self._is_closed = True
        for reader in [reader for readers in self._readers.values() for reader in readers]:
            reader.is_over = True
            reader.wake()

    def note(self, chat: str) -> None:
        """Wake the readers of a chat: something was sent there."""
        for reader in self._readers.get(chat, ()):
            reader.wake()

    @contextmanager
    def read(self, chat: str) -> Iterator[Reader]:
        """Read a chat along while the block runs."""
        reader = Reader()
        reader.is_over = self._is_closed
        self._readers.setdefault(chat, []).append(reader)
        try:
            yield reader
        finally:
            self._readers[chat].remove(reader)
            if not self._readers[chat]:
                del self._readers[chat]
