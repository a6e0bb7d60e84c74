"""Stream replies from OpenAI's chat API, and from the many services that speak it, through the official SDK."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, Field, SecretStr, create_model, field_validator

from kenobot.core.network import HttpAddress, building_client, check_address
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Delta, Request, Usage
from kenobot.providers.service import STATUS_OF, ServiceErrors, check_key, only_to, retry_after, well_formed
from kenobot.providers.thinking import ThinkingFilter

if TYPE_CHECKING:
    import httpx2
    from openai import APIError, AsyncOpenAI, AsyncStream
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

_UNPAID = "insufficient_quota"


class Preset(BaseModel, extra="forbid", frozen=True):
    """One service, as `presets.toml` describes it."""

    title: str
    base_url: str
    key: bool = True
    model: str = ""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage: bool = True
    cached: str = ""


class ServiceSettings(BaseModel, extra="forbid", frozen=True):
    """effort: how much the model thinks; "" leaves it to the service. extra: further fields of a request, as they are.

    idle_seconds: longest silence within a reply. total_seconds: longest whole reply.
    """

    api_key: SecretStr = SecretStr("")
    model: str = ""
    base_url: str = ""
    effort: Literal["", "none", "minimal", "low", "medium", "high", "xhigh"] = ""
    extra: dict[str, bool | int | float | str] = Field(default_factory=dict)  # bounded: the settings; start
    connect_seconds: float = Field(10, gt=0)
    idle_seconds: float = Field(120, gt=0)
    total_seconds: float = Field(300, gt=0)

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, base_url: str) -> HttpAddress:
        return check_address(base_url) if base_url else base_url


class OpenAIProvider:
    """Streams replies and never retries."""

    def __init__(
        self, name: str, client: "AsyncOpenAI", preset: Preset, settings: ServiceSettings, clock: Clock
    ) -> None:
        self.name = name
        self._client = client
        self._preset = preset
        self._settings = settings
        self._clock = clock
        self._errors = ServiceErrors(preset.title, settings.model)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text as it arrives, then one delta with the stop reason, the usage and the model.

        Thinking is left out, also where it stands in the text between tags. Raises RateLimited, Unavailable, Rejected,
        and TruncatedReply when the stream ends without a stop reason; their texts hold neither the key nor the
        server's words.
        """
        end = _End(self._preset.cached)
        try:
            async with asyncio.timeout(self._settings.total_seconds) as limit:
                chunks = await self._open(request)
        except Exception as error:
            raise self._translated(error) from None
        try:
            while True:
                try:
                    # Not around the `yield`, where the limit would cancel the reader.
                    async with asyncio.timeout_at(limit.when()):
                        chunk = await anext(chunks, None)
                except Exception as error:
                    raise self._translated(error) from None
                if chunk is None:
                    break
                if text := end.take(chunk):
                    yield Delta(text=text)
        finally:
            await chunks.close()
        if end.stop_reason is None:
            raise TruncatedReply(f"The answer from {self._preset.title} broke off before its end.")
        yield Delta(text=end.rest(), stop_reason=end.stop_reason, usage=end.usage, model=end.model)

    async def models(self) -> tuple[str, ...]:
        """List the models that the service offers, in its order. Raises RemoteError."""
        try:
            async with asyncio.timeout(self._settings.connect_seconds + self._settings.idle_seconds):
                page = await self._client.models.list()
        except Exception as error:
            raise self._translated(error) from None
        return tuple(model.id for model in page.data or [])

    async def aclose(self) -> None:
        """Close the connections. The provider cannot be used after this."""
        await self._client.close()

    async def _open(self, request: Request) -> "AsyncStream[ChatCompletionChunk]":
        wanted: dict[str, Any] = {self._preset.limit: request.max_tokens, **self._settings.extra}
        if self._preset.usage:
            wanted["stream_options"] = {"include_usage": True}
        if self._settings.effort:
            wanted["reasoning_effort"] = self._settings.effort
        stream: AsyncStream[ChatCompletionChunk] = await self._client.chat.completions.create(
            model=self._settings.model, messages=chat_messages(request), stream=True, extra_body=wanted
        )
        if "html" in stream.response.headers.get("content-type", ""):
            await stream.close()
            raise _NotAModel
        return stream

    def _translated(self, error: Exception) -> RemoteError:
        from openai import APIError, APIStatusError

        if isinstance(error, _NotAModel):
            return Unavailable(
                f"{self._preset.title} answered with a web page: check `base_url` of this provider, "
                "and what stands between here and there."
            )
        if isinstance(error, APIStatusError):
            return self._of_status(error, error.status_code, retry_after(error.response.headers, self._clock))
        if isinstance(error, APIError) and isinstance(error.body, dict):  # within a stream, under status 200
            code = str(error.code or "")
            status = int(code) if code.isdecimal() else STATUS_OF.get(code) or STATUS_OF.get(str(error.type), 500)
            return self._of_status(error, status, None)
        return self._errors.of_connection(error, self._settings.total_seconds)

    def _of_status(self, error: "APIError", status: int, wait: float | None) -> RemoteError:
        unpaid = status == 429 and _UNPAID in (error.code, error.type)
        return self._errors.of_status(402 if unpaid else status, error.code or error.type, wait, error.body)


class _NotAModel(Exception):
    """The answer is a web page."""


@dataclass(slots=True)
class _End:
    """The stop reason, usage and model of a stream so far."""

    cached: str
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    _thinking: ThinkingFilter = field(default_factory=ThinkingFilter)
    _refused: bool = False

    def take(self, chunk: "ChatCompletionChunk") -> str:
        """Add the figures of `chunk` and return its text, if it has any."""
        self.model = chunk.model or self.model
        if chunk.usage:
            self._count(chunk.usage)
        text = ""
        for choice in (chunk.choices or [])[:1]:
            if choice.delta:  # a server may leave it out of the last chunk
                self._refused |= bool(choice.delta.refusal)
                text = self._thinking.take(choice.delta.content or "")
            self.stop_reason = choice.finish_reason or self.stop_reason
        if self._refused and self.stop_reason == "stop":
            self.stop_reason = "refusal"
        return text

    def rest(self) -> str:
        """Return the text that was still held back."""
        return self._thinking.rest()

    def _count(self, usage: "CompletionUsage") -> None:
        details = usage.prompt_tokens_details
        cached = getattr(usage, self.cached, None) if self.cached else details and details.cached_tokens
        written = getattr(details, "cache_write_tokens", None)
        read = cached if isinstance(cached, int) else 0
        kept = written if isinstance(written, int) else 0
        self.usage = Usage(max(0, (usage.prompt_tokens or 0) - read), usage.completion_tokens or 0, read, kept)


def chat_messages(request: Request) -> "list[ChatCompletionMessageParam]":
    """Compose the messages in the API's form: blank text is left out, neighbours of one role are merged."""
    texts = [("system", block.text) for block in request.system]
    texts += [(message.role, block.text) for message in request.messages for block in message.text_blocks]
    solid = [(role, well_formed(text)) for role, text in texts if text.strip()]
    merged = [
        {"role": role, "content": "\n\n".join(text for _, text in run)}
        for role, run in groupby(solid, lambda it: it[0])
    ]
    return cast("list[ChatCompletionMessageParam]", merged)


def _build(name: str, preset: Preset, settings: ServiceSettings, context: PluginContext) -> OpenAIProvider:
    """Build a provider. Raises ConfigError when the key or the model is missing, or the key cannot be one."""
    key = check_key(settings.api_key.get_secret_value(), preset.title)
    if not settings.base_url:
        raise ConfigError(
            f"providers.{name}.base_url is missing: set the server's address, such as http://host:8000/v1."
        )
    if preset.key and not key and settings.base_url == preset.base_url:
        raise ConfigError(f"There is no {preset.title} API key: run `kenobot setup` or set {name.upper()}_API_KEY.")
    if not settings.model:
        raise ConfigError(f"providers.{name}.model is missing: `kenobot models {name}` lists those it has.")
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(settings.idle_seconds, connect=settings.connect_seconds)
    with building_client():
        http = DefaultAsyncHttpxClient(timeout=timeout)
        client = AsyncOpenAI(
            api_key=key or "none", base_url=settings.base_url, timeout=timeout, max_retries=0, http_client=http
        )
    # The SDK takes these from the environment, and would tell them to any service.
    client.organization = client.project = None
    http.event_hooks = {"request": [only_to(client.base_url), *([] if key else [_without_key])], "response": []}
    return OpenAIProvider(name, client, preset, settings, context.clock)


async def _without_key(request: "httpx2.Request") -> None:
    request.headers.pop("authorization", None)


def _plugin(name: str, preset: Preset) -> Plugin[ServiceSettings, OpenAIProvider]:
    settings = create_model(
        f"{name.title()}Settings",
        __base__=ServiceSettings,
        base_url=(str, preset.base_url),
        model=(str, preset.model),
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
