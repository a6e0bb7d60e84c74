"""Post to a server behind HTTP: within a deadline and a size, its refusals as RemoteErrors."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from kenobot.ports.errors import AnswerLost, RateLimited, Rejected, RemoteError, Unavailable

if TYPE_CHECKING:
    import httpx

_LONGEST_PAUSE = 3600.0  # seconds
_LONGEST_CONNECT = 10.0  # seconds


@dataclass(eq=False, repr=False)  # the headers hold the key
class HttpService:
    """A model's server. name: at the beginning of a sentence. seconds: longest time of a request. most: bytes of an
    answer.
    """

    name: str
    model: str
    base_url: str
    headers: Mapping[str, str]
    seconds: float
    most: int
    _client: "httpx.AsyncClient | None" = None

    async def post(self, path: str, **content: Any) -> bytes:
        """Return the body of an answer. content: as `httpx` takes it. Raises RemoteError, whose text has no key."""
        try:
            async with asyncio.timeout(self.seconds):
                status, headers, body = await self._post(path, content)
        except TimeoutError:
            raise AnswerLost("providers.late", service=self.name, seconds=self.seconds) from None
        except RemoteError:
            raise
        except Exception as error:
            raise _translate_error(self.name, error) from None
        if status != 200:
            raise _refusal(self.name, self.model, status, headers)
        return body

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post(self, path: str, content: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        if self._client is None:
            import httpx

            # A server that is not there has taken nothing: that is to be told from one that does not answer.
            limits = httpx.Timeout(self.seconds, connect=min(_LONGEST_CONNECT, self.seconds / 2))
            self._client = httpx.AsyncClient(timeout=limits, headers=dict(self.headers))
        body = bytearray()
        async with self._client.stream("POST", f"{self.base_url}{path}", **content) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self.most:
                    raise AnswerLost("providers.far_more", service=self.name)
            return response.status_code, response.headers, bytes(body)


def _refusal(server: str, model: str, status: int, headers: Mapping[str, str]) -> RemoteError:
    """Translate an answer that is none. server: its name at the beginning of a sentence."""
    mark = f" ({status})"
    if status == 429:
        return RateLimited("providers.pause", _pause(headers), service=server, mark=mark)
    if status >= 500 or status in (408, 409):
        return Unavailable("providers.cannot_answer", _pause(headers), service=server, mark=mark)
    if status in (401, 403):
        return Rejected("providers.key_refused_plain", service=server, mark=mark)
    if status == 404:
        return Rejected("providers.no_such_model_or_address", service=server, model=model, mark=mark)
    return Rejected("providers.refused", service=server, mark=mark)


def _translate_error(server: str, error: Exception) -> RemoteError:
    """Translate an error of the HTTP library, by its name: its classes have no useful base in common.

    What broke while the answer was read had been taken in, and may be charged for.
    """
    name = type(error).__name__
    lost = name.startswith(("Read", "RemoteProtocol", "Decoding"))
    return (AnswerLost if lost else Unavailable)(f"The connection to {server} failed ({name}).")


def _pause(headers: Mapping[str, str]) -> float | None:
    """Parse the pause that a server asks for, in seconds; None when there is none, or as a date."""
    try:
        seconds = float(headers.get("retry-after") or "")
    except ValueError:
        return None
    return min(seconds, _LONGEST_PAUSE) if isfinite(seconds) and seconds >= 0 else None
