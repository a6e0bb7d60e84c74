"""Call Anthropic's Messages API over HTTP: one request, and the events of the stream that answers it.

A client of our own, since the official one takes a second of processor time to import, and 50 MB.
"""

import json
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kenobot.core.network import building_client
from kenobot.providers.service import EndlessAnswer, StrangeAnswer, check_stream, only_to

if TYPE_CHECKING:
    import httpx

Event = Mapping[str, object]

_VERSION: Final = "2023-06-01"
_LONGEST_EVENT: Final = 4_000_000  # bytes of its data
_LONGEST_ERROR: Final = 64_000  # bytes of a body that is read of a refusal
_LONGEST_LIST: Final = 1_000_000  # bytes of the list of models


class ApiError(Exception):
    """A refusal of the service. status: 200 for one within a stream. kind: the service's own name of it, or "".

    said: the service's words, for searching only.
    """

    def __init__(self, status: int, headers: Mapping[str, str], said: object) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.headers = headers
        self.kind = json_text(said, "error", "type")
        self.said = said


class MessagesApi:
    """Requests to one address, with one key. Redirects to another server raise RedirectedAway."""

    def __init__(self, base_url: str, key: str, *, connect_seconds: float, idle_seconds: float) -> None:
        """idle_seconds: longest silence of the server. Raises ConfigError when the environment allows no client."""
        import httpx

        base = f"{base_url.rstrip('/')}/"
        with building_client():
            self._http = httpx.AsyncClient(
                base_url=base,
                timeout=httpx.Timeout(idle_seconds, connect=connect_seconds),
                headers={
                    "x-api-key": key,
                    "anthropic-version": _VERSION,
                    "user-agent": "kenobot",
                    "accept-encoding": "identity",
                },
                follow_redirects=True,
            )
        self._http.event_hooks = {"request": [only_to(httpx.URL(base))], "response": []}

    async def open(self, body: Mapping[str, object]) -> "EventStream":
        """Send a request; return its answer once that has begun.

        Raises ApiError, errors of the connection, and StrangeAnswer for what is no stream, or a compressed one, of
        which nothing tells how long it will be.
        """
        request = self._http.build_request("POST", "v1/messages", json={**body, "stream": True})
        response = await self._http.send(request, stream=True)
        try:
            if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
                raise StrangeAnswer("something compressed")
            if not response.is_success:
                said = _parsed(await _beginning(response, _LONGEST_ERROR))
                raise ApiError(response.status_code, response.headers, said)
            check_stream(response.headers)
        except BaseException:
            await response.aclose()
            raise
        return EventStream(response)

    async def models(self) -> list[str]:
        """List the ids of the models, in the service's order. Raises ApiError, and errors of the connection."""
        async with self._http.stream("GET", "v1/models", params={"limit": 100}) as response:
            said = _parsed(await _beginning(response, _LONGEST_LIST))
        if not response.is_success:
            raise ApiError(response.status_code, response.headers, said)
        listed = json_field(said, "data")
        if not isinstance(listed, list):
            raise ValueError("no list of models")
        return [name for each in listed if (name := json_text(each, "id"))]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


class EventStream:
    """The events of an answer, in their order. `aclose` it in any case."""

    def __init__(self, response: "httpx.Response") -> None:
        self._response = response
        self._chunks = response.aiter_bytes()
        self._decoder = SseDecoder()
        self._decoded: deque[bytes] = deque()  # bounded: the events of one chunk; turn

    async def __anext__(self) -> Event:
        """Return the next event. Raises ApiError for one that is an error, ValueError for one that is no JSON."""
        while not self._decoded:
            self._decoded.extend(self._decoder.feed(await anext(self._chunks)))
        event = json.loads(self._decoded.popleft())
        if not isinstance(event, dict):
            raise ValueError("an event that is no object")
        if event.get("type") == "error":
            raise ApiError(self._response.status_code, self._response.headers, event)
        return event

    async def aclose(self) -> None:
        """Give the connection back, or close it when the answer has not ended."""
        await self._response.aclose()


class SseDecoder:
    """Finds the data of server-sent events in chunks that are cut anywhere.

    Lines end at LF or CRLF, and nowhere else: a text may hold other line separators.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []  # bounded: _LONGEST_EVENT bytes; turn

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of the events that end within `chunk`. Raises EndlessAnswer for one that is too long."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        found: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip(b" \r"))
            elif not line.strip(b"\r") and self._data:
                found.append(b"\n".join(self._data))
                self._data = []
        if len(self._rest) + sum(map(len, self._data)) > _LONGEST_EVENT:
            raise EndlessAnswer
        return found


def json_field(value: object, *names: str) -> object:
    """Return what stands under `names` within JSON, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def json_text(value: object, *names: str) -> str:
    """Return the text that stands under `names` within JSON, or ""."""
    found = json_field(value, *names)
    return found if isinstance(found, str) else ""


async def _beginning(response: "httpx.Response", longest: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > longest:
            break
    return bytes(body[:longest])


def _parsed(body: bytes) -> object:
    """Parse JSON; what is none comes as the text it is."""
    text = body.decode("utf-8", "replace")
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed
