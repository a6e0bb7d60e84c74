"""The contract every provider keeps, run on ours."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import Unavailable
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot.ports.provider import Provider, Reply
from kenobot.providers import anthropic, offline, openai_compatible
from kenobot_testing.provider import ProviderContract, ScriptedProvider, collect_deltas, make_request
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.providers.openai_standin import OpenAIStandIn

_SURROUNDINGS = PluginContext(home=Path("unused"), clock=SystemClock(), bot_name="Kenobot")


class TestOffline(ProviderContract):
    """The embedded provider."""

    @pytest.fixture
    def provider(self) -> Provider:
        return offline.plugin.build(NoSettings(), _SURROUNDINGS)


class TestScripted(ProviderContract):
    """The fake that tests use."""

    @pytest.fixture
    def provider(self) -> Provider:
        return ScriptedProvider(["Hello to you!"], repeat_last=True)

    @pytest.fixture
    def failing(self) -> Provider | None:
        return ScriptedProvider([Unavailable("It is down.")])


class TestAnthropic(ProviderContract):
    """The SDK's adapter, against the stand-in."""

    @pytest.fixture
    async def server(self) -> AsyncIterator[StandIn]:
        async with StandIn() as server:
            yield server

    @pytest.fixture
    async def provider(self, server: StandIn) -> AsyncIterator[Provider]:
        settings = anthropic.AnthropicSettings(api_key=SecretStr("sk-ant-test"), base_url=server.url)
        provider = anthropic.plugin.build(settings, _SURROUNDINGS)
        yield provider
        await provider.aclose()

    @pytest.fixture
    def failing(self, server: StandIn, provider: Provider) -> Provider | None:
        server.script = [{"status": 529, "error": "overloaded_error"}]
        return provider


class TestOpenAI(ProviderContract):
    """The adapter of OpenAI's chat API, against its stand-in."""

    @pytest.fixture
    async def server(self) -> AsyncIterator[OpenAIStandIn]:
        async with OpenAIStandIn() as server:
            yield server

    @pytest.fixture
    async def provider(self, server: OpenAIStandIn) -> AsyncIterator[Provider]:
        plugin = openai_compatible.services.compatible
        provider = plugin.build(
            plugin.settings(api_key=SecretStr("sk-test"), model="some", base_url=server.url), _SURROUNDINGS
        )
        yield provider
        await provider.aclose()

    @pytest.fixture
    def failing(self, server: OpenAIStandIn, provider: Provider) -> Provider | None:
        server.script = [{"status": 503}]
        return provider


async def test_a_script_gives_each_kind_of_reply() -> None:
    """Texts, functions of the request, whole replies and errors, one after another; every request is kept."""
    whole = Reply("done", "max_tokens", model="m")
    provider = ScriptedProvider(["one", lambda request: request.messages[-1].text.upper(), whole, Unavailable("down")])
    assert [delta.text for delta in await collect_deltas(provider, make_request("a"))] == ["on", "e", ""]
    assert "".join(delta.text for delta in await collect_deltas(provider, make_request("shout"))) == "SHOUT"
    assert (await collect_deltas(provider, make_request("b")))[-1].stop_reason == "max_tokens"
    with pytest.raises(Unavailable):
        await collect_deltas(provider, make_request("c"))
    assert [request.messages[-1].text for request in provider.requests] == ["a", "shout", "b", "c"]


async def test_a_script_can_cut_a_reply() -> None:
    """A reply without a stop reason ends like a broken stream."""
    deltas = await collect_deltas(ScriptedProvider([Reply("half", "")]), make_request("hello"))
    assert all(delta.stop_reason is None for delta in deltas)


async def test_a_used_up_script_says_what_was_asked() -> None:
    """The error helps the one who wrote the test."""
    with pytest.raises(AssertionError, match=r"has 0 replies.*request 1.*'what now'.*repeat_last"):
        await collect_deltas(ScriptedProvider(), make_request("what now"))
