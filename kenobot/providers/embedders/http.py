"""Embed texts by a server: requests within a deadline, its refusals as RemoteError, rows of length 1."""

import asyncio
import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, field_validator

from kenobot.core.network import HttpAddress
from kenobot.ports.embedder import EmbeddingMeter, EmbedKind
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, Unavailable
from kenobot.providers.embedders.threaded import clip_text

if TYPE_CHECKING:
    import httpx

    from kenobot.providers.embedders.threaded import Vector

_MOST = 32  # texts of one request
_LARGEST = 32_000_000  # bytes of an answer
_LONGEST_PAUSE = 3600.0  # seconds


class HttpEmbedderSettings(BaseModel, extra="forbid", frozen=True):
    """seconds: longest time of a request. query_prefix, passage_prefix: put before each query and passage."""

    base_url: HttpAddress
    model: str = Field(min_length=1)
    seconds: float = Field(20, gt=0, le=300)
    query_prefix: str = ""
    passage_prefix: str = ""

    @field_validator("base_url")
    @classmethod
    def _without_slash(cls, address: str) -> str:
        return address.rstrip("/")


@dataclass(eq=False, repr=False)  # the headers hold the key
class HttpEmbedder:
    """An embedder behind HTTP.

    body: composes a request for texts. rows: returns the rows of an answer in the order of the texts, or raises
    KeyError, TypeError or ValueError.
    """

    model_id: str
    server: str
    settings: HttpEmbedderSettings
    path: str
    headers: Mapping[str, str]
    body: Callable[[Sequence[str]], Mapping[str, object]]
    rows: Callable[[Mapping[str, Any]], object]
    dimensions: int = 0
    meter: EmbeddingMeter | None = None
    _client: "httpx.AsyncClient | None" = None

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """Embed `texts`. Raises RateLimited, Unavailable and Rejected, whose texts hold no key."""
        prefix = self.settings.query_prefix if kind == "query" else self.settings.passage_prefix
        found: list[Vector] = []
        for at in range(0, len(texts), _MOST):
            # A blank input is refused by some servers.
            found += await self._embed([prefix + (clip_text(text).strip() or ".") for text in texts[at : at + _MOST]])
        return found

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _embed(self, texts: Sequence[str]) -> "list[Vector]":
        if self.meter is None:
            return (await self._ask(texts))[0]
        settle, tokens = await self.meter.reserve(self.model_id, texts), None
        try:
            rows, tokens = await self._ask(texts)
        except RemoteError:
            tokens = 0
            raise
        finally:
            settle(tokens)
        return rows

    async def _ask(self, texts: Sequence[str]) -> "tuple[list[Vector], int | None]":
        """Return the rows of texts, and the tokens that the server counted, if it says how many."""
        try:
            async with asyncio.timeout(self.settings.seconds):
                status, headers, body = await self._post(self.body(texts))
        except TimeoutError:
            raise Unavailable(f"{self.server} took longer than {self.settings.seconds:g} seconds to answer.") from None
        except RemoteError:
            raise
        except Exception as error:  # its HTTP library's errors have no base class in common
            raise Unavailable(f"The connection to {self.server} failed ({type(error).__name__}).") from None
        if status != 200:
            raise self._refused(status, headers)
        try:
            answer = json.loads(body)
            items = self.rows(answer)
            if not isinstance(items, list):
                raise TypeError("no list")
            rows = [_unit(row) for row in items]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise Unavailable(f"{self.server} answered with something that is no embedding.") from None
        if len(rows) != len(texts) or len({len(row) for row in rows}) > 1:
            raise Unavailable(f"{self.server} answered with another number of embeddings than were asked for.")
        self.dimensions = len(rows[0]) if rows else self.dimensions
        return rows, _tokens(answer)

    async def _post(self, content: Mapping[str, object]) -> tuple[int, Mapping[str, str], bytes]:
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(timeout=self.settings.seconds, headers=dict(self.headers))
        body = bytearray()
        async with self._client.stream("POST", f"{self.settings.base_url}{self.path}", json=dict(content)) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST:
                    raise Unavailable(f"{self.server} answered with far more than was asked for.")
            return response.status_code, response.headers, bytes(body)

    def _refused(self, status: int, headers: Mapping[str, str]) -> RemoteError:
        mark = f" ({status})"
        if status == 429:
            return RateLimited(f"{self.server} asks for a pause: its rate limit is reached.{mark}", _pause(headers))
        if status >= 500 or status in (408, 409):
            return Unavailable(f"{self.server} cannot answer right now.{mark}", _pause(headers))
        if status in (401, 403):
            return Rejected(f"{self.server} refused the API key.{mark}")
        if status == 404:
            return Rejected(f"{self.server} does not know the model {self.settings.model} or this address.{mark}")
        return Rejected(f"{self.server} refused the request, and asking again will not help.{mark}")


def _tokens(answer: Mapping[str, Any]) -> int | None:
    """Return the tokens that a server counted, as OpenAI's API or Ollama's spells it."""
    usage = answer.get("usage")
    told = usage.get("prompt_tokens") if isinstance(usage, dict) else answer.get("prompt_eval_count")
    return told if isinstance(told, int) and told > 0 else None


def _unit(row: object) -> "Vector":
    """Scale a row to length 1, as 32-bit floats. Raises ValueError or TypeError."""
    if not isinstance(row, list) or not row:
        raise ValueError("no row")
    numbers = array("f", row)
    length = sqrt(sum(number * number for number in numbers))
    if not isfinite(length) or length == 0:
        raise ValueError("no direction")
    return array("f", (number / length for number in numbers))


def _pause(headers: Mapping[str, str]) -> float | None:
    """Parse the pause that a server asks for, in seconds; None when there is none, or as a date."""
    try:
        seconds = float(headers.get("retry-after") or "")
    except ValueError:
        return None
    return min(seconds, _LONGEST_PAUSE) if isfinite(seconds) and seconds >= 0 else None
