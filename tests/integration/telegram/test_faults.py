"""Every way in which Telegram can fail, at every method, under the whole house: nothing is lost, nothing doubled."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from kenobot_testing.clock import EagerClock
from kenobot_testing.provider import ScriptedProvider
from tests.security.house import TelegramScene
from tests.security.telegram_server import TOKEN, Answer, Fault, TelegramServer, failed

PAGE = b"<html>502 Bad Gateway: /bot" + TOKEN.encode() + b"/getUpdates</html>"
CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


def answers(status: int, description: str = "it failed", **parameters: object) -> Fault:
    """A refusal in the Bot API's own form."""

    async def fault(request: web.Request, answer: Answer) -> web.StreamResponse:
        return failed(status, description, **parameters)

    return fault


def body(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Fault:
    """Something that is not what the Bot API would say."""

    async def fault(request: web.Request, answer: Answer) -> web.StreamResponse:
        return web.Response(
            status=status, body=content, headers={"Content-Type": "application/json", **(headers or {})}
        )

    return fault


async def reset(request: web.Request, answer: Answer) -> web.StreamResponse:
    """The connection is torn down before a byte of the answer."""
    assert request.transport is not None
    link: socket.socket = request.transport.get_extra_info("socket")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()
    return web.Response()


async def half(request: web.Request, answer: Answer) -> web.StreamResponse:
    """The answer breaks off in the middle of its body."""
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"ok": true, "result": [{"update_id"')
    assert request.transport is not None
    request.transport.abort()
    return response


async def slow(request: web.Request, answer: Answer) -> web.StreamResponse:
    """The body comes a byte at a time, and no end is in sight."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


async def silence(request: web.Request, answer: Answer) -> web.StreamResponse:
    """The request is taken and never answered."""
    return await asyncio.Event().wait()  # type: ignore[return-value]


FAULTS: dict[str, Fault] = {
    "401": answers(401, "Unauthorized"),
    "404": answers(404, "Not Found"),
    "409": answers(409, CONFLICT),
    "429 with a pause": answers(429, "Too Many Requests: retry after 3", retry_after=3),
    "429 without a pause": answers(429, "Too Many Requests"),
    "429 with a word for a pause": answers(429, "Too Many Requests", retry_after="soon"),
    "429 with a pause of less than nothing": answers(429, "Too Many Requests", retry_after=-5),
    "429 with a pause for ever": answers(429, "Too Many Requests", retry_after=10**300),
    "500": answers(500, "Internal Server Error"),
    "502 with a page": body(PAGE, 502),
    "401 with a page": body(PAGE, 401),
    "302": body(b"", 302, {"Location": "http://127.0.0.1:1/"}),
    "299 with a page": body(PAGE, 299),
    "200 with a page": body(PAGE),
    "bad UTF-8": body(b'\xff\xfe{"ok": \x80}'),
    "an empty body": body(b""),
    "truncated JSON": body(b'{"ok": true, "result": [{"update_id": 1, "mess'),
    "a list": body(b"[1, 2]"),
    "a number": body(b"7"),
    "null": body(b"null"),
    "no result": body(b'{"ok": true}'),
    "a result of null": body(b'{"ok": true, "result": null}'),
    "a result of text": body(b'{"ok": true, "result": "yes"}'),
    "a result of a number": body(b'{"ok": true, "result": 7}'),
    "an object without its fields": body(b'{"ok": true, "result": {"id": "seven", "username": 7, "message_id": null}}'),
    "parameters of text": body(b'{"ok": false, "description": 5, "parameters": "none"}', 400),
    "a hundred thousand brackets": body(b"[" * 100_000),
    "no gzip": body(b"this is no gzip", headers={"Content-Encoding": "gzip"}),
    "a reset": reset,
    "half a body": half,
    "a slow body": slow,
    "silence": silence,
}
_SLOW = ("a slow body", "silence")
MATRIX = [(kind, method) for kind in FAULTS for method in ("getme", "getupdates", "sendmessage")]


class World:
    """A house and its Telegram that outlive one test: starting them costs more than the test."""

    def __init__(
        self, folder: Path, telegram: TelegramServer, request_seconds: float = 10, poll_seconds: float = 1
    ) -> None:
        self.clock = EagerClock()
        self.model = ScriptedProvider([lambda request: f"ok: {said(request.messages[-1].text)}"], repeat_last=True)
        self.telegram = telegram
        self.scene = TelegramScene(
            folder,
            telegram,
            provider=self.model,
            clock=self.clock,
            owners=[str(user) for user in range(1, len(MATRIX) + 2)],
            request_seconds=request_seconds,
            poll_seconds=poll_seconds,
        )
        self._number = 0
        self.user = 0

    def message(self) -> dict[str, Any]:
        """The next update, from the person of the test at hand."""
        self._number += 1
        return message(self._number, self.clock, user=self.user)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quick(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with TelegramServer() as telegram:
        world = World(tmp_path_factory.mktemp("quick"), telegram)
        async with world.scene:
            yield world


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hasty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """The same, but its requests have a deadline of less than half a second."""
    async with TelegramServer() as telegram:
        world = World(tmp_path_factory.mktemp("hasty"), telegram, request_seconds=0.4, poll_seconds=0.05)
        async with world.scene:
            yield world


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as server:
        yield server


@pytest.fixture
def model() -> ScriptedProvider:
    return ScriptedProvider([lambda request: f"ok: {said(request.messages[-1].text)}"], repeat_last=True)


def said(prompt: str) -> str:
    """Which of the tests' own messages stands in a prompt."""
    return next(line for line in prompt.splitlines() if line.startswith("message "))


def message(number: int, clock: EagerClock, user: int = 1) -> dict[str, Any]:
    """The update with that number; its text is `message NUMBER`."""
    content = {
        "message_id": number,
        "date": int(clock.now().timestamp()),
        "chat": {"id": user, "type": "private"},
        "from": {"id": user, "is_bot": False, "first_name": "Alice"},
        "text": f"message {number}",
    }
    return {"update_id": number, "message": content}


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.exc_info]


# ── the matrix ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("kind", "method"), MATRIX, ids=[f"{kind}-{method}" for kind, method in MATRIX])
async def test_a_fault_delays_and_neither_loses_nor_doubles(
    quick: World, hasty: World, caplog: pytest.LogCaptureFixture, kind: str, method: str
) -> None:
    """While Telegram fails so at that method nothing goes on; after it, each message has its one answer, in order."""
    world = hasty if kind in _SLOW else quick
    scene, telegram, slept = world.scene, world.telegram, world.clock.slept
    world.user = MATRIX.index((kind, method)) + 1
    if method == "getme":
        await scene.deaf()
    slept.clear()
    faults = [FAULTS[kind]] * (1 if kind in _SLOW else 2)
    telegram.faults[method].extend(faults)
    if method == "getme":
        scene.listen()
    wanted = [world.message() for _ in range(3)]
    await scene.hear(*wanted[:2])
    await scene.hear(wanted[2])
    said = telegram.to(str(world.user))
    alerts = [text for text in said if text.startswith("Since ")]  # of a refused token, for an owner who writes at last
    assert len(alerts) == (1 if (kind, method) == ("401", "getme") else 0)
    assert [text for text in said if text not in alerts] == [f"ok: message {raw['update_id']}" for raw in wanted]
    assert not telegram.faults[method]
    assert telegram.refused == []
    mine = f"WHERE chat = '{world.user}'"
    assert await scene.rows(f"SELECT state, attempts FROM inbox {mine}") == [("answered", 1)] * 3
    tries = 3 + len(alerts) + (len(faults) if method == "sendmessage" else 0)
    assert await scene.rows(f"SELECT min(state), max(state), sum(attempts) FROM outbox {mine}") == [
        ("sent", "sent", tries)
    ]
    assert sum(slept) >= len(faults), "a server in trouble is not asked again at once"
    assert sum(slept) < 3 * 86_400, "nobody is made to wait for ever"
    assert tracebacks(caplog) == []
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("fault", [reset, half, body(PAGE), answers(500)], ids=["a reset", "half", "a page", "500"])
async def test_an_answer_lost_after_the_message_went_out_may_repeat_that_one_part(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider, fault: Fault
) -> None:
    """Telegram took it and did not get to say so: that part comes once more, never twice more, and no other does."""

    async def taken_and_lost(request: web.Request, answer: Answer) -> web.StreamResponse:
        await answer()
        return await fault(request, answer)

    clock = EagerClock()
    telegram.faults["sendmessage"].append(taken_and_lost)
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(message(1, clock), message(2, clock))
    assert telegram.to("1") == ["ok: message 1", "ok: message 1", "ok: message 2"]


@pytest.mark.parametrize(
    "refusals",
    [
        [answers(403, "Forbidden: bot was blocked by the user")],
        [answers(400, "Bad Request: chat not found")],
        [answers(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=number) for number in (-1005, -1006)],
    ],
    ids=["blocked", "no such chat", "migrated for ever"],
)
async def test_what_can_never_arrive_is_given_up_with_its_reason(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider, refusals: list[Fault]
) -> None:
    """Telegram says that nobody is there: it is not asked again, the reason is kept, and the next answer goes out."""
    clock = EagerClock()
    telegram.faults["sendmessage"].extend(refusals)
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(message(1, clock))
        assert telegram.calls["sendmessage"] == len(refusals)
        ((state, reason),) = await scene.rows("SELECT state, reason FROM outbox")
        assert state == "dead"
        assert "Rejected" in str(reason)
        await scene.hear(message(2, clock))
    assert telegram.to("1") == ["ok: message 2"]


async def test_an_answer_follows_its_group_to_the_new_id(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider
) -> None:
    """A group that became a supergroup while the model wrote gets its answer there, once."""
    clock = EagerClock()
    telegram.faults["sendmessage"].append(answers(400, "Bad Request: upgraded", migrate_to_chat_id=-1005))
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(message(1, clock))
    answer, notice = ((sent.chat, sent.text) for sent in telegram.sent)
    assert answer == ("-1005", "ok: message 1")
    assert "supergroup" in notice[1]


# ── mail that comes wrong ────────────────────────────────────────────────────────────────────────────────────────


async def test_duplicates_in_a_batch_between_batches_and_after_a_restart_are_one_message(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider
) -> None:
    """However often Telegram brings an update, it is answered once, and the model is paid once."""
    clock = EagerClock()
    one, two = message(1, clock), message(2, clock)
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(one, one, two, one)
        await scene.hear(two, one)
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(one, message(3, clock), two)
    assert sorted(telegram.to("1")) == ["ok: message 1", "ok: message 2", "ok: message 3"]
    assert len(model.requests) == 3


async def test_a_batch_out_of_order_is_answered_in_the_order_of_its_numbers(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider
) -> None:
    """Telegram promises no order within a batch; the numbers say which message was first."""
    clock = EagerClock()
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(*[message(number, clock) for number in (14, 11, 13, 12)])
    assert telegram.to("1") == [f"ok: message {number}" for number in (11, 12, 13, 14)]


async def test_a_number_lower_than_the_last_is_late_and_not_a_repeat(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider
) -> None:
    """After a quiet week Telegram goes on from any number: what was never seen is answered, what was seen is not."""
    clock = EagerClock()
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(message(900, clock))
        await scene.hear(message(30, clock))
        await scene.hear(message(31, clock), message(900, clock), message(30, clock))
        await scene.hear(message(32, clock))
    assert telegram.to("1") == [f"ok: message {number}" for number in (900, 30, 31, 32)]


async def test_a_hundred_malformed_updates_hold_nobody_up(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """Each is set aside once, with what it was, the owner is told once, and the messages between are answered."""
    clock = EagerClock()
    junk: list[object] = [{"update_id": number, "message": {"text": [number]}} for number in range(1, 100)]
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(*junk[:50], message(200, clock), *junk[50:], message(201, clock))
        await scene.hear(message(202, clock))
        assert await scene.rows("SELECT count(*) FROM inbox WHERE state = 'dead' AND text LIKE '%update_id%'") == [
            (99,)
        ]
    answers = [text for text in telegram.to("1") if text.startswith("ok: ")]
    assert answers == [f"ok: message {number}" for number in (200, 201, 202)]
    [notice] = [text for text in telegram.to("1") if text not in answers]
    assert "cannot read (telegram)" in notice
    assert tracebacks(caplog) == []


async def test_what_came_while_the_bot_was_away_is_answered_when_it_is_back(
    tmp_path: Path, telegram: TelegramServer, model: ScriptedProvider
) -> None:
    """Telegram keeps what was not confirmed; a channel that was down for ten minutes fetches it all, once."""
    clock = EagerClock()
    async with TelegramScene(tmp_path, telegram, provider=model, clock=clock) as scene:
        await scene.hear(message(1, clock))
        await scene.deaf()
        late = [message(number, clock) for number in (2, 3, 4)]
        clock.advance(600)
        scene.listen()
        await scene.hear(*late)
    assert telegram.to("1") == [f"ok: message {number}" for number in (1, 2, 3, 4)]
