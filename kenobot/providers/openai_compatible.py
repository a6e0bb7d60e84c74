"""Stream replies from OpenAI's chat API, and from the many services that speak it, through the official SDK."""

import asyncio
import json
import tomllib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from pydantic import BaseModel, Field, SecretStr, create_model, field_validator

from kenobot.core.network import HttpAddress, building_client, check_address
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, RemoteError, TruncatedReply
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Block, Content, Delta, Image, Request, Role, ToolCall, ToolResult, ToolSpec, Usage
from kenobot.ports.sentences import Sentence
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
    subtract_cached,
    well_formed,
)
from kenobot.providers.thinking import Passed, ThinkingFilter, opens_thoughts
from kenobot.providers.tool_calls import CallCollector, call_numbers, results_first
from kenobot.providers.written_calls import CallReader

if TYPE_CHECKING:
    import httpx2
    from openai import APIError, AsyncOpenAI, AsyncStream
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

_THOUGHTS = ("reasoning_content", "reasoning")
_UNPAID = "insufficient_quota"
_WHOLE = ("stop", "function_call", "tool_calls", "eos", "eos_token", "end_turn", "complete", "completed", "end", "done")


class Preset(BaseModel, extra="forbid", frozen=True):
    """One service, as `presets.toml` describes it. title: "" of a server that anybody may run."""

    title: str = ""
    base_url: str
    key: bool = True
    model: str = ""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage: bool = True
    cached: str = ""
    pictures: bool = False
    signature: str = ""

    @property
    def service(self) -> str:
        """Name the service for a person."""
        return self.title or Sentence("providers.the_server")


class ServiceSettings(BaseModel, extra="forbid", frozen=True):
    """effort: how much the model thinks; "" leaves it to the service. extra: further fields of a request, as they are.

    pictures: whether the model sees them; another is told that there was one.
    idle_seconds: longest silence within a reply. total_seconds: longest whole reply.
    """

    api_key: SecretStr = SecretStr("")
    model: str = ""
    base_url: str = ""
    effort: Literal["", "none", "minimal", "low", "medium", "high", "xhigh"] = ""
    pictures: bool = False
    extra: dict[str, bool | int | float | str] = Field(default_factory=dict)  # bounded: the settings; start
    idle_seconds: float = Field(120, gt=0, le=600)
    connect_seconds: ClassVar[float] = 10
    total_seconds: ClassVar[float] = 600

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, base_url: str) -> HttpAddress:
        return check_address(base_url) if base_url else base_url


class OpenAIProvider:
    """Streams replies and never retries."""

    def __init__(
        self, name: str, client: "AsyncOpenAI", preset: Preset, settings: ServiceSettings, clock: Clock, home: Path
    ) -> None:
        self.name = name
        self._home = home
        self._client = client
        self._preset = preset
        self._settings = settings
        self.sees_pictures = settings.pictures
        self._clock = clock
        self._errors = ServiceErrors(preset.service, settings.model)
        # A server of one's own may; after a reply, as that did.
        self._thinks_unopened = None if not preset.key else False

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._settings.model

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text as it arrives, then tool calls, then one delta with the stop reason, the usage and the model.

        Thinking is left out, also where the text has it. Raises RateLimited, Unavailable, Rejected, and TruncatedReply
        when the stream ends with neither a stop reason nor its own mark of an end; their texts hold neither the key nor
        the server's words.
        """
        thinking = ThinkingFilter(holds=self._thinks_unopened is not False, asked=request.asked)
        named = self._settings.model if self._thinks_unopened is None else None
        end = _End(self._preset.cached, CallCollector(request), CallReader(request), thinking, named)
        try:
            async with asyncio.timeout(self._settings.total_seconds) as limit:
                chunks = await self._open(request)
        except Exception as error:
            raise self._translate(error) from None
        try:
            async with aclosing(read_stream(chunks, end, limit.when(), self._translate)) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            await chunks.close()
        if end.stop_reason is None and not (end.has_begun and _has_ended(chunks)):
            raise TruncatedReply("providers.broke_off", title=self._preset.service)
        for delta in end.rest():
            yield delta
        self._thinks_unopened = thinking.has_orphan

    async def models(self) -> tuple[str, ...]:
        """List the models that the service offers, in its order. Raises RemoteError."""
        try:
            async with asyncio.timeout(self._settings.connect_seconds + self._settings.idle_seconds):
                page = await self._client.models.list()
            return tuple(model.id for model in page.data or [])
        except Exception as error:
            raise self._translate(error) from None

    async def aclose(self) -> None:
        """Close the connections. The provider cannot be used after this."""
        await self._client.close()

    async def _open(self, request: Request) -> "AsyncStream[ChatCompletionChunk]":
        wanted: dict[str, Any] = {self._preset.limit: request.max_tokens, **self._settings.extra}
        if self._preset.usage:
            wanted["stream_options"] = {"include_usage": True}
        if self._settings.effort:
            wanted["reasoning_effort"] = self._settings.effort
        if request.tools:
            wanted["tools"] = [_tool(spec) for spec in request.tools]
        pictures = await load_pictures(self._home, request) if self._settings.pictures else {}
        messages = chat_messages(request, pictures, self._preset.signature)
        stream: AsyncStream[ChatCompletionChunk] = await self._client.chat.completions.create(
            model=self._settings.model, messages=messages, stream=True, extra_body=wanted
        )
        try:
            check_stream(stream.response.headers)
        except StrangeAnswer:
            await stream.close()
            raise
        return stream

    def _translate(self, error: Exception) -> RemoteError:
        from openai import APIError, APIStatusError

        if isinstance(error, RemoteError):
            return error
        if isinstance(error, APIStatusError):
            return self._of_status(error, error.status_code, retry_after(error.response.headers, self._clock))
        if isinstance(error, APIError) and isinstance(error.body, dict):  # within a stream, under status 200
            code = str(error.code or "")
            status = int(code) if code.isdecimal() else STATUS_OF.get(code) or STATUS_OF.get(str(error.type), 500)
            return self._of_status(error, status, None)
        return self._errors.of_connection(error, self._settings.total_seconds)

    def _of_status(self, error: "APIError", status: int, wait: float | None) -> RemoteError:
        from openai import APIStatusError

        unpaid = status == 429 and _UNPAID in (error.code, error.type)
        headers = error.response.headers if isinstance(error, APIStatusError) else None
        return self._errors.of_status(402 if unpaid else status, error.code or error.type, wait, error.body, headers)


def _has_ended(chunks: "AsyncStream[ChatCompletionChunk]") -> bool:
    from kenobot.providers.bounded import has_ended

    return has_ended(chunks.response)


@dataclass(slots=True)
class _End:
    """The calls, stop reason, usage and model of a stream so far.

    named: the model that was asked, where nothing but its name tells how it thinks.
    """

    cached: str
    calls: CallCollector
    _written: CallReader
    _thinking: ThinkingFilter
    _named: str | None = None
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    has_begun: bool = False
    _refused: bool = False

    def take(self, event: "ChatCompletionChunk") -> Delta | None:
        """Add the figures and calls of a chunk and return its text, if it has any."""
        self.model = event.model or self.model
        if event.usage:
            self._count(event.usage)
        passed = Passed("")
        for choice in (event.choices or [])[:1]:
            if choice.delta:  # a server may leave it out of the last chunk
                self._refused |= bool(choice.delta.refusal)
                text = _text(choice.delta.content)
                thought = any(getattr(choice.delta, name, None) for name in _THOUGHTS)
                self.has_begun |= bool(text or choice.delta.tool_calls or thought)
                if thought or (self._named is not None and opens_thoughts(f"{self._named} {self.model}")):
                    self._thinking.release()
                passed = self._thinking.take(text)
                for piece in choice.delta.tool_calls or ():
                    self._call(piece)
            self.stop_reason = choice.finish_reason or self.stop_reason
        text = self._without_calls(passed)
        return Delta(text=text, replaces=passed.replaces) if text or passed.replaces else None

    def rest(self) -> Iterator[Delta]:
        """Yield the calls, then the last delta with the text that was still held back."""
        passed = self._thinking.rest()
        text = self._without_calls(passed)
        held, written = self._written.rest()
        calls = self.calls.finish_all()
        if not calls:  # what is in the text too is one of them
            for number, (name, arguments) in enumerate(written):
                self.calls.take(number, "", name, arguments)
            calls = self.calls.finish_all()
        for call in calls:
            yield Delta(call=call)
        reason = (self.stop_reason or "stop").lower()
        if reason in _WHOLE:  # not every server tells by its stop reason that there are calls, or a refusal
            reason = "tool_calls" if calls else "refusal" if self._refused else "stop"
        yield Delta(text + held, reason, self.usage, self.model, replaces=passed.replaces)

    def _without_calls(self, passed: Passed) -> str:
        if passed.replaces:
            self._written.clear()
        return self._written.take(passed.text)

    def _call(self, piece: "ChoiceDeltaToolCall") -> None:
        given = piece.function
        arguments: object = given.arguments if given else None
        if not isinstance(arguments, str | None):  # a server may send them as an object
            arguments = json.dumps(arguments)
        name = given.name if given else None
        self.calls.take(piece.index, piece.id or "", name or "", arguments or "", _signature(piece))

    def _count(self, usage: "CompletionUsage") -> None:
        details = getattr(usage, "prompt_tokens_details", None)
        read = _figure(usage, self.cached) if self.cached else _figure(details, "cached_tokens")
        kept = _figure(details, "cache_write_tokens") or _figure(details, "cache_creation_tokens")
        whole, told = _figure(usage, "prompt_tokens"), _figure(usage, "completion_tokens")
        # Some leave the tokens of thinking out of those they wrote, and tell them by the total alone.
        thought = _figure(usage, "total_tokens") - whole - told if read + kept <= whole else 0
        self.usage = Usage(subtract_cached(whole, read, kept), told + max(0, thought), read, kept)


def _figure(told: object, name: str) -> int:
    """Return a figure that a service told; 0 where it is no number: the SDK does not look."""
    figure = getattr(told, name, None)
    return int(figure) if isinstance(figure, int | float) and isfinite(figure) else 0


def _text(content: object) -> str:
    """Return the text of a piece, of which some services make a list that has their thinking apart."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(_text(part.get("text")) for part in parts)
    return content if isinstance(content, str) else ""


def chat_messages(
    request: Request, pictures: Mapping[str, str] | None = None, signature: str = ""
) -> "list[ChatCompletionMessageParam]":
    """Compose the messages in the API's form: blank text is left out, neighbours of one role are merged.

    pictures: in base64, by digest; of others a note. signature: goes with the calls that came without one.
    """
    shown = pictures or {}
    request = without_pictures(request, shown)
    ids = call_numbers(request)
    written: list[tuple[Role | Literal["system"], Content]] = [("system", block) for block in request.system]
    written += [(message.role, content) for message in request.messages for content in results_first(message.blocks)]
    solid = [(role, each) for role, each in written if not isinstance(each, Block) or each.text.strip()]
    messages: list[dict[str, Any]] = []
    for (role, of_results), run in groupby(solid, lambda it: (it[0], isinstance(it[1], ToolResult))):
        contents = [content for _, content in run]
        if of_results:
            messages += [_result(each, ids) for each in contents if isinstance(each, ToolResult)]
            continue
        message: dict[str, Any] = {"role": role}
        if text := _content(contents, shown):
            message["content"] = text
        if calls := [_call(each, ids, signature) for each in contents if isinstance(each, ToolCall)]:
            message["tool_calls"] = calls
        if len(message) > 1:
            messages.append(message)
    return cast("list[ChatCompletionMessageParam]", messages)


def _content(contents: Iterable[Content], pictures: Mapping[str, str]) -> str | list[dict[str, Any]]:
    """Return the text as one piece, or as a list of parts where there is a picture."""
    parts: list[dict[str, Any]] = []
    for each in contents:
        if isinstance(each, Block):
            parts.append({"type": "text", "text": well_formed(each.text)})
        elif isinstance(each, Image):
            url = f"data:{each.mime};base64,{pictures[each.digest]}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _call(call: ToolCall, ids: Mapping[str, str], signature: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    sent = {"id": ids[call.id], "type": "function", "function": function}
    mark = call.signature or signature
    return {**sent, "extra_content": {"google": {"thought_signature": mark}}} if mark else sent


def _result(result: ToolResult, ids: Mapping[str, str]) -> dict[str, Any]:
    text = well_formed(f"Failed: {result.text}" if result.failed else result.text)
    return {"role": "tool", "tool_call_id": ids[result.id], "content": text}


def _signature(piece: "ChoiceDeltaToolCall") -> str:
    """Return the mark that Gemini demands back with a call; "" when there is none."""
    mark: object = getattr(piece, "extra_content", None)
    for name in ("google", "thought_signature"):
        mark = mark.get(name) if isinstance(mark, dict) else None
    return mark if isinstance(mark, str) else ""


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
    return {"type": "function", "function": function}


def _build(name: str, preset: Preset, settings: ServiceSettings, context: PluginContext) -> OpenAIProvider:
    """Build a provider. Raises ConfigError when the key or the model is missing, or the key cannot be one."""
    key = check_key(settings.api_key.get_secret_value(), preset.service)
    if not settings.base_url:
        raise ConfigError("providers.base_url_missing", name=name)
    if preset.key and not key and settings.base_url == preset.base_url:
        raise ConfigError("providers.no_key", title=preset.service, variable=name.upper())
    if not settings.model:
        raise ConfigError("providers.model_missing", name=name)
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    from kenobot.providers.bounded import bound_answer
    from kenobot.providers.certificates import load_certificates

    timeout = Timeout(settings.idle_seconds, connect=settings.connect_seconds)
    with building_client():
        headers = {"accept-encoding": "identity"}
        http = DefaultAsyncHttpxClient(timeout=timeout, headers=headers, verify=load_certificates())
        client = AsyncOpenAI(
            api_key=key or "none", base_url=settings.base_url, timeout=timeout, max_retries=0, http_client=http
        )
    # The SDK takes these from the environment, and would tell them to any service.
    client.organization = client.project = None
    asking = [refuse_other_hosts(client.base_url), *([] if key else [_remove_key])]
    http.event_hooks = {"request": asking, "response": [bound_answer]}
    return OpenAIProvider(name, client, preset, settings, context.clock, context.home)


async def _remove_key(request: "httpx2.Request") -> None:
    request.headers.pop("authorization", None)


def _plugin(name: str, preset: Preset) -> Plugin[ServiceSettings, OpenAIProvider]:
    settings = create_model(
        f"{name.title()}Settings",
        __base__=ServiceSettings,
        base_url=(str, preset.base_url),
        model=(str, preset.model),
        pictures=(bool, preset.pictures),
    )
    return Plugin(settings=settings, build=partial(_build, name, preset))


PRESETS: Mapping[str, Preset] = {
    name: Preset.model_validate(table)
    for name, table in tomllib.loads(resources.files(__package__).joinpath("presets.toml").read_text("utf-8")).items()
}
"""The services by the name of their provider."""


class _Services:
    """The targets of the entry points, each made when it is asked for."""

    def __getattr__(self, name: str) -> Plugin[ServiceSettings, OpenAIProvider]:
        if name not in PRESETS:
            raise AttributeError(name)
        return _plugin(name, PRESETS[name])


services = _Services()
