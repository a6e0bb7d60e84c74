"""The tests that every provider of a real model must pass, before a stand-in of its service or its program."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing
from pathlib import Path
from typing import Any, Protocol

import pytest

from kenobot.ports.errors import AnswerLost, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.provider import Delta, Request
from kenobot_testing.provider import collect_deltas, make_request
from tests.integration.providers.anthropic_standin import Entry

CANARY = "sk-canary-0123456789abcdef"


class Left(Protocol):
    """Tells when the provider has let go of the stand-in."""

    async def wait(self) -> object: ...


class Server(Protocol):
    """A stand-in that answers by a script. url: the address of a service, or the path of a program."""

    @property
    def url(self) -> str: ...

    @property
    def left(self) -> Left: ...


class ServiceProvider(Protocol):
    """A provider with a model behind it."""

    name: str

    def stream(self, request: Request) -> AsyncIterator[Delta]: ...


Maker = Callable[..., ServiceProvider]


def text_of(deltas: list[Delta]) -> str:
    """The whole reply."""
    return "".join(delta.text for delta in deltas)


async def failure_of(provider: ServiceProvider) -> RemoteError:
    """The error of a request, which shows neither the key nor the server's words."""
    with pytest.raises(RemoteError) as caught:
        await collect_deltas(provider, make_request("hello"))
    error = caught.value
    shown = "".join(traceback.format_exception(error))
    assert CANARY not in shown
    assert "the stand-in was told to fail" not in shown, "the server's own words are in the traceback"
    return error


class AnswerContract:
    """Subclass it and override `build` and `serve`. home: the home of the provider."""

    home: Path

    @pytest.fixture(autouse=True)
    def _a_home(self, tmp_path: Path) -> None:
        self.home = tmp_path

    def build(self, url: str, **settings: Any) -> ServiceProvider:
        """Build the provider for a stand-in, with CANARY as its key."""
        raise NotImplementedError("override `build`")

    def serve(self, script: list[Entry]) -> AbstractAsyncContextManager[Server]:
        """Start a stand-in that answers by a script."""
        raise NotImplementedError("override `serve`")

    @pytest.fixture
    async def make(self) -> AsyncIterator[Maker]:
        """Builds providers for a stand-in, and closes them afterwards."""
        made: list[ServiceProvider] = []

        def build_one(url: str, **settings: Any) -> ServiceProvider:
            made.append(self.build(url, **settings))
            return made[-1]

        yield build_one
        for provider in made:
            if (close := getattr(provider, "aclose", None)) is not None:
                await close()

    @pytest.fixture(autouse=True)
    def _the_key_is_never_logged(self, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
        """Even at the most talkative level of the SDK and its HTTP library."""
        with caplog.at_level(logging.DEBUG):
            yield
            assert CANARY not in caplog.text

    async def test_thinking_is_never_yielded(self, make: Maker) -> None:
        """What the model thinks is not its answer."""
        async with self.serve([{"thinking": "secret plans", "reply": "Good morning."}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        assert text_of(deltas) == "Good morning."

    async def test_pings_keep_a_slow_answer_alive_until_its_time_is_up(self, make: Maker) -> None:
        """A server that pings is not silent; the limit for the whole reply still holds."""
        async with self.serve([{"ping": 0.05, "reply": "thinking"}]) as server:
            provider = make(server.url, idle_seconds=0.3, total_seconds=0.8)
            error = await failure_of(provider)
        assert isinstance(error, Unavailable)
        assert "longer than 0.8 seconds" in str(error)

    async def test_a_stream_without_a_stop_reason_is_a_cut_reply(self, make: Maker) -> None:
        """It looks like an ordinary end, and is none."""
        async with self.serve([{"stop_reason": None, "reply": "half of it"}]) as server:
            assert type(await failure_of(make(server.url))) is TruncatedReply

    async def test_silence_is_not_waited_out(self, make: Maker) -> None:
        """A stream that falls silent is given up after the idle limit."""
        async with self.serve([{"hang": True}]) as server:
            assert type(await failure_of(make(server.url, idle_seconds=0.2))) is AnswerLost

    async def test_a_server_that_never_answers_is_given_up(self, make: Maker) -> None:
        """The limits hold before the first byte too; it may charge for what it has taken."""
        async with self.serve([{"delay": 60}]) as server:
            assert type(await failure_of(make(server.url, idle_seconds=0.2))) is AnswerLost
            error = await failure_of(make(server.url, total_seconds=0.2))
        assert type(error) is AnswerLost
        assert "0.2 seconds" in str(error)

    async def test_a_byte_now_and_then_is_not_waited_out(self, make: Maker) -> None:
        """No silence is long enough for the idle limit; the one for the whole reply holds."""
        async with self.serve([{"drip": 0.01, "reply": "hello"}]) as server:
            error = await failure_of(make(server.url, idle_seconds=0.3, total_seconds=0.4))
        assert type(error) is AnswerLost
        assert "longer than 0.4 seconds" in str(error)

    async def test_an_answer_without_a_break_is_not_read(self, make: Maker) -> None:
        """Fifty megabytes of one line are given up after the first few, and the server is left."""
        async with self.serve([{"flood": 50}]) as server:
            error = await failure_of(make(server.url))
            await asyncio.wait_for(server.left.wait(), 60)
        assert type(error) is Unavailable
        assert "without a break" in str(error)

    async def test_cancelling_closes_the_connection(self, make: Maker) -> None:
        """The cancellation comes through as itself, and the server sees the client leave."""
        async with self.serve([{"hang": True}]) as server:
            begun = asyncio.Event()

            async def read() -> None:
                async for _ in make(server.url).stream(make_request("hello")):
                    begun.set()

            reader = asyncio.create_task(read())
            await asyncio.wait_for(begun.wait(), 60)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            await asyncio.wait_for(server.left.wait(), 60)

    async def test_leaving_early_closes_the_connection(self, make: Maker) -> None:
        """A reader that has heard enough does not keep the server busy."""
        async with self.serve([{"hang": True}]) as server:
            async with aclosing(make(server.url).stream(make_request("hello"))) as stream:  # type: ignore[type-var]
                await anext(stream)
            await asyncio.wait_for(server.left.wait(), 60)

    async def test_a_slow_reader_is_not_cancelled_by_the_limit(self, make: Maker) -> None:
        """The limit is up while the reader works: the reader finishes, and hears of it when it asks for more."""
        for seconds in (0.2, 2, 20):  # a busy machine may need more for the first word
            async with self.serve([{"ping": 60}]) as server:
                stream = make(server.url, total_seconds=seconds).stream(make_request("hello"))
                try:
                    assert (await anext(stream)).text
                except Unavailable:
                    continue
                await asyncio.sleep(1.2 * seconds)
                with pytest.raises(Unavailable):
                    await anext(stream)
                return
        pytest.fail("there was no first word")
