"""A whole bot in this process whose only channel is `http`, and programs that call its API with keys."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import httpx

from kenobot.app.app import App
from kenobot.app.attach import attach_bot
from kenobot.app.plugin_instances import load_plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.clock import Clock, SystemClock
from kenobot.ports.provider import Provider
from kenobot.storage import api_keys
from kenobot_http.api.scopes import SCOPES, Scope, new_secret
from kenobot_http.channel import HttpChannel
from tests.integration.http.served import address, channel_of


@dataclass(frozen=True, slots=True)
class ServedBot:
    """A bot that serves its API at `base`."""

    app: App
    channel: HttpChannel
    base: str
    serving: "asyncio.Task[None]"

    async def stop_serving(self) -> None:
        """Stop the channel as a bot that ends does."""
        self.serving.cancel()
        await asyncio.gather(self.serving, return_exceptions=True)

    async def key(self, user: str = "owner", scopes: Iterable[Scope] = SCOPES, name: str = "") -> str:
        """Make a key."""
        secret, at = new_secret(), self.app.clock.now()
        await self.app.database.write(
            lambda connection: api_keys.add_key(connection, name or secret[-8:], secret, user, scopes, at)
        )
        return secret

    async def client(self, user: str = "owner", scopes: Iterable[Scope] = SCOPES) -> httpx.AsyncClient:
        """Return a program with a key of its own."""
        headers = {"Authorization": f"Bearer {await self.key(user, scopes)}"}
        return httpx.AsyncClient(base_url=self.base, headers=headers, timeout=60, trust_env=False)


@asynccontextmanager
async def served_bot(
    folder: Path, provider: Provider, *, clock: Clock | None = None, config: str = "", **settings: Any
) -> AsyncIterator[ServedBot]:
    """Run a bot; bob is a guest there."""
    home, clock = Home(folder / "home"), clock or SystemClock()
    home.prepare()
    home.seed_identity()
    (home.identity / "BOOTSTRAP.md").unlink(missing_ok=True)
    home.config_file.write_text(f"[extraction]\nenabled = false\n{config}", "utf-8")
    loaded = load_settings(home, {"KENOBOT_MEMORY__EMBEDDER": "none"})
    parts = load_plugins(home, loaded, clock, ["console"])
    channel = channel_of(clock, parts.bus, **({"wait_seconds": 10, "allowed_users": ["bob"]} | settings))
    roster = Roster.from_settings(channel.settings)
    parts = replace(parts, provider=provider, channels={"http": channel}, access_lists={"http": roster})
    app = App(home, loaded, clock, parts, Random(7))
    attach_bot(app, channel)
    await app.start()
    running = asyncio.create_task(channel.run(app.loop))
    try:
        async with asyncio.timeout(60):
            base = await address(channel)
        yield ServedBot(app, channel, base, running)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await app.stop()
