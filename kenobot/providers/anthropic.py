"""Stream replies from Anthropic's Messages API."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import groupby, islice
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field, SecretStr

from kenobot.core import lazy
from kenobot.core.network import HttpAddress, building_client
from kenobot.ports.clock import Clock
from kenobot.ports.errors import (
    ConfigError,
    PromptTooLong,
    RateLimited,
    Rejected,
    RemoteError,
    TruncatedReply,
    Unavailable,
)
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Block, Delta, Json, Request, Usage
from kenobot.providers.server_sent_events import decode_events

if TYPE_CHECKING:
    import httpx

API_VERSION = "2026-10-21"
MOST_BREAKPOINTS = 4  # of the prompt cache in one request, says the API

_KEY_REFUSED = "Anthropic refused the API key: check it with `kenobot setup`."
_MALFORMED = (
    "Anthropic refused the request: the conversation may be too long for {model}, "
    "or {model} does not take the configured `effort`."
)
_REFUSALS: dict[int, str] = {
    400: _MALFORMED,
    401: _KEY_REFUSED,
    402: "Anthropic wants to be paid first: add credit to the account of this API key.",
    403: _KEY_REFUSED,
    404: "Anthropic does not know the model {model}: set another `model` for this provider.",
    413: "The conversation is too long for Anthropic: start a shorter one.",
    422: _MALFORMED,
}
_REDIRECTED = (
    "Anthropic's address sends requests on to another server, and KenoBot does not follow: "
    "check `base_url` of this provider, and what stands between here and there."
)
_REFUSED = "Anthropic refused the request, and asking again will not help."

_TOO_LONG = ("prompt is too long", "context window", "context limit", "context length")

# An error inside a stream arrives under status 200, with the API's own name for it.
_STATUS_OF: dict[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_ERROR_NAME = lazy.regex(r"[a-z_]{1,60}")
_MOST_OF_AN_ERROR = 65_536  # bytes of an error's body that are read
_FIGURES = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


class AnthropicSettings(BaseModel, extra="forbid", frozen=True):
    """effort: how much the model thinks and writes; "" leaves it to the model, as those before 4.6 need.

    idle_seconds: longest silence within a reply, which the API's pings end. total_seconds: longest whole reply.
    """

    api_key: SecretStr = SecretStr("")
    model: str = Field("claude-sonnet-5-5", min_length=1)
    effort: Literal["", "low", "medium", "high", "xhigh", "max"] = "low"
    base_url: HttpAddress = "https://api.anthropic.com"
    connect_seconds: float = Field(10, gt=0)
    idle_seconds: float = Field(60, gt=0)
    total_seconds: float = Field(300, gt=0)


class _RedirectedAway(Exception):
    """The server sent a request on to another one."""


@dataclass(eq=False)
class _ApiError(Exception):
    """The API refused, by the status of its answer or by an event inside one. name, message: the API's own."""

    status: int
    headers: Mapping[str, str]
    name: str
    message: str


class AnthropicProvider:
    """Streams replies and never retries."""

    name = "anthropic"

    def __init__(self, client: "httpx.AsyncClient", settings: AnthropicSettings, clock: Clock) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text as it arrives, then one delta with the stop reason, the usage and the model.

        Thinking and tool blocks are left out. Raises RateLimited, Unavailable, Rejected, and TruncatedReply when the
        stream ends without a stop reason; their texts hold neither the key nor the server's words.
        """
        try:
            async with asyncio.timeout(self._settings.total_seconds) as limit:
                response = await self._open(request_body(request, self._settings))
        except Exception as error:
            raise self._translated(error) from None
        end = _End()
        events = _read_events(response)
        try:
            while True:
                try:
                    # Not around the `yield`, where the limit would cancel the reader.
                    async with asyncio.timeout_at(limit.when()):
                        event = await anext(events, None)
                except Exception as error:
                    raise self._translated(error) from None
                if event is None:
                    break
                if text := end.take(event):
                    yield Delta(text=text)
        finally:
            await response.aclose()
        if end.stop_reason is None:
            raise TruncatedReply("The answer from Anthropic broke off before its end.")
        yield Delta(stop_reason=end.stop_reason, usage=end.usage, model=end.model)

    async def aclose(self) -> None:
        """Close the connections. The provider cannot be used after this."""
        await self._client.aclose()

    async def _open(self, body: dict[str, Json]) -> "httpx.Response":
        """Return the answer whose events can be read. Raises _ApiError when it is a refusal."""
        sent = json.dumps(body, ensure_ascii=False).encode()
        response = await self._client.send(self._client.build_request("POST", "v1/messages", content=sent), stream=True)
        if response.is_success:
            return response
        try:
            said = b""
            async for chunk in response.aiter_bytes():
                said += chunk
                if len(said) > _MOST_OF_AN_ERROR:
                    break
        finally:
            await response.aclose()
        raise _refusal(response, said)

    def _translated(self, error: Exception) -> RemoteError:
        if isinstance(error, _ApiError):
            return self._of_status(error)
        if isinstance(error, _RedirectedAway):
            return Rejected(_REDIRECTED)
        if isinstance(error, TimeoutError):
            return Unavailable(f"Anthropic took longer than {self._settings.total_seconds:g} seconds to answer.")
        # The HTTP library's errors and those of JSON and UTF-8 within a stream have no base class in common.
        return Unavailable(
            f"The connection to Anthropic failed ({type(error).__name__}): check the network, then try again."
        )

    def _of_status(self, error: _ApiError) -> RemoteError:
        name = error.name if _ERROR_NAME.fullmatch(error.name) else ""
        status = error.status if error.status >= 400 else _STATUS_OF.get(name, 500)
        if name == "overloaded_error":
            status = 529
        mark = f" ({status} {name})" if name else f" ({status})"
        wait = retry_after(error.headers, self._clock) if error.status >= 400 else None
        if status == 429:
            return RateLimited("Anthropic asks for a pause: its rate limit is reached." + mark, wait)
        if status >= 500 or status in (408, 409):
            return Unavailable("Anthropic cannot answer right now: try again in a few minutes." + mark, wait)
        refusal = _REFUSALS.get(status, _REFUSED).format(model=self._settings.model) + mark
        return PromptTooLong(refusal) if status == 413 or _is_too_long(error) else Rejected(refusal)


def _is_too_long(error: _ApiError) -> bool:
    """Return whether the API says that the prompt does not fit, for which it has no error name."""
    said = error.message[:2000].lower()
    return error.status in (200, 400) and any(phrase in said for phrase in _TOO_LONG)


async def _read_events(response: "httpx.Response") -> AsyncIterator[Mapping[str, Json]]:
    """Yield the API's events. Raises _ApiError for one that is an error, and ValueError for what is no JSON."""
    async for event in decode_events(response.aiter_bytes()):
        if event.name == "error":
            raise _refusal(response, event.data)
        parsed = json.loads(event.data)
        if isinstance(parsed, dict):
            yield parsed


def _refusal(response: "httpx.Response", body: str | bytes) -> _ApiError:
    """Return the error with which the API answers. body: its JSON, or whatever stands between here and there sent."""
    error: Mapping[str, Json] = {}
    with contextlib.suppress(ValueError, RecursionError):
        parsed = json.loads(body)
        error = _mapping(parsed.get("error") if isinstance(parsed, dict) else None)
    return _ApiError(response.status_code, response.headers, _text(error, "type"), _text(error, "message"))


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(found: Mapping[str, Json], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _End:
    """The stop reason, usage and model of a stream so far."""

    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    def take(self, event: Mapping[str, Json]) -> str:
        """Add the figures of `event` and return its text, if it has any."""
        kind, delta = event.get("type"), _mapping(event.get("delta"))
        if kind == "content_block_delta":
            return _text(delta, "text") if delta.get("type") == "text_delta" else ""
        if kind == "message_start":
            message = _mapping(event.get("message"))
            self.model = _text(message, "model")
            self._count(_mapping(message.get("usage")))
        elif kind == "message_delta":
            self.stop_reason = _text(delta, "stop_reason") or self.stop_reason
            self._count(_mapping(event.get("usage")))
        return ""

    def _count(self, usage: Mapping[str, Json]) -> None:
        # Figures are cumulative, and the last event leaves out those that have not changed.
        figures = {ours: usage.get(theirs) for ours, theirs in _FIGURES.items()}
        self.usage = replace(self.usage, **{name: value for name, value in figures.items() if isinstance(value, int)})


def request_body(request: Request, settings: AnthropicSettings) -> dict[str, Json]:
    """Compose what is sent. A blank system prompt and an unset effort are left out."""
    system, messages = request_payload(request)
    body: dict[str, Json] = {
        "model": settings.model,
        "max_tokens": request.max_tokens,
        "messages": messages,
        "stream": True,
    }
    if system:
        body["system"] = system
    if settings.effort:
        body["output_config"] = {"effort": settings.effort}
    return body


def request_payload(request: Request) -> tuple[list[Json], list[Json]]:
    """Compose the system blocks and messages in the API's form.

    Blank blocks are left out and neighbours of one role merged. Of the cache marks the last four count.
    """
    system = _solid(request.system)
    written = [(message.role, block) for message in request.messages for block in _solid(message.text_blocks)]
    every = [*system, *(block for _, block in written)]
    params: list[dict[str, Json]] = [{"type": "text", "text": _well_formed(block.text)} for block in every]
    for at in [at for at, block in enumerate(every) if block.cache][-MOST_BREAKPOINTS:]:
        params[at]["cache_control"] = {"type": "ephemeral"}
    rest: Iterator[Json] = iter(params)
    system_params = list(islice(rest, len(system)))
    turns = [(role, len(list(blocks))) for role, blocks in groupby(written, itemgetter(0))]
    return system_params, [{"role": role, "content": list(islice(rest, count))} for role, count in turns]


def _solid(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.text.strip()]


def _well_formed(text: str) -> str:
    """Replace lone surrogates, which JSON cannot carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Parse the pause that the server asks for, in seconds; None when it asks for none."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = (headers.get(name) or "").strip()
        try:
            seconds = float(value) * factor
        except ValueError:
            continue
        if isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after") or "")
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - clock.now()).total_seconds())


def build(settings: AnthropicSettings, surroundings: PluginContext) -> AnthropicProvider:
    """Build a provider. Raises ConfigError when the key is missing or cannot be one."""
    key = settings.api_key.get_secret_value().strip()
    if not key:
        raise ConfigError("There is no Anthropic API key: run `kenobot setup` or set ANTHROPIC_API_KEY.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError("The Anthropic API key has characters that no key has: copy it again with `kenobot setup`.")
    import httpx

    with building_client():
        client = httpx.AsyncClient(
            base_url=settings.base_url,
            headers={
                "authorization": f"Bearer {key}",
                "anthropic-version": API_VERSION,
                "content-type": "application/json",
                "accept": "application/json",  # as the official client: what streams is asked for in the body
                "user-agent": "KenoBot",
            },
            timeout=httpx.Timeout(settings.idle_seconds, connect=settings.connect_seconds),
            follow_redirects=True,
        )
    client.event_hooks = {"request": [_only_to(client.base_url)], "response": []}
    return AnthropicProvider(client, settings, surroundings.clock)


def _only_to(home: "httpx.URL") -> "Callable[[httpx.Request], Awaitable[None]]":
    """Return a hook that refuses redirects to another server: the conversation and the key go to `home` alone."""
    allowed = {(scheme, home.host, home.port) for scheme in (home.scheme, "https")}

    async def check(request: "httpx.Request") -> None:
        if (request.url.scheme, request.url.host, request.url.port) not in allowed:
            raise _RedirectedAway

    return check


plugin = Plugin(settings=AnthropicSettings, build=build)
