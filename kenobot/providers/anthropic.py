"""Stream replies from Anthropic's Messages API through the official SDK."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from pydantic import BaseModel, Field, SecretStr

from kenobot.core.network import HttpAddress, building_client
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, RemoteError, TruncatedReply
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Block, Content, Delta, Image, Message, Request, ToolCall, ToolResult, ToolSpec, Usage
from kenobot.providers.pictures import load_pictures, without_pictures
from kenobot.providers.service import (
    STATUS_OF,
    ServiceErrors,
    StrangeAnswer,
    check_key,
    check_stream,
    read_stream,
    refuse_other_hosts,
    retry_after,
    well_formed,
)
from kenobot.providers.thinking import ThinkingFilter
from kenobot.providers.tool_calls import CallCollector, call_numbers, results_first

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic, AsyncStream
    from anthropic.types import MessageParam, RawMessageStreamEvent, TextBlockParam, ToolParam

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
    connect_seconds: ClassVar[float] = 10
    idle_seconds: ClassVar[float] = 60
    total_seconds: ClassVar[float] = 300


class AnthropicProvider:
    """Streams replies and never retries."""

    name = "anthropic"

    def __init__(self, client: "AsyncAnthropic", settings: AnthropicSettings, clock: Clock, home: Path) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._home = home
        self._errors = ServiceErrors("Anthropic", settings.model)

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._settings.model

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text and tool calls as they arrive, then one delta with the stop reason, the usage and the model.

        Thinking is left out, also where the text has it. Raises RateLimited, Unavailable, Rejected, and TruncatedReply
        when the stream ends without a stop reason; their texts hold neither the key nor the server's words.
        """
        try:
            async with asyncio.timeout(self._settings.total_seconds) as limit:
                events = await self._open(request)
        except Exception as error:
            raise self._translate(error) from None
        end = _End(CallCollector(request), ThinkingFilter(asked=request.asked))
        try:
            async with aclosing(read_stream(events, end, limit.when(), self._translate)) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            await events.close()
        if end.stop_reason is None:
            raise TruncatedReply("providers.anthropic_broke_off")
        for call in end.calls.finish_all():
            yield Delta(call=call)
        text, replaces = end.thinking.rest()
        yield Delta(text, end.stop_reason, end.usage, end.model, replaces=replaces)

    async def models(self) -> tuple[str, ...]:
        """List the models that the key may use, the newest first. Raises RemoteError."""
        try:
            async with asyncio.timeout(self._settings.total_seconds):
                page = await self._client.models.list(limit=100)
            return tuple(model.id for model in page.data)
        except Exception as error:
            raise self._translate(error) from None

    async def aclose(self) -> None:
        """Close the connections. The provider cannot be used after this."""
        await self._client.close()

    async def _open(self, request: Request) -> "AsyncStream[RawMessageStreamEvent]":
        from anthropic import omit

        system, messages = request_payload(request, await load_pictures(self._home, request))
        events = await self._client.messages.create(
            model=self._settings.model,
            max_tokens=request.max_tokens,
            system=system or omit,
            messages=messages,
            tools=[_tool(spec) for spec in request.tools] or omit,
            output_config={"effort": self._settings.effort} if self._settings.effort else omit,
            stream=True,
        )
        try:
            check_stream(events.response.headers)
        except StrangeAnswer:
            await events.close()
            raise
        return events

    def _translate(self, error: Exception) -> RemoteError:
        from anthropic import APIStatusError

        if isinstance(error, RemoteError):
            return error
        if isinstance(error, APIStatusError):
            return self._of_status(error)
        return self._errors.of_connection(error, self._settings.total_seconds)

    def _of_status(self, error: "APIStatusError") -> RemoteError:
        # An error inside a stream arrives under status 200, with the API's own name for it.
        status = error.status_code if error.status_code >= 400 else STATUS_OF.get(str(error.type), 500)
        if error.type == "overloaded_error":
            status = 529
        wait = retry_after(error.response.headers, self._clock) if error.status_code >= 400 else None
        return self._errors.of_status(status, error.type, wait, error.body, error.response.headers)


@dataclass(slots=True)
class _End:
    """The calls, stop reason, usage and model of a stream so far."""

    calls: CallCollector
    thinking: ThinkingFilter  # in the text, as of some models behind this API
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    def take(self, event: "RawMessageStreamEvent") -> Delta | None:
        """Add the figures of `event` and return its text or the call that it completes, if it has any."""
        if event.type == "content_block_delta":
            if event.delta.type == "text_delta":
                text: object = event.delta.text
                passed = self.thinking.take(text if isinstance(text, str) else "")
                return Delta(text=passed.text, replaces=passed.replaces) if any(passed) else None
            if event.delta.type == "input_json_delta":
                self.calls.add(event.index, event.delta.partial_json)
        elif event.type == "content_block_start":
            if event.content_block.type == "tool_use":
                self.calls.begin(event.index, event.content_block.id, event.content_block.name)
        elif event.type == "content_block_stop":
            call = self.calls.finish(event.index)
            return Delta(call=call) if call else None
        elif event.type == "message_start":
            self.model = event.message.model
            self._count(event.message.usage)
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
            self._count(event.usage)
        return None

    def _count(self, usage: object) -> None:
        # Figures are cumulative, and the last event leaves out those that have not changed.
        figures = {ours: getattr(usage, theirs, None) for ours, theirs in _FIGURES.items()}
        self.usage = replace(self.usage, **{name: value for name, value in figures.items() if isinstance(value, int)})


def request_payload(
    request: Request, pictures: Mapping[str, str] | None = None
) -> "tuple[list[TextBlockParam], list[MessageParam]]":
    """Compose the system blocks and messages in the API's form. pictures: in base64, by digest; of others a note.

    Blank blocks are left out and neighbours of one role merged. Of the cache marks the last four count.
    """
    shown = pictures or {}
    request = without_pictures(request, shown)
    system = _drop_blank(request.system)
    written = [(message.role, content) for message in request.messages for content in _contents(message)]
    every = [*system, *(content for _, content in written)]
    ids = call_numbers(request)
    params = [_param(content, ids, shown) for content in every]
    for at in [at for at, each in enumerate(every) if isinstance(each, Block) and each.cache][-MOST_BREAKPOINTS:]:
        params[at]["cache_control"] = {"type": "ephemeral"}
    rest = iter(params)
    system_params = list(islice(rest, len(system)))
    turns = [(role, len(list(contents))) for role, contents in groupby(written, itemgetter(0))]
    messages = [{"role": role, "content": list(islice(rest, count))} for role, count in turns]
    return cast("list[TextBlockParam]", system_params), cast("list[MessageParam]", messages)


def _contents(message: Message) -> list[Content]:
    """Return what a message holds but for blank text."""
    return [each for each in results_first(message.blocks) if not isinstance(each, Block) or each.text.strip()]


def _param(content: Content, ids: Mapping[str, str], pictures: Mapping[str, str]) -> dict[str, Any]:
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


def _tool(spec: ToolSpec) -> "ToolParam":
    schema = cast("dict[str, object]", spec.schema)
    return {"name": spec.name, "description": spec.description, "input_schema": schema}


def _drop_blank(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.text.strip()]


def build(settings: AnthropicSettings, surroundings: PluginContext) -> AnthropicProvider:
    """Build a provider. Raises ConfigError when the key is missing or cannot be one."""
    key = check_key(settings.api_key.get_secret_value(), "Anthropic")
    if not key:
        raise ConfigError("providers.no_anthropic_key")
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout

    from kenobot.providers.bounded import bound_answer
    from kenobot.providers.certificates import load_certificates

    timeout = Timeout(settings.idle_seconds, connect=settings.connect_seconds)
    with building_client():
        headers = {"accept-encoding": "identity"}
        http = DefaultAsyncHttpxClient(timeout=timeout, headers=headers, verify=load_certificates())
        client = AsyncAnthropic(
            api_key=key, base_url=settings.base_url, timeout=timeout, max_retries=0, http_client=http
        )
    http.event_hooks = {"request": [refuse_other_hosts(client.base_url)], "response": [bound_answer]}
    return AnthropicProvider(client, settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=AnthropicSettings, build=build)
