"""A model that lets a person wait: the person hears that the answer is still to come, once, and before it."""

import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from kenobot.agent.turn.turn_services import TurnServices
from kenobot.core import texts
from kenobot.ports.errors import StoreFull, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Delta, Request
from kenobot.providers.anthropic import AnthropicProvider, AnthropicSettings, build
from kenobot_testing.clock import EagerClock
from tests.constants import with_constants
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.scene import Scene

_SOON = {"TurnServices.patience_seconds": 0.1}
Connect = Callable[[StandIn], AnthropicProvider]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """The real provider, which gives up on a whole reply after some time."""
    made: list[AnthropicProvider] = []

    def make(server: StandIn) -> AnthropicProvider:
        settings = with_constants(
            AnthropicSettings, api_key=SecretStr("sk-ant-test"), base_url=server.url, total_seconds=0.5
        )
        made.append(build(settings, PluginContext(Path("unused"), EagerClock(), "KenoBot")))
        return made[-1]

    yield make
    for provider in made:
        await provider.aclose()


@pytest.mark.parametrize(("asked", "spanish"), [("what is the news today?", False), ("¿qué hay de nuevo hoy?", True)])
async def test_endless_pings_are_not_waited_out_in_silence(
    tmp_path: Path, connect: Connect, asked: str, spanish: bool
) -> None:
    """One word while it goes on, however often the model is asked, and no part of the conversation."""
    script: list[Entry] = [{"ping": 0.02, "times": 2}, {"reply": "fine"}]
    async with StandIn(script) as server, Scene(tmp_path, provider=connect(server), environ=_SOON) as scene:
        await scene.say(asked)
        assert scene.texts == [texts.STILL_WORKING("es" if spanish else "en"), "fine"]
        assert await scene.rows("SELECT text FROM message") == [(asked,), ("fine",)]


async def test_a_quick_answer_needs_no_word(tmp_path: Path, connect: Connect) -> None:
    """The person hears the answer alone."""
    async with StandIn([{"reply": "fine"}]) as server, Scene(tmp_path, provider=connect(server)) as scene:
        assert await scene.say("hello") == "fine"


async def test_the_word_comes_once_a_message(tmp_path: Path, connect: Connect) -> None:
    """Not again when the message is taken up anew; the next message has one of its own."""
    script: list[Entry] = [{"delay": 0.2, "match": "again", "reply": "two"}, {"delay": 0.2, "reply": "one"}]
    async with StandIn(script) as server, Scene(tmp_path, provider=connect(server), environ=_SOON) as scene:
        await scene.say("hello")
        await scene.app.database.write(lambda c: c.execute("UPDATE inbox SET state = 'pending'"))
        await scene.app.database.write(lambda c: c.execute("DELETE FROM outbox WHERE part >= 0"))
        await scene.app.database.write(lambda c: c.execute("DELETE FROM turn"))
        await scene.app.sweep()
        await scene.app.wait_drained()
        assert scene.texts == [texts.STILL_WORKING("en"), "one", "one"]
        await scene.say("again")
        assert scene.texts[3:] == [texts.STILL_WORKING("en"), "two"]


async def test_a_full_disk_costs_the_word_and_not_the_answer(
    tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a courtesy."""

    def full(*_: object) -> bool:
        raise StoreFull("no space")

    monkeypatch.setattr("kenobot.storage.outbox.is_enqueued", full)
    async with (
        StandIn([{"delay": 0.2, "reply": "fine"}]) as server,
        Scene(tmp_path, provider=connect(server), environ=_SOON) as scene,
    ):
        assert await scene.say("hello") == "fine"


def test_the_word_comes_within_half_a_minute() -> None:
    """Not before one begins to wonder, and not after one has given up."""
    patience = inspect.signature(TurnServices).parameters["patience_seconds"]
    assert 20 <= patience.default <= 30


async def test_a_fault_of_five_seconds_costs_ten_at_most(tmp_path: Path) -> None:
    """Also where others in the same house have found it out before, so that the model is left alone for a while."""
    clock = EagerClock()

    class Restarts:
        name = "restarts"
        back_at = clock.monotonic() + 5

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            if clock.monotonic() < self.back_at:
                raise Unavailable("it is being started")
            yield Delta("fine", "stop")

    soon = {"wiring.BREAKER_FAILURES": 2}
    async with Scene(tmp_path, provider=Restarts(), clock=clock, environ=soon) as scene:
        assert (await scene.say("hello")).endswith("fine")
        assert clock.monotonic() <= Restarts.back_at + 5
