"""Make what speaks HTTP at its first use: to import its library takes longer than the rest of a start."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from kenobot.tools.web.client import Answer, WebClient
    from kenobot.tools.web.engines import Engine, Found

T = TypeVar("T")


class _Late(Generic[T]):
    """Makes a part in a thread, once."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None

    async def get(self) -> T:
        if self._made is None:
            self._made = await asyncio.to_thread(self._make)
        return self._made


class LateClient:
    """Fetches by a client that is made then."""

    def __init__(self, make: "Callable[[], WebClient]") -> None:
        self._client = _Late(make)

    async def fetch(self, url: str, headers: Mapping[str, str]) -> "Answer":
        """See `WebClient.fetch`."""
        return await (await self._client.get()).fetch(url, headers)


class LateEngine:
    """Searches by an engine that is made then."""

    def __init__(self, make: "Callable[[], Engine]") -> None:
        self._engine = _Late(make)

    async def search(self, query: str, language: str, count: int) -> "list[Found]":
        """See `Engine.search`."""
        return await (await self._engine.get()).search(query, language, count)
