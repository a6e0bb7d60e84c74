"""`python -m bench.http`: what HTTP adds to a turn, and how many messages a second the webhook takes at 50 chats.

A whole bot with a model that costs nothing serves in a process of its own; this one calls it over loopback, on
connections that stay open. The bare turn is one of the same bot, in its own process, without HTTP.
"""

import argparse
import asyncio
import itertools
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Self

from bench import report
from bench.report import Report
from bench.turns import OWNERS, BenchApp, InstantProvider
from kenobot.app.app import App
from kenobot.app.attach import attach_bot
from kenobot.app.plugin_instances import PluginInstances, load_plugins
from kenobot.core.bus import Bus
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.clock import SystemClock
from kenobot.storage import api_keys
from kenobot_http.api.application import Api
from kenobot_http.api.scopes import SCOPES, new_secret
from kenobot_http.channel import HttpChannel
from kenobot_http.settings import HttpSettings
from kenobot_http.signature import signature
from tests.constants import with_constants

_SECRET = "the secret of a bench"
_CHATS, _WARM = 50, 30
_SETTLED = 0.3  # seconds in which what a turn leaves to be done is done
_REST_MS, _BURST_A_SECOND = 4.0, 500.0  # what is aimed at
_BURST = 18  # messages of each chat: fewer in all than may wait, so that none has to


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds of sequential turns, and messages a second at 50 chats.

    burst_a_second: of which all are stored before most are answered. burst_answered: seconds until all of those are.
    """

    bare_ms: float
    rest_ms: float
    webhook_ms: float
    bare_a_second: float
    answered_a_second: float
    stored_a_second: float
    burst_a_second: float
    burst_answered: float


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("http", str(__doc__), plot=False)
    parser.add_argument("--turns", type=int, default=500, metavar="N", help="sequential turns of each kind (500)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="of each throughput (10)")
    parser.add_argument("--serve", metavar="FOLDER", help=argparse.SUPPRESS)
    served = parser.parse_args(argv).serve
    if served:
        asyncio.run(_serve(Path(served)))
        return 0
    return report.run(parser, argv, lambda given: (_measured(given.turns, given.seconds), None))


def _measured(turns: int, seconds: float) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder), turns, seconds))
    rest, webhook = figures.rest_ms - figures.bare_ms, figures.webhook_ms - figures.bare_ms
    rows = [
        ("a bare turn, p50, ms", f"{figures.bare_ms:.2f}"),
        ("by REST, p50, ms", f"{figures.rest_ms:.2f} ({rest:+.2f})"),
        ("by the webhook, p50, ms", f"{figures.webhook_ms:.2f} ({webhook:+.2f})"),
        (f"{_CHATS} chats, bare turns a second", f"{figures.bare_a_second:.0f}"),
        (f"{_CHATS} chats by the webhook, answered in the response, a second", f"{figures.answered_a_second:.0f}"),
        (f"{_CHATS} chats by the webhook, stored and answered later, a second", f"{figures.stored_a_second:.0f}"),
        (f"a burst of {_BURST * _CHATS} messages of {_CHATS} chats, stored a second", f"{figures.burst_a_second:.0f}"),
        ("the same, until all are answered, s", f"{figures.burst_answered:.1f}"),
    ]
    failures = []
    if rest > _REST_MS:
        failures.append(f"REST takes {rest:.2f} ms more than a bare turn, {_REST_MS:.0f} at most are aimed at.")
    if figures.burst_a_second < _BURST_A_SECOND:
        failures.append(
            f"A burst is stored at {figures.burst_a_second:.0f} messages a second, {_BURST_A_SECOND:.0f} at least are "
            "aimed at."
        )
    return Report(("", ""), rows, failures, [asdict(figures)], names_first=True)


async def measure(folder: Path, turns: int, seconds: float) -> Figures:
    """Measure each in turn, a fresh home for each bot; sequential turns alternate, as the host's speed changes."""
    async with BenchApp(folder / "bare") as bot:
        async with _server(folder / "served", wait=30) as server:
            medians = await _alternating(bot, server, turns)
            answered = await _throughput(server.talk, seconds)
        bare_a_second = await _throughput(lambda chat: _bare(bot, chat), seconds)
    async with _server(folder / "stored", wait=0) as server:
        stored = await _throughput(server.talk, seconds)
    async with _server(folder / "burst", wait=0) as server:
        await _burst(server, folder / "burst-0", "warm", 2)
        burst = await _burst(server, folder / "burst-0", "burst", _BURST)
    return Figures(*medians, bare_a_second, answered, stored, *burst)


# ── the bot ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _serve(folder: Path) -> None:
    """Serve until standard input ends; tell the port and a key first. folder: its name ends in how long calls wait."""
    home, clock = Home(folder / "home"), SystemClock()
    home.prepare()
    home.seed_identity()
    (home.identity / "BOOTSTRAP.md").unlink()
    loaded = load_settings(home, {})
    parts = load_plugins(home, loaded, clock, ["console"])
    given = {"port": 0, "webhook_secret": _SECRET, "requests_per_minute": 100_000}
    settings = with_constants(HttpSettings, **(given | {"wait_seconds": float(folder.name.rpartition("-")[2])}))
    bus = Bus(clock)
    channel = HttpChannel(settings, clock, bus, Api)
    instances = PluginInstances(
        InstantProvider(), {"http": channel}, {"http": Roster.of(settings.owners)}, parts.processors, bus=bus
    )
    app = App(home, loaded, clock, instances, Random(1))
    attach_bot(app, channel)
    await app.start()
    running = asyncio.create_task(channel.run(app.loop))
    while channel.server is None:
        await asyncio.sleep(0)
    await channel.server.is_listening.wait()
    secret, at = new_secret(), clock.now()
    await app.database.write(lambda connection: api_keys.add_key(connection, "bench", secret, "owner", SCOPES, at))
    print(json.dumps([channel.server.port, secret]), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await app.stop()


# ── the caller ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Server:
    """Where the bot serves, and requests that it takes."""

    port: int
    key: str

    def rest(self, number: int) -> tuple[str, bytes, str]:
        body = json.dumps({"text": f"message {number}"}).encode()
        return "/v1/conversations/1/messages", body, f"Authorization: Bearer {self.key}\r\n"

    def webhook(self, number: int, chat: str = "1", name: str = "message") -> tuple[str, bytes, str]:
        body = json.dumps({"message": f"{name} {number}", "chat_id": chat, "id": f"{name} {chat} {number}"}).encode()
        stamp = str(int(time.time()))
        mac = signature(_SECRET, body, stamp)
        return "/webhook", body, f"X-Webhook-Timestamp: {stamp}\r\nX-Webhook-Signature: {mac}\r\n"

    async def talk(self, chat: str) -> AsyncGenerator[bool, None]:
        """Say one thing after the other by the webhook, on a connection of its own."""
        async with _Connection(self.port) as connection:
            for number in itertools.count():
                yield await connection.post(*self.webhook(number, chat)) in (200, 202)


@asynccontextmanager
async def _server(folder: Path, *, wait: int) -> AsyncIterator[_Server]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.http", "--serve", f"{folder}-{wait}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[1],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield _Server(*json.loads(await process.stdout.readline()))
    finally:
        process.stdin.close()
        await process.wait()


class _Connection:
    """A connection that stays open, with as little of a client as can be."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def post(self, path: str, body: bytes, headers: str) -> int:
        """Post a body; return the status."""
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(f"{head}{headers}\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await self._reader.readexactly(length)
        return int(answer[9:12])


async def _alternating(bot: BenchApp, server: _Server, turns: int) -> tuple[float, float, float]:
    """Return the median milliseconds of bare turns, and of those by REST and by the webhook, some of each in turn."""
    bare, rest, webhook = list[float](), list[float](), list[float]()
    async with _Connection(server.port) as connection:
        for first in range(0, turns + _WARM, _WARM):
            numbers = range(first, first + _WARM)
            bare += [await bot.say("1", f"message {number}") for number in numbers]
            await asyncio.sleep(_SETTLED)
            rest += [await _call(connection, server.rest(number)) for number in numbers]
            await asyncio.sleep(_SETTLED)
            webhook += [await _call(connection, server.webhook(number)) for number in numbers]
            await asyncio.sleep(_SETTLED)
    medians = [1000 * statistics.median(each[_WARM:]) for each in (bare, rest, webhook)]
    return medians[0], medians[1], medians[2]


async def _call(connection: _Connection, request: tuple[str, bytes, str]) -> float:
    """Return the seconds of a call."""
    began = time.perf_counter()
    if (status := await connection.post(*request)) != 200:
        raise AssertionError(f"a call ended with {status}")
    return time.perf_counter() - began


_Talk = Callable[[str], AsyncGenerator[bool, None]]
"""Has one chat say one thing after the other; yields whether each was taken in."""


async def _bare(bot: BenchApp, chat: str) -> AsyncGenerator[bool, None]:
    for number in itertools.count():
        await bot.say(chat, f"message {number}")
        yield True


async def _throughput(talk: _Talk, seconds: float) -> float:
    """Return how many messages a second are taken in at 50 chats."""
    ends = time.perf_counter() + seconds
    taken = 0

    async def follow(chat: str) -> None:
        nonlocal taken
        async with aclosing(talk(chat)) as said:
            async for is_taken in said:
                taken += is_taken
                if time.perf_counter() > ends:
                    return

    began = time.perf_counter()
    await asyncio.gather(*(follow(OWNERS[number]) for number in range(_CHATS)))
    return taken / (time.perf_counter() - began)


async def _burst(server: _Server, folder: Path, name: str, each: int) -> tuple[float, float]:
    """Have each chat say so much at once: messages stored a second, and the seconds until all are answered."""

    async def say(chat: str) -> None:
        async with _Connection(server.port) as connection:
            for number in range(each):
                if (status := await connection.post(*server.webhook(number, chat, name))) != 202:
                    raise AssertionError(f"a message was answered by {status}")

    before = _answered(folder)
    began = time.perf_counter()
    await asyncio.gather(*map(say, OWNERS[:_CHATS]))
    stored = time.perf_counter() - began
    while _answered(folder) < before + each * _CHATS:
        await asyncio.sleep(0.05)
    return each * _CHATS / stored, time.perf_counter() - began


def _answered(folder: Path) -> int:
    """Return how many messages a home has answered."""
    with closing(sqlite3.connect(folder / "home" / "kenobot.db")) as connection:
        count: int = connection.execute("SELECT count(*) FROM inbox WHERE state = 'answered'").fetchone()[0]
    return count


if __name__ == "__main__":
    sys.exit(main())
