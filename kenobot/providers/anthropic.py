"""Anthropic's Messages API through the official SDK. Nothing else in the house knows that SDK."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Literal, cast

from pydantic import BaseModel, Field, SecretStr

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
from kenobot.ports.provider import Block, Delta, Request, Role, Usage

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic, AsyncStream
    from anthropic.types import MessageParam, RawMessageStreamEvent, TextBlockParam

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
_REFUSED = "Anthropic refused the request, and asking again will not help."

_TOO_LONG = ("prompt is too long", "context window", "context limit", "context length")

# An error inside a stream arrives under status 200: there only the API's own name for it tells what happened.
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
_ERROR_NAME = re.compile(r"[a-z_]{1,60}")


class AnthropicSettings(BaseModel, extra="forbid", frozen=True):
    """What the owner can set.

    connect_seconds: how long to wait for a connection. idle_seconds: the longest silence; the API's pings end it.
    total_seconds: the longest a whole reply may take. effort: how much the model thinks and writes; "" leaves it to
    the model, which models older than the 4.6 generation need.
    """

    api_key: SecretStr = SecretStr("")
    model: str = Field("claude-sonnet-5-5", min_length=1)
    effort: Literal["", "low", "medium", "high", "xhigh", "max"] = "low"
    base_url: str = "https://api.anthropic.com"
    connect_seconds: float = Field(10, gt=0)
    idle_seconds: float = Field(60, gt=0)
    total_seconds: float = Field(300, gt=0)


class AnthropicProvider:
    """Streams replies. It never retries by itself: the core decides about that."""

    name = "anthropic"

    def __init__(self, client: "AsyncAnthropic", settings: AnthropicSettings, clock: Clock) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text as it arrives, then one delta with the stop reason, the usage and the model.

        Only text is yielded: thinking and tool blocks are not for people's eyes.

        Raises RateLimited, Unavailable and Rejected, and TruncatedReply when the stream ends without a stop reason.
        Their texts hold neither the key nor what the server wrote, and they hide the SDK's own errors, which do.
        """
        system, messages = request_payload(request)
        try:
            async with asyncio.timeout(self._settings.total_seconds) as limit:
                events = await self._open(system, messages, request.max_tokens)
        except Exception as error:
            raise self._translated(error) from None
        end = _End()
        try:
            while True:
                try:
                    # Not around the `yield`: a limit that is up while the reader works would cancel the reader.
                    async with asyncio.timeout_at(limit.when()):
                        event = await anext(events, None)
                except Exception as error:
                    raise self._translated(error) from None
                if event is None:
                    break
                if text := end.take(event):
                    yield Delta(text=text)
        finally:
            await events.close()
        if end.stop_reason is None:
            raise TruncatedReply("The answer from Anthropic broke off before its end.")
        yield Delta(stop_reason=end.stop_reason, usage=end.usage, model=end.model)

    async def aclose(self) -> None:
        """Close the connections. The provider cannot be used after this."""
        await self._client.close()

    async def _open(
        self, system: "list[TextBlockParam]", messages: "list[MessageParam]", max_tokens: int
    ) -> "AsyncStream[RawMessageStreamEvent]":
        from anthropic import omit

        return await self._client.messages.create(
            model=self._settings.model,
            max_tokens=max_tokens,
            system=system or omit,
            messages=messages,
            output_config={"effort": self._settings.effort} if self._settings.effort else omit,
            stream=True,
        )

    def _translated(self, error: Exception) -> RemoteError:
        from anthropic import APIStatusError

        if isinstance(error, APIStatusError):
            return self._of_status(error)
        if isinstance(error, TimeoutError):
            return Unavailable(f"Anthropic took longer than {self._settings.total_seconds:g} seconds to answer.")
        # Anything else the SDK lets out while it talks to the server is trouble on the line: connection errors,
        # its HTTP library's own errors and JSON errors in the middle of a stream have no base class in common.
        kind = type(error.__cause__ or error).__name__
        return Unavailable(f"The connection to Anthropic failed ({kind}): check the network, then try again.")

    def _of_status(self, error: "APIStatusError") -> RemoteError:
        name = error.type if isinstance(error.type, str) and _ERROR_NAME.fullmatch(error.type) else ""
        status = error.status_code if error.status_code >= 400 else _STATUS_OF.get(name, 500)
        if name == "overloaded_error":
            status = 529
        mark = f" ({status} {name})" if name else f" ({status})"
        wait = retry_after(error.response.headers, self._clock) if error.status_code >= 400 else None
        if status == 429:
            return RateLimited("Anthropic asks for a pause: its rate limit is reached." + mark, wait)
        if status >= 500 or status in (408, 409):
            return Unavailable("Anthropic cannot answer right now: try again in a few minutes." + mark, wait)
        refusal = _REFUSALS.get(status, _REFUSED).format(model=self._settings.model) + mark
        return PromptTooLong(refusal) if status == 413 or _is_too_long(error) else Rejected(refusal)


def _is_too_long(error: "APIStatusError") -> bool:
    """Whether the API says that the prompt does not fit; it has no error name of its own for that."""
    said = str(error.body or "")[:2000].lower()
    return error.status_code in (200, 400) and any(phrase in said for phrase in _TOO_LONG)


@dataclass(slots=True)
class _End:
    """What a stream has told about its end so far."""

    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    def take(self, event: "RawMessageStreamEvent") -> str:
        """Note what `event` tells and return its text, if it has any."""
        if event.type == "content_block_delta":
            return event.delta.text if event.delta.type == "text_delta" else ""
        if event.type == "message_start":
            self.model = event.message.model
            self._count(event.message.usage)
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
            self._count(event.usage)
        return ""

    def _count(self, usage: object) -> None:
        names = {
            "input_tokens": "input_tokens",
            "output_tokens": "output_tokens",
            "cache_read_tokens": "cache_read_input_tokens",
            "cache_write_tokens": "cache_creation_input_tokens",
        }
        # Figures are cumulative, and the last event leaves out what has not changed.
        told = {ours: getattr(usage, theirs, None) for ours, theirs in names.items()}
        self.usage = replace(self.usage, **{ours: figure for ours, figure in told.items() if isinstance(figure, int)})


def request_payload(request: Request) -> "tuple[list[TextBlockParam], list[MessageParam]]":
    """The system blocks and messages in the API's form.

    Blank blocks are left out and neighbours of one role merged, for the API refuses the ones and dislikes the others.
    Of the cache marks the last four count.
    """
    turns: list[tuple[Role, list[Block]]] = []
    for message in request.messages:
        blocks = _solid(message.text_blocks)
        if blocks and turns and turns[-1][0] == message.role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((message.role, blocks))
    system = _solid(request.system)
    every = [*system, *(block for _, blocks in turns for block in blocks)]
    spare = max(0, sum(block.cache for block in every) - MOST_BREAKPOINTS)
    params: list[TextBlockParam] = []
    for block in every:
        param: TextBlockParam = {"type": "text", "text": _well_formed(block.text)}
        if block.cache and spare:
            spare -= 1
        elif block.cache:
            param["cache_control"] = {"type": "ephemeral"}
        params.append(param)
    messages: list[MessageParam] = []
    start = len(system)
    for role, blocks in turns:
        messages.append(cast("MessageParam", {"role": role, "content": params[start : start + len(blocks)]}))
        start += len(blocks)
    return params[: len(system)], messages


def _solid(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.text.strip()]


def _well_formed(text: str) -> str:
    """`text` with lone surrogates replaced, which UTF-8 and so JSON cannot carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """How many seconds the server asks us to wait; None when it does not say so, or not in a way we understand."""
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
    """A provider ready to stream. Raises ConfigError when the key is missing or cannot be one."""
    key = settings.api_key.get_secret_value().strip()
    if not key:
        raise ConfigError("There is no Anthropic API key: run `kenobot setup` or set ANTHROPIC_API_KEY.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError("The Anthropic API key has characters that no key has: copy it again with `kenobot setup`.")
    from anthropic import AsyncAnthropic, Timeout

    timeout = Timeout(settings.idle_seconds, connect=settings.connect_seconds)
    client = AsyncAnthropic(api_key=key, base_url=settings.base_url, timeout=timeout, max_retries=0)
    return AnthropicProvider(client, settings, surroundings.clock)


plugin = Plugin(settings=AnthropicSettings, build=build)
