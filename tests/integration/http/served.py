"""A channel `http` that listens on a free port, and programs that call it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from kenobot.ports.channel import Sink
from kenobot.ports.clock import Clock
from kenobot.ports.signals import NoSignals, Signals
from kenobot_http.api.application import Api
from kenobot_http.channel import HttpChannel
from kenobot_http.settings import HttpSettings
from kenobot_http.signature import signature
from kenobot_http.webhook import SIGNATURE, STAMP
from tests.constants import with_constants

SECRET = "a secret of the webhook"


def channel_of(clock: Clock, signals: Signals | None = None, **settings: Any) -> HttpChannel:
    """Build a channel on a free port, whose callers do not wait for answers."""
    given = {"port": 0, "webhook_secret": SECRET, "wait_seconds": 0} | settings
    return HttpChannel(with_constants(HttpSettings, **given), clock, signals or NoSignals(), Api)


async def address(channel: HttpChannel) -> str:
    """Wait until the channel listens; its address."""
    while (server := channel.server) is None or not server.is_listening.is_set():  # a new server with each run
        await asyncio.sleep(0)
    return f"http://127.0.0.1:{server.port}"


@asynccontextmanager
async def served(channel: HttpChannel, sink: Sink) -> AsyncIterator[httpx.AsyncClient]:
    """Run a channel, and a program that calls it."""
    running = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            base = await address(channel)
        async with httpx.AsyncClient(base_url=base, timeout=60, trust_env=False) as client:
            yield client
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def signed(clock: Clock, body: object, *, secret: str = SECRET, stamp: str | None = None) -> dict[str, Any]:
    """Return a signed request as httpx takes it. stamp: another time than now; "" for none."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    at = str(int(clock.now().timestamp())) if stamp is None else stamp
    headers: Mapping[str, str] = {SIGNATURE: signature(secret, content, at)} | ({STAMP: at} if at else {})
    return {"content": content, "headers": headers}
