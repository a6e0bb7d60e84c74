"""Typing notices end early whenever an answer is ready; that must not cost the replies their connections."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
from aiohttp import web

from kenobot.channels.telegram.client import Client
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.ports import Part

MOMENTS = 60  # turns of the event loop; a request is over by then
ROUNDS = 12


@pytest.fixture
def connections() -> set[asyncio.BaseTransport]:
    """Those that the server has seen."""
    return set()


@pytest.fixture
async def client(connections: set[asyncio.BaseTransport]) -> AsyncIterator[Client]:
    """A client of a server that says yes to everything."""

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        connections.add(request.transport)
        await request.read()
        typing = request.path.lower().endswith("/sendchataction")
        message = {"message_id": 1, "date": 1, "chat": {"id": 1, "type": "private"}}
        return web.json_response({"ok": True, "result": typing or message})

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    async with Client(
        TelegramSettings.model_validate(
            {
                "token": "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "base_url": f"http://127.0.0.1:{port}/bot",
                "request_seconds": 5,
            }
        )
    ) as client:
        yield client
    await runner.cleanup()


async def test_a_request_broken_off_at_any_moment_leaves_its_connection_to_others(
    client: Client, connections: set[asyncio.BaseTransport]
) -> None:
    """However many typing notices end early, no connection stays occupied, and a reply goes out at once."""
    rng = Random(1)
    for _ in range(ROUNDS * MOMENTS):
        early, whole = (asyncio.create_task(client.typing("1")) for _ in range(2))
        for _ in range(rng.randrange(MOMENTS)):
            await asyncio.sleep(0)
        early.cancel()
        await asyncio.gather(early, whole, return_exceptions=True)
    assert [await client.send("1", Part("hello")) for _ in range(3)] == ["1"] * 3
    assert len([connection for connection in connections if not connection.is_closing()]) <= 3
