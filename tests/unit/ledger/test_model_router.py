"""Asking a model: a pause that a provider asks for is kept, whoever wants to know."""

from collections.abc import AsyncIterator

import pytest

from kenobot.core.retry import MAX_RETRY_AFTER, CircuitBreaker
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ports.errors import CircuitOpen, RateLimited, Rejected, RemoteError, Unavailable
from kenobot.ports.provider import Block, Delta, Message, Reply, Request, ToolCall
from kenobot_testing.clock import EagerClock, ManualClock
from kenobot_testing.scripted import ScriptedProvider

REQUEST = Request((), (Message("user", (Block("hello"),)),))


class Server:
    """Fails with `error` while there is one. `asked` counts what reached it."""

    name = "server"

    def __init__(self, error: RemoteError | SystemExit | None = None) -> None:
        self.error = error
        self.asked = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked += 1
        if self.error is not None:
            raise self.error
        yield Delta("hi", "end_turn")


def model_of(clock: ManualClock, *servers: Server) -> ModelRouter:
    return ModelRouter(
        [ProviderRoute(server, CircuitBreaker(clock, threshold=2, cooldown=30)) for server in servers], 10, clock
    )


@pytest.mark.parametrize("kind", [RateLimited, Unavailable])
@pytest.mark.parametrize(("pause", "kept"), [(120, 120), (86_400, MAX_RETRY_AFTER), (float("inf"), MAX_RETRY_AFTER)])
async def test_nobody_asks_before_the_pause_is_over(
    kind: type[RateLimited | Unavailable], pause: float, kept: float
) -> None:
    """Neither a turn nor the probe that goes past an open breaker; an hour is the longest that is believed."""
    clock, server = ManualClock(), Server(kind("slow down", pause))
    model = model_of(clock, server)
    with pytest.raises(kind):
        await model.ask(REQUEST)
    server.error = None
    clock.advance(kept - 1)
    with pytest.raises(RateLimited) as refused:
        await model.ask(REQUEST)
    assert refused.value.retry_after == pytest.approx(1)
    with pytest.raises(RateLimited):
        await model.ask(REQUEST, insist=True)
    assert server.asked == 1
    clock.advance(1)
    assert (await model.ask(REQUEST)).text == "hi"


async def test_a_reply_has_the_tool_calls_of_its_stream() -> None:
    """In their order."""
    calls = (ToolCall("1", "look", {"at": 1}), ToolCall("2", "look", {}))
    provider = ScriptedProvider([Reply("I look.", "tool_use", calls=calls)])
    router = ModelRouter([ProviderRoute(provider, CircuitBreaker(ManualClock()))], 10, ManualClock())
    reply = await router.ask(REQUEST)
    assert (reply.text, reply.calls, reply.end) == ("I look.", calls, "calls")


async def test_a_provider_that_exits_refuses() -> None:
    """A plugin does not end the bot while it answers."""
    with pytest.raises(Rejected, match=r"broke \(SystemExit: 3\)"):
        await model_of(ManualClock(), Server(SystemExit(3))).ask(REQUEST)


async def test_a_failure_without_a_wish_is_tried_again_at_once() -> None:
    """One failure opens no breaker and asks for no pause."""
    server = Server(Unavailable("down"))
    model = model_of(ManualClock(), server)
    with pytest.raises(Unavailable):
        await model.ask(REQUEST)
    server.error = None
    assert (await model.ask(REQUEST)).text == "hi"


async def test_the_wish_of_one_provider_binds_no_other() -> None:
    """The next one is asked meanwhile."""
    clock, first, second = ManualClock(), Server(RateLimited("slow down", 600)), Server()
    model = model_of(clock, first, second)
    for _ in range(2):
        with pytest.raises(RateLimited):
            await model.ask(REQUEST)
        assert (await model.ask(REQUEST, 1)).text == "hi"
    assert (await model.ask(REQUEST, 1, insist=True)).text == "hi"
    assert (first.asked, second.asked) == (1, 3)


async def test_a_shorter_wish_takes_nothing_from_a_longer_one() -> None:
    """Two were under way: what the second one was told does not end the pause of the first."""
    clock = ManualClock()
    breaker = CircuitBreaker(clock)
    breaker.record_failure(600)
    breaker.record_failure(1)
    clock.advance(599)
    assert (breaker.retry_after, breaker.allows_request()) == (1, False)
    breaker.record_success()
    assert breaker.allows_request(), "it answers: the pause is over"


async def test_the_probe_goes_past_an_open_breaker() -> None:
    """After a row of failures without a wish nobody knocks, but to find out whether it is the message that fails."""
    server = Server(Unavailable("down"))
    model = model_of(ManualClock(), server)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await model.ask(REQUEST)
    server.error = None
    with pytest.raises(CircuitOpen):
        await model.ask(REQUEST)
    assert (await model.ask(REQUEST, insist=True)).text == "hi"


async def test_a_listener_is_given_the_text_as_it_comes() -> None:
    """Each delta's text in order, up to the longest answer; what a broken-off call had said as well."""

    class Talks:
        name = "talks"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            for text in ("one ", "", "two ", "three"):
                yield Delta(text)
            raise Unavailable("gone")

    clock, heard = ManualClock(), list[str]()
    model = ModelRouter([ProviderRoute(Talks(), CircuitBreaker(clock, 5, 30))], 10, clock, answer_chars=10)
    reply = await model.ask(REQUEST, on_text=heard.append)
    assert (heard, reply.text, reply.end) == (["one ", "two ", "th"], "one two th", "overlong")
    heard.clear()
    longer = ModelRouter([ProviderRoute(Talks(), CircuitBreaker(clock, 5, 30))], 10, clock)
    with pytest.raises(Unavailable):
        await longer.ask(REQUEST, on_text=heard.append)
    assert heard == ["one ", "two ", "three"]


async def test_text_that_was_none_of_the_answer_is_taken_back() -> None:
    """The reply has what came after, in the whole room of an answer; a listener is given nothing more."""

    class ThinksAloud:
        name = "thinks"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            yield Delta("I wonder ")
            yield Delta("five", replaces=True)
            yield Delta(" of them", "stop")

    clock, heard = ManualClock(), list[str]()
    model = ModelRouter([ProviderRoute(ThinksAloud(), CircuitBreaker(clock, 5, 30))], 10, clock, answer_chars=12)
    reply = await model.ask(REQUEST, on_text=heard.append)
    assert (heard, reply.text, reply.end) == (["I wonder "], "five of them", "whole")


async def test_who_waits_for_a_model_is_there_when_it_may_be_tried() -> None:
    """Not much later: the rest of a pause would be lost."""
    clock = EagerClock()
    server = Server(Unavailable("down"))
    model = ModelRouter([ProviderRoute(server, CircuitBreaker(clock, 1, 60, 2))], 10, clock)
    with pytest.raises(Unavailable):
        await model.ask(REQUEST)
    await model.wait_until_available(40)
    assert clock.slept == [2]
    server.error = None
    assert (await model.ask(REQUEST)).text == "hi"
    await model.wait_until_available(40)
    assert clock.slept == [2, 40]
