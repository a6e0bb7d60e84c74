"""The Anthropic provider against real servers on loopback: one that speaks the protocol, one that breaks it."""

from typing import Any

from pydantic import SecretStr

from kenobot.ports.clock import SystemClock
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Delta, Message, Request, Usage
from kenobot.providers.anthropic import AnthropicProvider, AnthropicSettings, build
from kenobot_testing.provider import collect_deltas, make_request
from tests.constants import with_constants
from tests.integration.providers.answer_contract import CANARY, Maker, text_of
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.providers.service_contract import ServiceContract


class TestAnthropic(ServiceContract):
    """Anthropic's Messages API."""

    dialect = "anthropic"
    whole = "end_turn"
    standin = StandIn

    def build(self, url: str, **settings: Any) -> AnthropicProvider:
        full = with_constants(AnthropicSettings, api_key=SecretStr(CANARY), base_url=url, **settings)
        return build(full, PluginContext(home=self.home, clock=SystemClock(), bot_name="Kenobot"))

    async def test_a_reply_is_streamed_with_its_end_its_cost_and_its_model(self, make: Maker) -> None:
        """Text comes in pieces; the last delta tells the stop reason, all four token figures and the model."""
        usage = {
            "input_tokens": 11,
            "output_tokens": 7,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20,
        }
        async with StandIn([{"reply": "Hola, ¿qué tal? 👋", "usage": usage}]) as server:
            deltas = await collect_deltas(make(server.url, model="some-model"), make_request("hello"))
        assert text_of(deltas) == "Hola, ¿qué tal? 👋"
        assert len(deltas) >= 3
        assert deltas[-1] == Delta(stop_reason="end_turn", usage=Usage(11, 7, 100, 20), model="some-model")

    async def test_the_request_is_what_the_api_expects(self, make: Maker) -> None:
        """System and messages as blocks, cache marks where asked for, the key in its header, no tuning knobs."""
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

    async def test_the_effort_is_sent_and_a_blank_system_prompt_is_not(self, make: Maker) -> None:
        """Newer models think unless told how much; an empty system prompt would be refused."""
        async with StandIn() as server:
            await collect_deltas(make(server.url), make_request("hello", system=" "))
            body = server.requests[0]
        assert body["output_config"] == {"effort": "low"}
        assert "system" not in body
