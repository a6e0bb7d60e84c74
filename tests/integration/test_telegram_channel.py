"""The Telegram channel against an emulator that nobody here wrote, and against a server that misbehaves on purpose."""

import asyncio
import errno
import json
import logging
import os
import re
import subprocess
import sys
import traceback
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from kenobot.bus import Bus
from kenobot.channels.telegram import TelegramSettings
from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.errors import KenobotError, RateLimited, Rejected, StoreFull, Unavailable
from kenobot.ports import Inbound, Outbound, Part, Span
from kenobot.signals import CHANNEL_DOWN
from kenobot.supervise import keep_running
from kenobot.testing.clock import EagerClock

TOKEN = "123456789:" + "canary-" * 5
CHAT = "1"
DEADLINE = 20


# ── what the tests are made of ───────────────────────────────────────────────────────────────────────────────────


def update(number: object, text: object = "hi", user: int = 1) -> dict[str, Any]:
    sender = {"id": user, "is_bot": False, "first_name": "Alice"}
    chat = {"id": user, "type": "private", "first_name": "Alice"}
    message = {"message_id": 3, "date": 1_700_000_000, "chat": chat, "from": sender, "text": text}
    return {"update_id": number, "message": message}


class Box:
    """A sink that remembers, and fails when told to."""

    def __init__(self) -> None:
        self.inbounds: list[Inbound] = []
        self.aside: list[tuple[str, str]] = []
        self.reports: list[str] = []
        self.failures: deque[Exception] = deque()
        self.refused: set[str] = set()
        self.watch: Callable[[Inbound], None] = lambda inbound: None
        self._changed = asyncio.Condition()

    async def __call__(self, inbound: Inbound) -> bool:
        self.watch(inbound)
        if self.failures:
            raise self.failures.popleft()
        if inbound.user in self.refused:
            return False
        async with self._changed:
            new = all(seen.external_id != inbound.external_id for seen in self.inbounds)
            if new:
                self.inbounds.append(inbound)
            self._changed.notify_all()
        return new

    async def set_aside(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        async with self._changed:
            self.aside.append((external_id, reason))
            self._changed.notify_all()

    async def report(self, channel: str, problem: str) -> None:
        async with self._changed:
            self.reports.append(problem)
            self._changed.notify_all()

    @property
    def ids(self) -> list[str]:
        return [inbound.external_id for inbound in self.inbounds]

    async def holds(self, count: int) -> None:
        """Return once there are `count` messages and updates set aside."""
        async with asyncio.timeout(DEADLINE), self._changed:
            await self._changed.wait_for(lambda: len(self.inbounds) + len(self.aside) >= count)


@dataclass
class Answer:
    """One HTTP answer; `cut` drops the connection instead, `hang` never answers."""

    result: object = None
    status: int = 200
    body: bytes | None = None
    error: str = ""
    parameters: dict[str, int] = field(default_factory=dict)
    cut: bool = False
    hang: bool = False

    def response(self) -> web.Response:
        content: dict[str, object] = {"ok": self.status == 200, "result": self.result}
        if self.status != 200:
            content = {"ok": False, "error_code": self.status, "description": self.error}
        if self.parameters:
            content["parameters"] = self.parameters
        body = json.dumps(content).encode() if self.body is None else self.body
        return web.Response(status=self.status, body=body, content_type="application/json")


HTML = b"<html>502 for /bot" + TOKEN.encode() + b"/getUpdates</html>"
SENT = {"message_id": 77, "date": 1, "chat": {"id": 1, "type": "private"}}


class FakeTelegram:
    """Gives the scripted answers of each method in turn; then getUpdates waits for ever, as a long poll may."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.script: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self.idle = asyncio.Event()
        self.base_url = ""

    def answers(self, method: str, *answers: Answer) -> None:
        self.script[method].extend(answers)

    def offsets(self) -> list[str | None]:
        return [fields.get("offset") for method, fields in self.calls if method == "getUpdates"]

    async def handle(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        assert request.match_info["token"] == TOKEN
        self.calls.append((method, {key: str(value) for key, value in (await request.post()).items()}))
        if self.script[method]:
            answer = self.script[method].popleft()
            if answer.hang:
                await asyncio.Event().wait()
            if answer.cut:
                assert request.transport is not None
                request.transport.close()
            return answer.response()
        if method == "getUpdates":
            self.idle.set()
            await asyncio.Event().wait()
        me = {"id": 7, "is_bot": True, "first_name": "Keno", "username": "KenoBot"}
        return Answer({"getMe": me, "sendMessage": SENT}.get(method, True)).response()


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    fake = FakeTelegram()
    app = web.Application()
    app.router.add_post("/bot{token}/{method}", fake.handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/bot"
    yield fake
    await runner.cleanup()


@pytest.fixture
def clock() -> EagerClock:
    return EagerClock()


def channel_at(base_url: str, clock: EagerClock, **more: object) -> TelegramChannel:
    settings = {"token": TOKEN, "owners": [1], "base_url": base_url, "poll_seconds": 1, "request_seconds": 10}
    return TelegramChannel(TelegramSettings.model_validate(settings | more), clock)


@pytest.fixture
def channel(telegram: FakeTelegram, clock: EagerClock) -> TelegramChannel:
    return channel_at(telegram.base_url, clock)


@asynccontextmanager
async def running(channel: TelegramChannel, box: Box) -> AsyncIterator[None]:
    task = asyncio.create_task(channel.run(box))
    try:
        yield
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def until_idle(channel: TelegramChannel, telegram: FakeTelegram, box: Box) -> None:
    """Run the channel until the server has nothing more to say."""
    async with running(channel, box), asyncio.timeout(DEADLINE):
        await telegram.idle.wait()


def outbound(text: str = "hi", *spans: Span) -> Outbound:
    return Outbound(id=1, channel="telegram", chat=CHAT, part=Part(text, spans), trace="t")


# ── the emulator ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Emulator:
    port: int
    journal: Path

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/bot"

    async def post(self, path: str, body: dict[str, object]) -> None:
        address = f"http://127.0.0.1:{self.port}{path}"
        async with ClientSession() as session, session.post(address, json=body) as response:
            assert response.status == 200, await response.text()

    async def write(self, number: int, text: str = "hi", user: int = 1) -> None:
        await self.post("/__fixture/updates", {"token": TOKEN, "update": update(number, text, user)})

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[Emulator]:
    journal = tmp_path / "journal.jsonl"
    code = "import lo_bot_api_emulator as emulator; emulator.main()"
    command = [sys.executable, "-c", code, "--port", "0", "--enable-control", "--journal", str(journal)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(filter(None, (re.search(r"http://[\d.]+:(\d+)", line) for line in process.stdout)))
            yield Emulator(int(address[1]), journal)
        finally:
            process.terminate()


async def test_a_message_comes_in_and_an_answer_goes_out(emulator: Emulator, clock: EagerClock) -> None:
    """Against a Bot API server nobody here wrote: a message arrives, is confirmed once, and is answered."""
    channel, box = channel_at(emulator.base_url, clock), Box()
    async with running(channel, box):
        await emulator.write(5, "¿qué tal? 😀")
        await box.holds(1)
        await emulator.write(9)
        await box.holds(2)
        await channel.typing(CHAT)
        assert await channel.send(outbound("**hi**", Span("bold", 0, 2))) == "1"
    assert [inbound.text for inbound in box.inbounds] == ["¿qué tal? 😀", "hi"]
    assert "entities" in [r for r in emulator.records() if r.get("method") == "sendMessage"][-1]["fields"]
    records = [record for record in emulator.records() if record.get("method") != "sendMessage"]
    assert [record["update_ids"] for record in records if record.get("update_ids") and "method" in record] == [[5], [9]]
    assert {record["status"] for record in records if "method" in record} == {200}


async def test_what_the_disk_refused_comes_again(emulator: Emulator, clock: EagerClock) -> None:
    """While nothing can be stored nothing is confirmed: every message arrives in the end, in order, once."""
    channel, box = channel_at(emulator.base_url, clock), Box()
    for number in (1, 2, 3):
        await emulator.write(number)
    box.failures.extend([StoreFull("The disk is full."), StoreFull("The disk is full.")])
    async with running(channel, box):
        await box.holds(3)
    assert box.ids == ["1", "2", "3"]
    assert clock.slept == [1, 2]


@pytest.mark.parametrize("shortage", [OSError(errno.EMFILE, "Too many open files"), MemoryError()], ids=repr)
async def test_what_came_while_the_machine_lacked_something_comes_again(
    emulator: Emulator, clock: EagerClock, shortage: Exception
) -> None:
    """A message is not to blame for a shortage: it is neither set aside nor confirmed, and taken in afterwards."""
    channel, box = channel_at(emulator.base_url, clock), Box()
    for number in (1, 2):
        await emulator.write(number)
    box.failures.append(shortage)
    async with running(channel, box):
        await box.holds(2)
    assert (box.ids, box.aside) == (["1", "2"], [])
    assert clock.slept == [1]


async def test_what_was_not_confirmed_comes_again_after_a_restart(emulator: Emulator, clock: EagerClock) -> None:
    """A stop between storing and confirming repeats the message, and the sink knows it by its number."""
    box = Box()
    await emulator.write(4)
    stored = asyncio.Event()
    box.watch = lambda inbound: stored.set()
    task = asyncio.create_task(channel_at(emulator.base_url, clock).run(box))
    await stored.wait()
    task.cancel()
    await asyncio.wait([task])
    box.watch = lambda inbound: None
    async with running(channel_at(emulator.base_url, clock), box):
        await emulator.write(6)
        await box.holds(2)
    assert box.ids == ["4", "6"]


async def test_a_webhook_in_the_way_is_named(emulator: Emulator, clock: EagerClock) -> None:
    """The webhook is somebody's choice, so it is not removed but reported."""
    await emulator.post(f"/bot{TOKEN}/setWebhook", {"url": "https://example.org/hook"})
    with pytest.raises(Rejected, match="webhook"):
        await channel_at(emulator.base_url, clock).run(Box())


# ── taking messages in ───────────────────────────────────────────────────────────────────────────────────────────


async def test_an_update_is_confirmed_only_once_it_is_stored(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """While the sink works on a batch, no request with a higher offset goes out."""
    box, asked = Box(), []
    box.watch = lambda inbound: asked.append(telegram.offsets())
    telegram.answers("getUpdates", Answer([update(5), update(6)]), Answer([update(7)]), Answer([]))
    await until_idle(channel, telegram, box)
    assert asked == [[None], [None], [None, "7"]]
    assert telegram.offsets() == [None, "7", "8", None]


async def test_the_offset_is_forgotten_when_all_is_confirmed(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """After a quiet week Telegram goes on from a lower number, and its messages still arrive."""
    box = Box()
    telegram.answers("getUpdates", Answer([update(900)]), Answer([]), Answer([update(4)]))
    await until_idle(channel, telegram, box)
    assert box.ids == ["900", "4"]
    assert telegram.offsets() == [None, "901", None, "5"]


async def test_bad_updates_hold_up_nobody(channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock) -> None:
    """Malformed updates are set aside with a reason, repeated and reordered ones do no harm, the rest gets through."""
    box = Box()
    batch = [update(8), update(6, text=[]), "junk", update(7), update(7), {"update_id": 5, "message": 3}, update(9)]
    telegram.answers("getUpdates", Answer(batch), Answer([]))
    await until_idle(channel, telegram, box)
    assert box.ids == ["7", "8", "9"]
    assert [reason for number, reason in box.aside if number in ("5", "6")] == [
        "the message has no valid message",
        "the message has no valid text",
    ]
    assert len(box.aside) == 3
    assert telegram.offsets() == [None, "10", None]
    assert clock.slept == []


async def test_what_can_never_be_confirmed_is_set_aside_once_and_not_asked_for_without_pause(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """Updates without a number come with every batch; they fill neither the dead-letter box nor the processor."""
    box = Box()
    telegram.answers("getUpdates", *[Answer(["junk", {}])] * 3)
    await until_idle(channel, telegram, box)
    assert len(box.aside) == 2
    assert clock.slept == [1, 2, 4]


async def test_a_message_that_breaks_the_program_costs_itself(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """An unforeseen exception sets that message aside; the next one is taken in."""
    box = Box()
    box.failures.append(ValueError("unforeseen"))
    telegram.answers("getUpdates", Answer([update(1), update(2)]))
    await until_idle(channel, telegram, box)
    assert (box.ids, box.aside) == (["2"], [("1", "taking it in failed: ValueError")])


async def test_what_the_core_turns_away_is_confirmed(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """A stranger's message is handed in like anybody's, refused there, and never comes again."""
    box = Box()
    box.refused.add("666")
    telegram.answers("getUpdates", Answer([update(1, user=666), update(2)]))
    await until_idle(channel, telegram, box)
    assert box.ids == ["2"]
    assert telegram.offsets()[-1] == "3"


@pytest.mark.parametrize("method", ["getMe", "getUpdates"])
@pytest.mark.parametrize("status", [401, 404])
async def test_a_refused_token_ends_the_channel(
    channel: TelegramChannel, telegram: FakeTelegram, method: str, status: int
) -> None:
    """No asking again can mend a bad token, so a person is told what to do."""
    telegram.answers(method, Answer(status=status, error="Unauthorized"))
    with pytest.raises(Rejected, match=r"refused by Telegram: get a new one from @BotFather and run `kenobot setup`"):
        await channel.run(Box())


FAULTS = {
    "500": Answer(status=500, error="Internal"),
    "502 with a page": Answer(status=502, body=HTML),
    "403 with a page": Answer(status=403, body=HTML),
    "200 with a page": Answer(body=HTML),
    "200 with a list": Answer(body=b"[]"),
    "200 without a result": Answer(body=b'{"ok": true}'),
    "not a list": Answer({"a": 1}),
    "a thousand brackets": Answer(body=b"[" * 100_000),
    "cut": Answer(cut=True),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_a_failing_server_is_asked_again_after_growing_pauses(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock, fault: Answer
) -> None:
    """Whatever the server does, the pauses double and the message arrives when it is well again."""
    box = Box()
    telegram.answers("getUpdates", fault, fault, fault, Answer([update(1)]), fault)
    await until_idle(channel, telegram, box)
    assert box.ids == ["1"]
    assert clock.slept == [1, 2, 4, 1]


async def test_pauses_end_at_half_a_minute_and_cover_the_first_call(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """A server that is down when the program starts delays it and does not end it."""
    telegram.answers("getMe", *[Answer(status=503, error="down")] * 7)
    await until_idle(channel, telegram, Box())
    assert clock.slept == [1, 2, 4, 8, 16, 30, 30]


async def test_bad_utf8_costs_only_the_letters(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Bytes that are no UTF-8 become replacement characters, and the message arrives."""
    box = Box()
    body = json.dumps({"ok": True, "result": [update(1, "caf#")]}).encode().replace(b"#", b"\xe9")
    telegram.answers("getUpdates", Answer(body=body))
    await until_idle(channel, telegram, box)
    assert box.inbounds[0].text == "caf\ufffd"


async def test_telegrams_own_pause_is_obeyed(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """When Telegram says how long to wait, that is how long the channel waits."""
    telegram.answers("getUpdates", Answer(status=429, error="Too Many Requests", parameters={"retry_after": 47}))
    await until_idle(channel, telegram, Box())
    assert clock.slept == [47]


async def test_a_second_reader_is_outwaited(
    telegram: FakeTelegram, clock: EagerClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Another program with the same token is named in the log, and given longer than one poll before the next try."""
    box = Box()
    terminated = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    telegram.answers("getUpdates", Answer(status=409, error=terminated), Answer([update(1)]))
    await until_idle(channel_at(telegram.base_url, clock, poll_seconds=50), telegram, box)
    assert box.ids == ["1"]
    assert clock.slept == [51]
    assert "Another program reads this bot's messages" in caplog.text
    assert box.reports == ["Another program reads this bot's messages with the same token: stop it or get a new token"]


async def test_a_second_reader_that_stays_is_reported_once_an_hour(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """The owner is told, not pestered."""
    box = Box()
    telegram.answers("getUpdates", *[Answer(status=409, error="Conflict: other getUpdates request")] * 150)
    await until_idle(channel, telegram, box)
    assert clock.slept == [30] * 150
    assert len(box.reports) == 2


async def test_a_silent_server_is_given_up_on(telegram: FakeTelegram, clock: EagerClock) -> None:
    """A request that is never answered ends at its deadline, and the next one is made."""
    telegram.answers("getMe", Answer(hang=True))
    await until_idle(channel_at(telegram.base_url, clock, request_seconds=0.2), telegram, Box())
    assert clock.slept[0] == 1


async def test_a_batch_is_stored_side_by_side_and_each_chat_in_order(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """All chats of a batch wait for the disk at once, the messages of one chat one after the other."""
    under_way: set[int] = set()
    most = 0

    class Slow(Box):
        async def __call__(self, inbound: Inbound) -> bool:
            nonlocal most
            assert int(inbound.chat) not in under_way, "two messages of a chat at once"
            under_way.add(int(inbound.chat))
            most = max(most, len(under_way))
            await asyncio.sleep(0.001)
            under_way.discard(int(inbound.chat))
            return await super().__call__(inbound)

    box = Slow()
    batch = [update(number, user=1 + number % 5) for number in range(40)]
    telegram.answers("getUpdates", Answer(list(reversed(batch))), Answer([]))
    await until_idle(channel, telegram, box)
    assert most == 5
    for user in range(1, 6):
        mine = [int(inbound.external_id) for inbound in box.inbounds if inbound.chat == str(user)]
        assert mine == [number for number in range(40) if 1 + number % 5 == user]
    assert telegram.offsets() == [None, "40", None]


async def test_nothing_after_what_the_disk_refused_is_confirmed(
    channel: TelegramChannel, telegram: FakeTelegram, clock: EagerClock
) -> None:
    """Other chats go on, the refused chat keeps its order, and the offset stops short of the refused number."""
    box, refusals = Box(), 1

    def watch(inbound: Inbound) -> None:
        nonlocal refusals
        if inbound.external_id == "3" and refusals:
            refusals -= 1
            raise StoreFull("The disk is full.")

    box.watch = watch
    batch = [update(1, user=1), update(2, user=2), update(3, user=1), update(4, user=2), update(5, user=1)]
    telegram.answers("getUpdates", Answer(batch), Answer(batch[2:]), Answer([]))
    await until_idle(channel, telegram, box)
    assert [inbound.external_id for inbound in box.inbounds if inbound.chat == "1"] == ["1", "3", "5"]
    assert [inbound.external_id for inbound in box.inbounds if inbound.chat == "2"] == ["2", "4"]
    assert telegram.offsets() == [None, "3", "6", None]
    assert clock.slept == [1]


async def test_life_is_shown_by_every_request_that_ends(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Well or badly; while one hangs, nothing is heard; while the channel itself rests or stores, nobody is mute."""
    channel, box = channel_at(telegram.base_url, clock), Box()
    assert (channel.heard, channel.patience) == (None, 21)
    seen: list[bool] = []

    def watch(inbound: Inbound) -> None:
        before = channel.heard
        clock.advance(1000)
        assert before is not None and channel.heard is not None
        seen.append(channel.heard - before == 1000)

    box.watch = watch
    telegram.answers("getUpdates", Answer(status=502, body=HTML), Answer([update(1)]))
    async with running(channel, box):
        await telegram.idle.wait()
        assert channel.heard == clock.monotonic()
        clock.advance(50)
        assert channel.heard == clock.monotonic() - 50, "a poll under way is no sign of life"
    assert seen == [True]


async def test_a_connection_that_died_silently_is_opened_anew(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Supervision cancels the run whose poll is never answered, and what came meanwhile arrives by the next one."""
    channel, box, bus = channel_at(telegram.base_url, clock), Box(), Bus(clock)
    channel._patience = 0.2  # shorter than the client's own deadline, as if that had failed
    down: list[str] = []
    bus.bell(CHANNEL_DOWN, lambda envelope: down.append(str(envelope.payload["error"])))
    telegram.answers("getUpdates", Answer(hang=True), Answer([update(1)]), Answer([]))
    task = asyncio.create_task(keep_running(channel, box, bus, clock))
    await box.holds(1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert box.ids == ["1"]
    assert down[0].startswith("telegram has not answered for 0.2 seconds")
    await bus.close()


async def test_a_poll_that_hangs_ends_at_its_own_deadline(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Long before supervision loses patience."""
    channel, box = channel_at(telegram.base_url, clock, request_seconds=0.1), Box()
    telegram.answers("getUpdates", Answer(hang=True), Answer([update(1)]))
    async with running(channel, box):
        await box.holds(1)
    assert clock.slept == [1]
    assert channel.patience > 1 + 0.1


# ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_part_goes_out_with_its_formatting(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Formatting travels as entities, never as markup, and links get no preview."""
    (part,) = channel.render("**a** [b](http://x) `c`\n```py\nd\n```")
    telegram.answers("sendMessage", Answer(SENT))
    assert await channel.send(Outbound(1, "telegram", CHAT, part, "t")) == "77"
    (_, fields), *_ = telegram.calls
    assert fields["text"] == "a b c\nd\n"
    assert json.loads(fields["entities"]) == [
        {"type": "bold", "offset": 0, "length": 1},
        {"type": "text_link", "offset": 2, "length": 1, "url": "http://x"},
        {"type": "code", "offset": 4, "length": 1},
        {"type": "pre", "offset": 6, "length": 2, "language": "py"},
    ]
    assert json.loads(fields["link_preview_options"]) == {"is_disabled": True}
    assert "parse_mode" not in fields


def test_rendering_always_gives_something_to_send(channel: TelegramChannel) -> None:
    """A reply with nothing to see becomes an ellipsis; no reply becomes nothing."""
    assert channel.render("\u200b\n") == [Part("…")]
    assert channel.render("") == []
    assert [part.text for part in channel.render("x " * 3000)] == ["x " * 2047 + "x", "x " * 951 + "x "]


async def test_a_server_without_link_previews_is_not_asked_twice(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """A Bot API server that does not know the parameter gets the same message without it, and so all later ones."""
    telegram.answers("sendMessage", Answer(status=400, error="Bad Request: link_preview_options is not supported yet"))
    for _ in range(2):
        assert await channel.send(outbound("hi", Span("bold", 0, 2))) == "77"
    assert ["link_preview_options" in fields for _, fields in telegram.calls] == [True, False, False]
    assert all("entities" in fields for _, fields in telegram.calls)


async def test_refused_formatting_costs_the_formatting_only(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """The same text goes out once more, plain; not on any other refusal, which would double it."""
    refusal = Answer(status=400, error="Bad Request: can't parse entities: entity ends beyond the text")
    telegram.answers("sendMessage", refusal, Answer(SENT), refusal, refusal)
    assert await channel.send(outbound("hi", Span("bold", 0, 9))) == "77"
    assert [("entities" in fields, fields["text"]) for _, fields in telegram.calls] == [(True, "hi"), (False, "hi")]
    with pytest.raises(Rejected, match="entities"):
        await channel.send(outbound("hi", Span("bold", 0, 9)))
    assert len(telegram.calls) == 4


MOVED = Answer(
    status=400,
    error="Bad Request: group chat was upgraded to a supergroup chat",
    parameters={"migrate_to_chat_id": -1005},
)


async def test_a_group_that_became_a_supergroup_gets_its_answer(
    channel: TelegramChannel, telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
) -> None:
    """At its new id, which the log names for the settings."""
    telegram.answers("sendMessage", MOVED)
    assert await channel.send(outbound("hi", Span("bold", 0, 2))) == "77"
    assert [fields["chat_id"] for _, fields in telegram.calls] == [CHAT, "-1005"]
    assert all("entities" in fields for _, fields in telegram.calls)
    assert "-1005" in caplog.text


async def test_a_group_that_moves_on_and_on_is_not_followed_for_ever(
    channel: TelegramChannel, telegram: FakeTelegram
) -> None:
    """Two moves during one send are no move at all."""
    telegram.answers("sendMessage", MOVED, MOVED)
    with pytest.raises(Rejected, match="supergroup"):
        await channel.send(outbound())
    assert len(telegram.calls) == 2


REFUSALS = [
    (Answer(status=400, error="Bad Request: chat not found"), Rejected),
    (Answer(status=403, error="Forbidden: bot was blocked by the user"), Rejected),
    (Answer(status=401, error="Unauthorized"), Unavailable),
    (Answer(status=429, error="Too Many Requests", parameters={"retry_after": 3}), RateLimited),
    (Answer(status=429, error="Too Many Requests"), Unavailable),
    (Answer(status=500, error="Internal"), Unavailable),
    (Answer(status=413, body=HTML), Unavailable),
    (Answer(status=409, error="Conflict"), Unavailable),
    (Answer(body=HTML), Unavailable),
    (Answer({"no": "message"}), Unavailable),
    (Answer(cut=True), Unavailable),
]


@pytest.mark.parametrize(
    ("answer", "kind"), REFUSALS, ids=[f"{a.status} {a.error or a.body!r}"[:40] for a, _ in REFUSALS]
)
async def test_failures_say_whose_they_are(
    channel: TelegramChannel, telegram: FakeTelegram, answer: Answer, kind: type[KenobotError]
) -> None:
    """The core learns whether to try again, and when; one request goes out for one send."""
    telegram.answers("sendMessage", answer)
    with pytest.raises(kind) as failure:
        await channel.send(outbound())
    assert getattr(failure.value, "retry_after", None) == answer.parameters.get("retry_after")
    assert len(telegram.calls) == 1


async def test_no_server_at_all_is_a_passing_failure(clock: EagerClock, unused_tcp_port: int) -> None:
    """A refused connection may be a restart of something; the core tries again."""
    with pytest.raises(Unavailable):
        await channel_at(f"http://127.0.0.1:{unused_tcp_port}/bot", clock).send(outbound())


async def test_sending_has_a_deadline(telegram: FakeTelegram, clock: EagerClock) -> None:
    """A send that hangs does not hang its caller."""
    telegram.answers("sendMessage", Answer(hang=True))
    with pytest.raises(Unavailable, match="in time"):
        await channel_at(telegram.base_url, clock, request_seconds=0.05).send(outbound())


async def test_typing_never_fails(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """Nothing depends on the typing notice, so its failures are nobody's concern."""
    telegram.answers("sendChatAction", Answer(True), Answer(status=403, error="Forbidden"), Answer(cut=True))
    for _ in range(3):
        await channel.typing(CHAT)
    assert [fields["action"] for _, fields in telegram.calls] == ["typing"] * 3


async def test_sending_works_while_polling_and_after_it(channel: TelegramChannel, telegram: FakeTelegram) -> None:
    """A long poll in progress delays no reply, and a turn that ends after intake can still answer."""
    await until_idle(channel, telegram, Box())
    telegram.idle.clear()
    async with running(channel, Box()):
        await telegram.idle.wait()
        assert await asyncio.gather(*[channel.send(outbound()) for _ in range(20)]) == ["77"] * 20
    assert await channel.send(outbound()) == "77"


# ── the token ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_token_reaches_no_log_and_no_error(
    telegram: FakeTelegram, clock: EagerClock, caplog: pytest.LogCaptureFixture
) -> None:
    """With every logger wide open and every fault there is, the token is in no log line, error or traceback."""
    caplog.set_level(logging.DEBUG)
    channel, seen = channel_at(telegram.base_url, clock), []
    faults = [*FAULTS.values(), *(answer for answer, _ in REFUSALS if answer.status not in (400, 401, 403))]
    echo = Answer(status=500, error=f"no such file: /bot{TOKEN}/getUpdates")
    telegram.answers("getUpdates", *faults, echo, Answer([update(1)]))
    await until_idle(channel, telegram, Box())
    for fault in [*faults, *(answer for answer, _ in REFUSALS), echo]:
        telegram.answers("sendMessage", fault)
        telegram.answers("sendChatAction", fault)
        await channel.typing(CHAT)
        try:
            await channel.send(outbound("hi", Span("bold", 0, 2)))
        except KenobotError as error:
            logging.getLogger("core").exception("a send failed")
            seen.append(f"{error} {error!r} {''.join(traceback.format_exception(error))}")
    assert len(seen) > 15
    assert "a send failed" in caplog.text
    assert "canary" not in caplog.text + "".join(seen)
