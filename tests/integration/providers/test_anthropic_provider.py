"""The Anthropic provider against real servers on loopback: one that speaks the protocol, one that breaks it."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from pydantic import SecretStr

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import PromptTooLong, RateLimited, Rejected, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Delta, Message, Request, Usage
from kenobot.providers.anthropic import AnthropicProvider, AnthropicSettings, build
from kenobot.testing.provider import collect_deltas, make_request
from tests.integration.providers.anthropic_standin import Entry, StandIn

CANARY = "sk-ant-canary-0123456789abcdef"

Maker = Callable[..., AnthropicProvider]


@pytest.fixture
async def make() -> AsyncIterator[Maker]:
    """Builds providers for a server's address, and closes them afterwards."""
    made: list[AnthropicProvider] = []

    def build_one(url: str, **settings: Any) -> AnthropicProvider:
        full = AnthropicSettings(api_key=SecretStr(CANARY), base_url=url, **settings)
        made.append(build(full, PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="Kenobot")))
        return made[-1]

    yield build_one
    for provider in made:
        await provider.aclose()


@pytest.fixture(autouse=True)
def _the_key_is_never_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Even at the most talkative level of the SDK and its HTTP library."""
    with caplog.at_level(logging.DEBUG):
        yield
        assert CANARY not in caplog.text


async def _failure(provider: AnthropicProvider, request: Request | None = None) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        await collect_deltas(provider, request or make_request("hello"))
    error = caught.value
    shown = "".join(traceback.format_exception(error))
    assert CANARY not in shown
    assert "the stand-in was told to fail" not in shown, "the server's own words are in the traceback"
    return error


def _text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


# ── when all goes well ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_reply_is_streamed_with_its_end_its_cost_and_its_model(make: Maker) -> None:
    """Text comes in pieces; the last delta tells the stop reason, all four token figures and the model."""
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
    }
    async with StandIn([{"reply": "Hola, ¿qué tal? 👋", "usage": usage}]) as server:
        deltas = await collect_deltas(make(server.url, model="some-model"), make_request("hello"))
    assert _text(deltas) == "Hola, ¿qué tal? 👋"
    assert len(deltas) >= 3
    assert deltas[-1] == Delta(stop_reason="end_turn", usage=Usage(11, 7, 100, 20), model="some-model")


async def test_the_request_is_what_the_api_expects(make: Maker) -> None:
    """System and messages as blocks, cache marks where they were asked for, the key in its header, no tuning knobs."""
    request = Request(
        system=(Block("be kind"), Block("these are the tags", cache=True)),
        messages=(Message("user", (Block("hello"),)),),
        max_tokens=99,
    )
    async with StandIn() as server:
        await collect_deltas(make(server.url, effort=""), request)
        body, headers = server.requests[0], server.headers[0]
    assert CANARY in (headers.get("x-api-key") or headers["authorization"])
    assert body == {
        "model": AnthropicSettings().model,
        "max_tokens": 99,
        "stream": True,
        "system": [
            {"type": "text", "text": "be kind"},
            {"type": "text", "text": "these are the tags", "cache_control": {"type": "ephemeral"}},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    }


async def test_the_effort_is_sent_and_a_blank_system_prompt_is_not(make: Maker) -> None:
    """Newer models think unless told how much; an empty system prompt would be refused."""
    async with StandIn() as server:
        await collect_deltas(make(server.url), make_request("hello", system=" "))
        body = server.requests[0]
    assert body["output_config"] == {"effort": "low"}
    assert "system" not in body


async def test_thinking_is_never_yielded(make: Maker) -> None:
    """What the model thinks is not its answer."""
    async with StandIn([{"thinking": "secret plans", "reply": "Good morning."}]) as server:
        deltas = await collect_deltas(make(server.url), make_request("hello"))
    assert _text(deltas) == "Good morning."


async def test_pings_keep_a_slow_answer_alive_until_its_time_is_up(make: Maker) -> None:
    """A server that pings is not silent; the limit for the whole reply still holds."""
    async with StandIn([{"ping": 0.05, "reply": "thinking"}]) as server:
        provider = make(server.url, idle_seconds=0.3, total_seconds=0.8)
        error = await _failure(provider)
    assert isinstance(error, Unavailable)
    assert "longer than 0.8 seconds" in str(error)


# ── when it does not ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("status", "name", "kind", "words"),
    [
        (400, "invalid_request_error", Rejected, "conversation may be too long"),
        (401, "authentication_error", Rejected, "refused the API key"),
        (402, "billing_error", Rejected, "add credit"),
        (403, "permission_error", Rejected, "refused the API key"),
        (404, "not_found_error", Rejected, "does not know the model some-model"),
        (413, "request_too_large", PromptTooLong, "too long"),
        (418, "teapot_error", Rejected, "asking again will not help"),
        (422, "invalid_request_error", Rejected, "refused the request"),
        (409, "conflict_error", Unavailable, "try again"),
        (429, "rate_limit_error", RateLimited, "asks for a pause"),
        (500, "api_error", Unavailable, "try again"),
        (502, None, Unavailable, "try again"),
        (503, None, Unavailable, "try again"),
        (504, "timeout_error", Unavailable, "try again"),
        (529, "overloaded_error", Unavailable, "try again"),
    ],
)
async def test_every_status_is_the_right_error(
    make: Maker, status: int, name: str | None, kind: type[RemoteError], words: str
) -> None:
    """Each refusal says in one sentence what to do; the request is made once, for the core decides about retries."""
    async with StandIn([{"status": status, "error": name, "headers": {"retry-after": "3"}}]) as server:
        error = await _failure(make(server.url, model="some-model"))
        assert len(server.requests) == 1
    assert type(error) is kind
    assert words in str(error)
    assert str(status) in str(error)
    if isinstance(error, RateLimited | Unavailable):
        assert error.retry_after == 3


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("overloaded_error", Unavailable),
        ("api_error", Unavailable),
        ("rate_limit_error", RateLimited),
        ("invalid_request_error", Rejected),
        ("something <script> new", Unavailable),
    ],
)
async def test_an_error_inside_the_stream_is_the_same_error(make: Maker, name: str, kind: type[RemoteError]) -> None:
    """It comes under status 200 after half a reply, and counts like one that came at once."""
    async with StandIn([{"stream_error": name, "reply": "half of it"}]) as server:
        error = await _failure(make(server.url))
    assert type(error) is kind
    assert "<" not in str(error)


async def test_a_stream_without_a_stop_reason_is_a_cut_reply(make: Maker) -> None:
    """It looks like an ordinary end, and is none."""
    async with StandIn([{"stop_reason": None, "reply": "half of it"}]) as server:
        assert type(await _failure(make(server.url))) is TruncatedReply


async def test_silence_is_not_waited_out(make: Maker) -> None:
    """A stream that falls silent is given up after the idle limit."""
    async with StandIn([{"hang": True}]) as server:
        assert type(await _failure(make(server.url, idle_seconds=0.2))) is Unavailable


async def test_a_server_that_never_answers_is_given_up(make: Maker) -> None:
    """The limits hold before the first byte too."""
    async with StandIn([{"delay": 60}]) as server:
        assert type(await _failure(make(server.url, idle_seconds=0.2))) is Unavailable
        assert "0.2 seconds" in str(await _failure(make(server.url, total_seconds=0.2)))


async def test_a_closed_port_is_unavailable(make: Maker) -> None:
    """Nobody at home is a failure that may pass."""
    async with StandIn() as server:
        url = server.url
    error = await _failure(make(url))
    assert type(error) is Unavailable
    assert "ConnectError" in str(error)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_host_is_refused(make: Maker, status: int) -> None:
    """Neither the conversation nor the key goes to a server that the settings do not name."""
    async with (
        StandIn() as elsewhere,
        StandIn([{"status": status, "headers": {"location": f"{elsewhere.url}/v1/messages"}}]) as server,
    ):
        error = await _failure(make(server.url))
        assert (len(server.requests), elsewhere.seen) == (1, 0)
    assert type(error) is Rejected
    assert "another server" in str(error)
    assert "base_url" in str(error)


@pytest.mark.parametrize("target", ["//elsewhere.invalid/v1/messages", "https://127.0.0.1:1/v1/messages", "//[", "\t"])
async def test_a_redirect_in_any_spelling_leads_nowhere_else(make: Maker, target: str) -> None:
    """A location without a scheme, another port, or no address at all."""
    async with StandIn([{"status": 307, "headers": {"location": target}}]) as server:
        assert isinstance(await _failure(make(server.url)), Rejected | Unavailable)
        assert len(server.requests) <= 21


async def test_a_redirect_within_the_host_is_followed(make: Maker) -> None:
    """A server may move its paths about."""
    moved: Entry = {"times": 1, "status": 307, "headers": {"location": "/v1/messages?moved"}}
    async with StandIn([moved, {"reply": "here"}]) as server:
        assert _text(await collect_deltas(make(server.url), make_request("hello"))) == "here"


async def test_cancelling_closes_the_connection(make: Maker) -> None:
    """The cancellation comes through as itself, and the server sees the client leave."""
    async with StandIn([{"hang": True}]) as server:
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in make(server.url).stream(make_request("hello")):
                begun.set()

        reader = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 10)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await asyncio.wait_for(server.left.wait(), 10)


async def test_leaving_early_closes_the_connection(make: Maker) -> None:
    """A reader that has heard enough does not keep the server busy."""
    async with StandIn([{"hang": True}]) as server:
        async with aclosing(make(server.url).stream(make_request("hello"))) as stream:  # type: ignore[type-var]
            await anext(stream)
        await asyncio.wait_for(server.left.wait(), 10)


async def test_a_slow_reader_is_not_cancelled_by_the_limit(make: Maker) -> None:
    """The limit is up while the reader works: the reader finishes, and hears of it when it asks for more."""
    async with StandIn([{"ping": 60}]) as server:
        stream = make(server.url, total_seconds=0.2).stream(make_request("hello"))
        assert (await anext(stream)).text
        await asyncio.sleep(0.3)
        with pytest.raises(Unavailable):
            await anext(stream)


# ── a server that nobody here wrote ──────────────────────────────────────────────────────────────────────────────


def _anthropic(llmock: LLMock) -> str:
    return llmock.base_url("anthropic")


async def test_llmock_understands_us(llmock: LLMock, make: Maker) -> None:
    """An independent server takes the request and its stream is read to the end."""
    llmock.reply("All is well.")
    deltas = await collect_deltas(make(_anthropic(llmock)), make_request("hello"))
    assert _text(deltas) == "All is well."
    assert deltas[-1].stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda server: server.rate_limit(retry_after=2), RateLimited),
        (lambda server: server.fail(529, retry_after=2), Unavailable),
        (lambda server: server.outage(), Unavailable),
        (lambda server: server.context_overflow(), PromptTooLong),
        (lambda server: server.disconnect(after_chunks=3), Unavailable),
        (lambda server: server.corrupt(after_chunks=3), Unavailable),
        (lambda server: server.truncate(after_chunks=3), TruncatedReply),
        (lambda server: server.stall(after_chunks=3, seconds=30), Unavailable),
        (lambda server: server.slow_first_token(30), Unavailable),
    ],
    ids=["rate", "529", "outage", "overflow", "disconnect", "corrupt", "truncate", "stall", "slow"],
)
async def test_every_fault_becomes_a_typed_error(
    llmock: LLMock, make: Maker, fault: Callable[[LLMock], object], kind: type[RemoteError]
) -> None:
    """HTTP errors and broken streams all come out as ours, at the first attempt."""
    llmock.reply("one two three four five six seven eight nine ten", times=None)
    fault(llmock)
    provider = make(_anthropic(llmock), idle_seconds=0.3)
    error = await _failure(provider)
    assert type(error) is kind
    if isinstance(error, RateLimited):
        assert error.retry_after == 2
    assert len(llmock.requests) == 1
    if kind is TruncatedReply:
        assert (await collect_deltas(provider, make_request("hello")))[-1].stop_reason, (
            "the core's second try finds a whole reply"
        )
    llmock.assert_resilient()
