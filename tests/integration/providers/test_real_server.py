"""The provider of OpenAI's chat API before a server that people run: llama.cpp's own, with a model that answers."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import PromptTooLong
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Message, Request, ToolCall, ToolResult, ToolSpec
from kenobot.providers.openai_compatible import OpenAIProvider, services
from kenobot_testing.provider import collect_deltas, make_request
from tests.integration.providers import llama_server
from tests.integration.providers.answer_contract import text_of
from tests.integration.providers.llama_server import CONTEXT, NAME

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(llama_server.missing()), reason=f"llama.cpp: {llama_server.missing()}"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server, for all tests of this file."""
    with llama_server.running() as address:
        yield address


@pytest.fixture
def grammatical() -> Iterator[str]:
    """A server whose model cannot but call a tool."""
    call = '"<function=weather>{" quote "city" quote ":" quote ("Lima" | "Rome") quote "}</function>"'
    with llama_server.running(f"root ::= {call}\nquote ::= [\\x22]") as address:
        yield address


@pytest.fixture
async def provider(address: str) -> AsyncIterator[OpenAIProvider]:
    """The provider as `setup` makes it, but for chance."""
    plugin = services.llamacpp
    settings = plugin.settings(base_url=address, extra={"temperature": 0})
    made = plugin.build(settings, PluginContext(Path("unused"), SystemClock(), "KenoBot"))
    yield made
    await made.aclose()


def _short(text: str, tokens: int = 3) -> Request:
    return Request((Block("Hi"),), (Message("user", (Block(text),)),), max_tokens=tokens)


async def test_a_reply_comes_with_its_end_its_cost_and_its_model(provider: OpenAIProvider) -> None:
    """An answer that is cut says so, each token is counted once, and what the server kept of the prompt since the last
    request is counted as read from its cache: llama.cpp b11549, in xllamacpp 2026.10.11549.
    """
    first = await collect_deltas(provider, _short("Say hello."))
    again = await collect_deltas(provider, _short("Say hello."))
    assert text_of(first) == text_of(again) != ""
    assert first[-1].stop_reason == "length"
    assert first[-1].model == NAME
    used, then = first[-1].usage, again[-1].usage
    assert used is not None
    assert then is not None
    assert (used.output_tokens, used.cache_read_tokens, used.cache_write_tokens) == (3, 0, 0)
    assert then.cache_read_tokens > 0
    assert used.tokens == then.tokens


async def test_what_came_of_a_tool_is_taken(provider: OpenAIProvider) -> None:
    """The server takes tools, a call and its result, whether or not its model's template has a place for them."""
    asked = Message("user", (Block("The weather in Lima?"),))
    called = Message("assistant", (ToolCall("a", "weather", {"city": "Lima"}),))
    told = Message("user", (ToolResult("a", "18 degrees"),))
    tool = ToolSpec("weather", "Tell the weather of a city.", {"type": "object", "properties": {}})
    deltas = await collect_deltas(provider, Request((), (asked, called, told), max_tokens=2, tools=(tool,)))
    assert text_of(deltas)
    assert deltas[-1].stop_reason in ("stop", "length")


async def test_a_call_that_a_grammar_forces_is_one(grammatical: str) -> None:
    """The model writes it into its text, as with a template that has no place for calls: `tool_choice` of llama.cpp
    b11549 forces none before such a model, and a request with tools may bring no grammar of its own.
    """
    plugin = services.llamacpp
    provider = plugin.build(
        plugin.settings(base_url=grammatical), PluginContext(Path("unused"), SystemClock(), "KenoBot")
    )
    asked = Message("user", (Block("The weather in Lima?"),))
    tool = ToolSpec("weather", "Tell the weather of a city.", {"type": "object", "properties": {}})
    deltas = await collect_deltas(provider, Request((), (asked,), max_tokens=60, tools=(tool,)))
    await provider.aclose()
    [call] = [delta.call for delta in deltas if delta.call is not None]
    assert (call.name, call.problem, deltas[-1].stop_reason) == ("weather", "", "tool_calls")
    assert call.arguments in ({"city": "Lima"}, {"city": "Rome"})
    assert text_of(deltas) == ""


async def test_an_answer_that_nobody_wants_any_more_is_broken_off(provider: OpenAIProvider) -> None:
    """The server has one place: it answers the next request at once, not after a thousand tokens."""
    await collect_deltas(provider, _short("Say hello.", 1))  # from then on text is passed on as it comes
    stream = provider.stream(_short("Tell me a long story.", 900))
    assert (await anext(aiter(stream))) is not None
    await stream.aclose()  # type: ignore[attr-defined]
    async with asyncio.timeout(20):
        assert text_of(await collect_deltas(provider, _short("Say hello.", 1)))


async def test_a_prompt_that_does_not_fit_is_known_as_one(provider: OpenAIProvider) -> None:
    """So that a shorter one is tried."""
    with pytest.raises(PromptTooLong):
        await collect_deltas(provider, make_request("word " * 2 * CONTEXT))


async def test_the_server_names_its_model(provider: OpenAIProvider) -> None:
    """By the name under which it was started."""
    assert await provider.models() == (NAME,)
