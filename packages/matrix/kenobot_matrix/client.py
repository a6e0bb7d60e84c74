"""Call the client-server API of a Matrix homeserver."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import httpx

from kenobot.ports.errors import RateLimited, Rejected, RemoteError, Unavailable
from kenobot_matrix.settings import MatrixSettings

_DEVICE: Final = "KENOBOT"
_MOST_SYNCED: Final = 50_000_000  # bytes of one answer
_LONG: Final = 100_000  # bytes that are parsed beside the event loop
_API: Final = "/_matrix/client/v3"


class MatrixClient:
    """One account at one homeserver. Every failure is a RemoteError."""

    def __init__(self, settings: MatrixSettings) -> None:
        self._settings = settings
        self._token = settings.token.get_secret_value()
        self._open: httpx.AsyncClient | None = None

    @property
    def _http(self) -> httpx.AsyncClient:
        if self._open is None:
            settings = self._settings
            self._open = httpx.AsyncClient(base_url=settings.homeserver, timeout=settings.request_seconds)
        return self._open

    async def log_in(self) -> None:
        """Get a token for the password, always as the same device, so that its transactions stay known."""
        if self._settings.token.get_secret_value():
            return
        body = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._settings.user},
            "password": self._settings.password.get_secret_value(),
            "device_id": _DEVICE,
            "initial_device_display_name": "KenoBot",
        }
        self._token = str((await self.call("POST", "/login", body)).get("access_token", ""))

    async def call(
        self, method: str, path: str, body: object = None, seconds: float = 0, **query: str | int
    ) -> Mapping[str, Any]:
        """Call a method of the API; parts of `path` are quoted already. seconds: that the server may take longer."""
        limit = self._settings.request_seconds + seconds
        try:
            async with self._http.stream(
                method, _API + path, json=body, params=query, headers=self._headers(), timeout=limit
            ) as response:
                found = await _read_table(response)
        except httpx.HTTPError as error:
            raise Unavailable("matrix.unreachable", kind=type(error).__name__) from None
        if response.status_code >= 400:
            raise _error(response.status_code, found)
        if found is None:
            raise Unavailable("matrix.not_matrix")
        return found

    async def load(self, address: str) -> AsyncIterator[bytes]:
        """Yield a file of the media repository. address: `mxc://server/id`."""
        server, _, media = address.removeprefix("mxc://").partition("/")
        path = f"/_matrix/client/v1/media/download/{quote(server, safe='')}/{quote(media, safe='')}"
        try:
            async with self._http.stream("GET", path, headers=self._headers(), follow_redirects=True) as response:
                if response.status_code >= 400:
                    raise _error(response.status_code, await _read_table(response))
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx.HTTPError as error:
            raise Unavailable("channels.file_unloaded", kind=type(error).__name__) from None

    async def upload(self, content: bytes, mime: str, name: str) -> str:
        """Store a file in the media repository, and return its address."""
        path = "/_matrix/media/v3/upload"
        try:
            async with self._http.stream(
                "POST", path, content=content, params={"filename": name}, headers=self._headers(mime)
            ) as response:
                found = await _read_table(response)
        except httpx.HTTPError as error:
            raise Unavailable("matrix.file_unstored", kind=type(error).__name__) from None
        if response.status_code >= 400:
            raise _error(response.status_code, found)
        if found is None or "content_uri" not in found:
            raise Unavailable("matrix.not_matrix")
        return str(found["content_uri"])

    async def close(self) -> None:
        """End the connections; a later call opens new ones."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()

    def _headers(self, mime: str = "") -> dict[str, str]:
        return {
            **({"Authorization": f"Bearer {self._token}"} if self._token else {}),
            **({"Content-Type": mime} if mime else {}),
        }


async def _read_table(response: httpx.Response) -> Mapping[str, Any] | None:
    """Read an answer to its end; None for one that is no table of JSON."""
    raw = bytearray()
    async for piece in response.aiter_bytes():
        raw += piece
        if len(raw) > _MOST_SYNCED:
            raise Rejected("matrix.flood")
    try:
        found = await asyncio.to_thread(json.loads, raw) if len(raw) > _LONG else json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _error(status: int, answer: Mapping[str, Any] | None) -> RemoteError:
    """Map an error answer. Texts of the server are not shown: they may name anything.

    A Matrix server names a code in each. What names none is the page of a proxy, which says nothing about the request.
    """
    named = (answer or {}).get("errcode")
    code = str(named or status)[:60]
    if status == 429:
        asked = (answer or {}).get("retry_after_ms")
        seconds = asked / 1000 if isinstance(asked, int) else 5.0
        return RateLimited("matrix.too_fast", seconds)
    if code in ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN"):
        return Unavailable("matrix.session_ended")
    if status >= 500:
        return Unavailable("matrix.trouble", code=code)
    return Rejected("matrix.refused", code=code) if isinstance(named, str) else Unavailable("matrix.not_matrix")
