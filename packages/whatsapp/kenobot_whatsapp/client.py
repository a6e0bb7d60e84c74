"""Call Meta's Graph API for one phone number."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import httpx

from kenobot.core import lazy
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, Unavailable
from kenobot_whatsapp.settings import WhatsAppSettings

_MOST_ANSWERED: Final = 1_000_000  # bytes of one answer
_MOST_LOADED: Final = 100_000_000  # bytes of a file: WhatsApp takes none that is larger
_META: Final = (".fbsbx.com", ".facebook.com", ".fbcdn.net", ".whatsapp.net")
_DIGITS: Final = 10  # which no code of an error has
_MEDIA_ID = lazy.regex(r"[A-Za-z0-9_-]{1,128}")

REFUSED: Final = "whatsapp.token_refused"
NOT_PAID: Final = "whatsapp.not_paid"

_TOKEN: Final = frozenset({0, 190})
_RIGHTS: Final = frozenset({3, 10, 131005, *range(200, 300)})
_ACCOUNT: Final = frozenset({368, 131031, 130497})
_PAUSES: Final[Mapping[int, float]] = {4: 60.0, 80007: 60.0, 130429: 5.0, 131048: 600.0, 131056: 10.0}  # seconds
_PASSES: Final = frozenset({1, 2, 131000, 131016, 131057, 133004, 135000})
_FOR_GOOD: Final[Mapping[int, str]] = {
    131021: "whatsapp.own_number",
    131026: "whatsapp.undeliverable",
    131030: "whatsapp.test_number",
    131047: "whatsapp.day_over",
}


class NeedsOwner(Unavailable):
    """A failure that only the owner can mend. What was to be sent waits."""


class GraphClient:
    """One phone number at Meta. Every failure is a RemoteError."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        self._settings = settings
        self._number = settings.phone_number_id
        # In bytes: one that is no token is for Meta to refuse.
        self._headers = {b"Authorization": f"Bearer {settings.token.get_secret_value()}".encode()}
        self._open: httpx.AsyncClient | None = None

    @property
    def _http(self) -> httpx.AsyncClient:
        if self._open is None:
            self._open = httpx.AsyncClient(timeout=self._settings.request_seconds)
        return self._open

    async def describe(self) -> tuple[str, str]:
        """Return the number as people dial it, in digits, and the name that it shows."""
        found = await self._call("GET", self._number, params={"fields": "display_phone_number,verified_name"})
        digits = "".join(sign for sign in str(found.get("display_phone_number", "")) if sign.isdigit())
        return digits, str(found.get("verified_name", ""))[:100]

    async def post(self, body: Mapping[str, object]) -> str:
        """Send a message, or say that one was read; return the id of what was sent, "" of the other."""
        answer = await self._call("POST", f"{self._number}/messages", json={"messaging_product": "whatsapp", **body})
        messages = answer.get("messages")
        first = messages[0] if isinstance(messages, list) and messages else {}
        return str(first.get("id", "")) if isinstance(first, dict) else ""

    async def upload(self, content: bytes, mime: str, name: str) -> str:
        """Store a file for thirty days, and return its id."""
        form = {"messaging_product": "whatsapp", "type": mime}
        answer = await self._call("POST", f"{self._number}/media", data=form, files={"file": (name, content, mime)})
        return str(answer.get("id", ""))

    async def load(self, media: str) -> AsyncIterator[bytes]:
        """Yield a file in pieces. Its address is asked for, because it holds for five minutes."""
        if not _MEDIA_ID.fullmatch(media):
            raise Rejected("whatsapp.no_such_file")
        found = await self._call("GET", media, params={"phone_number_id": self._number})
        address = str(found.get("url", ""))
        if not self._is_metas(address):  # the token goes there
            raise Rejected("whatsapp.foreign_file")
        loaded = 0
        try:
            async with self._http.stream("GET", address, headers=self._headers) as response:
                if response.status_code != 200:
                    raise Unavailable("whatsapp.file_refused", status=response.status_code)
                async for piece in response.aiter_bytes():
                    loaded += len(piece)
                    if loaded > _MOST_LOADED:
                        raise Rejected("whatsapp.file_too_large")
                    yield piece
        except httpx.HTTPError as error:
            raise Unavailable("channels.file_unloaded", kind=type(error).__name__) from None

    async def close(self) -> None:
        """End the connections; a later call opens new ones."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()

    def _is_metas(self, address: str) -> bool:
        try:  # as it is read for the request itself
            asked, own = httpx.URL(address), httpx.URL(self._settings.api)
        except httpx.InvalidURL:
            return False
        if (asked.scheme, asked.netloc) == (own.scheme, own.netloc):
            return True
        return asked.scheme == "https" and asked.host.endswith(_META) and asked.port is None

    async def _call(self, method: str, path: str, **request: Any) -> Mapping[str, Any]:
        try:
            async with (
                asyncio.timeout(self._settings.request_seconds),
                self._http.stream(method, f"{self._settings.api}/{path}", headers=self._headers, **request) as response,
            ):
                raw = bytearray()
                async for piece in response.aiter_bytes():
                    raw += piece
                    if len(raw) > _MOST_ANSWERED:
                        raise Rejected("whatsapp.flood")
        except (httpx.HTTPError, TimeoutError) as error:
            raise Unavailable("whatsapp.unreachable", kind=type(error).__name__) from None
        try:
            found = json.loads(raw)
        except (ValueError, RecursionError):
            found = None
        answer = found if isinstance(found, dict) else {}
        status, error = response.status_code, answer.get("error")
        if status == 429 or status >= 500 or (status >= 400 and isinstance(error, dict)):
            raise refusal(status, error, response.headers.get("retry-after", ""))
        if status >= 400 or not answer:  # Meta names an error; the page of a proxy says nothing about the request
            raise Unavailable("whatsapp.not_whatsapp")
        return answer


def refusal(status: int, error: object, retry_after: str = "") -> RemoteError:
    """Map an error of the Graph API, or of a delivery that failed. Texts of the server are not shown.

    status: of HTTP; 0 for a delivery.
    """
    told = error if isinstance(error, dict) else {}
    named = str(told.get("code", ""))
    code = int(named) if named.isdecimal() and len(named) < _DIGITS else -1
    if code in _PAUSES or status == 429:
        pause = float(retry_after) if retry_after.isdecimal() else _PAUSES.get(code, 5.0)
        return RateLimited("whatsapp.too_fast", pause)
    if code in _TOKEN or status == 401:
        return NeedsOwner(REFUSED)
    if code in _RIGHTS:
        return NeedsOwner("whatsapp.not_allowed", code=code)
    if code in _ACCOUNT:
        return NeedsOwner("whatsapp.restricted", code=code)
    if code == 131042:
        return NeedsOwner(NOT_PAID)
    if code in (131045, 133010):
        return NeedsOwner("whatsapp.not_registered", code=code)
    if code in _FOR_GOOD:
        return Rejected(_FOR_GOOD[code])
    if code in _PASSES or status >= 500 or told.get("is_transient") is True:
        return Unavailable("whatsapp.trouble", code=code if code >= 0 else status)
    return Rejected("whatsapp.refused", code=code if code >= 0 else status)
