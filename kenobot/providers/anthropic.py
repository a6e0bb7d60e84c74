"""Stream replies from Anthropic's Messages API."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr

from kenobot.core.network import HttpAddress
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, RemoteError, TruncatedReply
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Block, Content, Delta, Image, Message, Request, ToolCall, ToolResult, ToolSpec, Usage
from kenobot.providers.messages_api import ApiError, Event, EventStream, MessagesApi, json_field, json_text
from kenobot.providers.pictures import load_pictures, without_pictures
from kenobot.providers.service import STATUS_OF, ServiceErrors, check_key, retry_after, well_formed
from kenobot.providers.tool_calls import CallCollector, call_numbers

_Param = dict[str, Any]

MOST_BREAKPOINTS = 4  # of the prompt cache in one request, says the API

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


class AnthropicProvider:
    """Streams replies and never retries."""

    name = "anthropic"

    def __init__(self, api: MessagesApi, settings: AnthropicSettings, clock: Clock, home: Path) -> None:
        self._api = api
        self._settings = settings
        self._clock = clock
        self._home = home
        self._errors = ServiceErrors("Anthropic", settings.model)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text and tool calls as they arrive, then one delta with the stop reason, the usage and the model.

        Thinking is left out. Raises RateLimited, Unavailable, Rejected, and TruncatedReply when the stream ends without
        a stop reason; their texts hold neither the key nor the server's words.
        """
        try:
            async with asyncio.timeout(self._settings.total_seconds) as limit:
                events = await self._open(request)
        except Exception as error:
            raise self._translated(error) from None
        end = _End(CallCollector(request))
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
                if delta := end.take(event):
                    yield delta
        finally:
            await events.aclose()
        if end.stop_reason is None:
            raise TruncatedReply("The answer from Anthropic broke off before its end.")
        for call in end.calls.finish_all():
            yield Delta(call=call)
        yield Delta(stop_reason=end.stop_reason, usage=end.usage, model=end.model)

    async def models(self) -> tuple[str, ...]:
        """List the models that the key may use, the newest first. Raises RemoteError."""
        try:
            async with asyncio.timeout(self._settings.total_seconds):
                return tuple(await self._api.models())
        except Exception as error:
            raise self._translated(error) from None

    async def aclose(self) -> None:
        """Close the connections. The provider cannot be used after this."""
        await self._api.aclose()

    async def _open(self, request: Request) -> EventStream:
        system, messages = request_payload(request, await load_pictures(self._home, request))
        body: dict[str, object] = {
            "model": self._settings.model,
            "max_tokens": request.max_tokens,
            "messages": messages,
        }
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if self._settings.effort:
            body["output_config"] = {"effort": self._settings.effort}
        return await self._api.open(body)

    def _translated(self, error: Exception) -> RemoteError:
        if isinstance(error, RemoteError):
            return error
        if isinstance(error, ApiError):
            return self._of_status(error)
        return self._errors.of_connection(error, self._settings.total_seconds)

    def _of_status(self, error: ApiError) -> RemoteError:
        # An error inside a stream arrives under status 200, with the API's own name for it.
        status = error.status if error.status >= 400 else STATUS_OF.get(error.kind, 500)
        if error.kind == "overloaded_error":
            status = 529
        wait = retry_after(error.headers, self._clock) if error.status >= 400 else None
        return self._errors.of_status(status, error.kind, wait, error.said)


@dataclass(slots=True)
class _End:
    """The calls, stop reason, usage and model of a stream so far."""

    calls: CallCollector
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    def take(self, event: Event) -> Delta | None:
        """Add the figures of `event` and return its text or the call that it completes, if it has any."""
        number = _number(event)
        match event.get("type"), json_field(event, "delta", "type"):
            case "content_block_delta", "text_delta":
                text = json_text(event, "delta", "text")
                return Delta(text=text) if text else None
            case "content_block_delta", "input_json_delta":
                self.calls.add(number, json_text(event, "delta", "partial_json"))
            case "content_block_start", _ if json_field(event, "content_block", "type") == "tool_use":
                id, name = json_text(event, "content_block", "id"), json_text(event, "content_block", "name")
                self.calls.begin(number, id, name)
            case "content_block_stop", _:
                call = self.calls.finish(number)
                return Delta(call=call) if call else None
            case "message_start", _:
                self.model = json_text(event, "message", "model")
                self._count(json_field(event, "message", "usage"))
            case "message_delta", _:
                self.stop_reason = json_text(event, "delta", "stop_reason") or self.stop_reason
                self._count(event.get("usage"))
        return None

    def _count(self, usage: object) -> None:
        # Figures are cumulative, and the last event leaves out those that have not changed.
        figures = {ours: json_field(usage, theirs) for ours, theirs in _FIGURES.items()}
        self.usage = replace(self.usage, **{name: value for name, value in figures.items() if isinstance(value, int)})


def _number(event: Event) -> int:
    number = event.get("index")
    return number if isinstance(number, int) else 0


def request_payload(request: Request, pictures: Mapping[str, str] | None = None) -> tuple[list[_Param], list[_Param]]:
    """Compose the system blocks and messages in the API's form. pictures: in base64, by digest; of others a note.

    Blank blocks are left out and neighbours of one role merged. Of the cache marks the last four count.
    """
    shown = pictures or {}
    request = without_pictures(request, shown)
    system = _solid(request.system)
    written = [(message.role, content) for message in request.messages for content in _contents(message)]
    every = [*system, *(content for _, content in written)]
    ids = call_numbers(request)
    params = [_param(content, ids, shown) for content in every]
    for at in [at for at, each in enumerate(every) if isinstance(each, Block) and each.cache][-MOST_BREAKPOINTS:]:
        params[at]["cache_control"] = {"type": "ephemeral"}
    rest = iter(params)
    system_params = list(islice(rest, len(system)))
    turns = [(role, len(list(contents))) for role, contents in groupby(written, itemgetter(0))]
    return system_params, [{"role": role, "content": list(islice(rest, count))} for role, count in turns]


def _contents(message: Message) -> list[Content]:
    """Return what a message holds but for blank text, the results of calls first, as the API demands."""
    solid = [each for each in message.blocks if not isinstance(each, Block) or each.text.strip()]
    return sorted(solid, key=lambda each: not isinstance(each, ToolResult))


def _param(content: Content, ids: Mapping[str, str], pictures: Mapping[str, str]) -> _Param:
    match content:
        case Block():
            return {"type": "text", "text": well_formed(content.text)}
        case Image():
            source = {"type": "base64", "media_type": content.mime, "data": pictures[content.digest]}
            return {"type": "image", "source": source}
        case ToolCall():
            return {"type": "tool_use", "id": ids[content.id], "name": content.name, "input": content.arguments}
        case ToolResult():
            result = {"type": "tool_result", "tool_use_id": ids[content.id], "content": well_formed(content.text)}
            return {**result, "is_error": True} if content.failed else result


def _tool(spec: ToolSpec) -> _Param:
    return {"name": spec.name, "description": spec.description, "input_schema": spec.schema}


def _solid(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.text.strip()]


def build(settings: AnthropicSettings, surroundings: PluginContext) -> AnthropicProvider:
    """Build a provider. Raises ConfigError when the key is missing or cannot be one."""
    key = check_key(settings.api_key.get_secret_value(), "Anthropic")
    if not key:
        raise ConfigError("There is no Anthropic API key: run `kenobot setup` or set ANTHROPIC_API_KEY.")
    api = MessagesApi(
        settings.base_url, key, connect_seconds=settings.connect_seconds, idle_seconds=settings.idle_seconds
    )
    return AnthropicProvider(api, settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=AnthropicSettings, build=build)
