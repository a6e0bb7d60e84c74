"""Typing notices end early when an answer is ready, polls at their deadline; neither may cost others a connection."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from kenobot.channels.telegram.client import TelegramClient
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import MessagePart
from tests.constants import with_constants

MOMENTS = 60  # turns of the event loop; a request is over by then
ROUNDS = 4


@pytest.fixture
def connections() -> set[asyncio.BaseTransport]:
    """Those that the server has seen."""
    return set()


@pytest.fixture
async def client(
    request: pytest.FixtureRequest, connections: set[asyncio.BaseTransport]
) -> AsyncIterator[TelegramClient]:
    """A client of a server that says yes to everything, and to the first poll a space at a time and for ever."""
    polls = 0

    async def answer(asked: web.Request) -> web.StreamResponse:
        nonlocal polls
        assert asked.transport is not None
        connections.add(asked.transport)
        await asked.read()
        if "getupdates" in asked.path.lower():
            polls += 1
            return web.json_response({"ok": True, "result": []}) if polls > 1 else await _drip(asked)
        typing = asked.path.lower().endswith("/sendchataction")
        message = {"message_id": 1, "date": 1, "chat": {"id": 1, "type": "private"}}
        return web.json_response({"ok": True, "result": typing or message})

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    settings = with_constants(
        TelegramSettings,
        token="123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        base_url=f"http://127.0.0.1:{port}/bot",
        request_seconds=getattr(request, "param", 5),
        poll_seconds=0,
    )
    async with TelegramClient(settings, time.monotonic) as client:
        yield client
    await runner.cleanup()


async def _drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.01)


async def test_a_request_broken_off_at_any_moment_leaves_its_connection_to_others(
    client: TelegramClient, connections: set[asyncio.BaseTransport]
) -> None:
    """However many typing notices end early, no connection stays occupied, and a reply goes out at once."""
    for moment in [*range(MOMENTS)] * ROUNDS:
        early, whole = (asyncio.create_task(client.typing("1")) for _ in range(2))
        for _ in range(moment):
            await asyncio.sleep(0)
        early.cancel()
        await asyncio.gather(early, whole, return_exceptions=True)
    assert [await client.send("1", MessagePart("hello")) for _ in range(3)] == ["1"] * 3
    assert len([connection for connection in connections if not connection.is_closing()]) <= 3


@pytest.mark.parametrize("client", [1.0], indirect=True)
async def test_what_begins_while_the_connections_close_goes_through(client: TelegramClient) -> None:
    """A channel that is started again closes its connections step by step: a reply that leaves meanwhile goes out."""
    with pytest.raises(Unavailable):
        await client.get_updates(None)
    await client.__aexit__(None, None, None)  # from here on each call opens connections, and closes them again
    for moment in range(MOMENTS):
        poll = asyncio.create_task(client.get_updates(None))
        for _ in range(moment):
            await asyncio.sleep(0)
        assert await client.send("1", MessagePart("hello")) == "1"
        assert await poll == []
    await client.__aenter__()


@pytest.mark.parametrize("client", [1.0], indirect=True)
async def test_a_poll_that_was_given_up_does_not_hold_the_next_one_up(client: TelegramClient) -> None:
    """Its body drips on; the next poll opens a connection of its own instead of waiting for that one's end."""
    with pytest.raises(Unavailable):
        await client.get_updates(None)
    assert await client.get_updates(None) == []
