"""The signed webhook: who gets in, what is taken in, and what each caller is told."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from kenobot.core.bus import Bus
from kenobot.ports.channel import HookAnswer, HookRequest
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import Inbound
from kenobot.ports.signals import MESSAGE_OUT, TURN_FAILED
from kenobot_http import server
from kenobot_http.body_bounds import HOOK_BYTES, LONG_HOOKS
from kenobot_testing.clock import ManualClock
from kenobot_testing.fake_channel import FakeChannel, RecordingSink
from tests.integration.http.served import SECRET, channel_of, served, signed


class Answering(RecordingSink):
    """Answers each message by what it says, in the order that `answered` gives; knows what it had before."""

    def __init__(self, bus: Bus, *, fails: bool = False) -> None:
        super().__init__()
        self._bus = bus
        self._fails = fails
        self.known: set[str] = set()

    async def __call__(self, inbound: Inbound) -> bool:
        if inbound.external_id in self.known:
            return False
        self.known.add(inbound.external_id)
        await super().__call__(inbound)
        if self._fails:
            await self._bus.emit(TURN_FAILED, "loop", inbound.trace)
        await self._bus.emit(MESSAGE_OUT, "loop", inbound.trace, text=f"You said {inbound.text}")
        return True


async def test_a_signed_message_is_answered_in_the_response() -> None:
    """It comes in under the conversation and sender that it names."""
    clock = ManualClock()
    bus = Bus(clock)
    channel, sink = channel_of(clock, bus, wait_seconds=10), Answering(bus)
    async with served(channel, sink) as client:
        body = {"message": "ñandú 👋", "chat_id": "c1", "user": "ana", "name": "Ana", "id": "7"}
        answer = await client.post("/webhook", **signed(clock, body))
    assert (answer.status_code, answer.json()) == (200, {"response": "You said ñandú 👋", "status": "ok"})
    (taken,) = sink.accepted
    assert (taken.channel, taken.chat, taken.user, taken.user_name) == ("http", "ana/c1", "ana", "Ana")
    assert (taken.external_id, taken.private) == ("webhook:7", True)
    await bus.close()


async def test_the_owner_s_conversation_has_the_plain_name() -> None:
    """Another user who names the same conversation comes into one of their own."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    async with served(channel, sink) as client:
        for user in ("", "bob", "bob.c1"):
            await client.post("/webhook", **signed(clock, {"message": "hi", "chat_id": "c1", "user": user, "id": user}))
        await client.post("/webhook", **signed(clock, {"message": "hi", "chat_id": "team", "group": True}))
    assert sink.accepted[0].session == "http-c1"
    assert len({each.session for each in sink.accepted}) == 4
    assert [(each.chat, each.private) for each in sink.accepted][-1] == ("#team", False)


async def test_concurrent_calls_of_one_conversation_get_their_own_answers() -> None:
    """Each waits for the answer to its own message."""
    clock = ManualClock()
    bus = Bus(clock)
    channel, sink = channel_of(clock, bus, wait_seconds=10), RecordingSink()
    async with served(channel, sink) as client:
        calls = [
            asyncio.create_task(client.post("/webhook", **signed(clock, {"message": str(number), "chat_id": "c1"})))
            for number in range(8)
        ]
        for inbound in reversed(await sink.until_accepted(8)):
            await bus.emit(MESSAGE_OUT, "loop", inbound.trace, text=f"answer {inbound.text}")
        answers = [(await call).json()["response"] for call in calls]
    assert answers == [f"answer {number}" for number in range(8)]
    await bus.close()


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"secret": "another secret, wrong"}, 401, "invalid signature"),
        ({"stamp": ""}, 401, "invalid signature"),
        ({"stamp": "0"}, 401, "stale timestamp: sign the message anew"),
        ({"stamp": "99999999999999999999"}, 401, "stale timestamp: sign the message anew"),
        ({"stamp": "-1"}, 401, "stale timestamp: sign the message anew"),
        ({"stamp": "١٧٦٣"}, 401, "invalid signature"),
        ({"stamp": "soon"}, 401, "stale timestamp: sign the message anew"),
    ],
)
async def test_what_is_not_signed_now_by_the_secret_is_refused(change: dict[str, str], status: int, error: str) -> None:
    """Before its body is looked at."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    request = signed(clock, b"not json", **change)
    request["headers"] = {name: value.encode() for name, value in request["headers"].items()}
    async with served(channel, sink) as client:
        answer = await client.post("/webhook", **request)
    assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert not sink.accepted


async def test_a_signature_holds_for_its_body_and_time_alone() -> None:
    """Either of them changed, the other's signature is wrong."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    request = signed(clock, {"message": "pay 1"})
    later = {**request["headers"], "x-webhook-timestamp": str(int(clock.now().timestamp()) + 1)}
    async with served(channel, sink) as client:
        changed = await client.post("/webhook", content=b'{"message": "pay 2"}', headers=request["headers"])
        moved = await client.post("/webhook", content=request["content"], headers=later)
    assert (changed.status_code, moved.status_code, sink.accepted) == (401, 401, [])


async def test_a_replay_is_refused_and_learns_no_answer() -> None:
    """The very same request, and a message signed anew under the same id."""
    clock = ManualClock()
    bus = Bus(clock)
    channel, sink = channel_of(clock, bus, wait_seconds=10), Answering(bus)
    async with served(channel, sink) as client:
        for body in ({"message": "hello"}, {"message": "hello", "id": "1"}):
            request = signed(clock, body)
            first, again = await client.post("/webhook", **request), await client.post("/webhook", **request)
            assert (first.status_code, again.status_code) == (200, 409)
            assert "You said" not in again.text
        clock.advance(2)
        anew = await client.post("/webhook", **signed(clock, {"message": "hello", "id": "1"}))
        assert anew.status_code == 409
    assert len(sink.accepted) == 2
    await bus.close()


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"not json", "invalid json"),
        (b'\xff\xfe{"message": "x"}', "invalid json"),
        ({"msg": "x"}, "missing message field"),
        ({"message": ""}, "missing message field"),
        ({"message": 7}, "message: Input should be a valid string"),
        (["message"], "the body must be an object"),
        ({"message": "x", "chat_id": "../../etc"}, "chat_id: String should match pattern '^[A-Za-z0-9_-]{1,64}$'"),
    ],
)
async def test_what_is_no_message_is_told_why(body: object, error: str) -> None:
    """A signed body of another form is answered with 400."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    async with served(channel, sink) as client:
        answer = await client.post("/webhook", **signed(clock, body))
    assert (answer.status_code, answer.json()) == (400, {"error": error})
    assert not sink.accepted


async def test_bodies_are_bounded_announced_or_not() -> None:
    """Neither a large body nor an endless one is held."""
    clock = ManualClock()
    channel, sink = channel_of(clock, body_bytes=4096), RecordingSink()
    request = signed(clock, {"message": "x" * 5000})

    async def in_pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(request["content"]), 1000):
            yield request["content"][start : start + 1000]

    async with served(channel, sink) as client:
        announced = await client.post("/webhook", **request)
        streamed = await client.post("/webhook", content=in_pieces(), headers=request["headers"])
    assert (announced.status_code, streamed.status_code) == (413, 413)
    assert not sink.accepted


class Hook(FakeChannel):
    """A channel whose platform posts. held: how many requests it is at; each ends once it is `free`."""

    awaits_requests = True

    def __init__(self) -> None:
        super().__init__()
        self.held = asyncio.Semaphore(0)
        self.free = asyncio.Event()

    async def take_request(self, request: HookRequest) -> HookAnswer:
        self.held.release()
        await self.free.wait()
        return HookAnswer(200, str(len(request.body)))


async def test_what_platforms_post_has_a_bound_of_its_own_and_few_are_held() -> None:
    """Nobody's signature is checked before the body is there; what is left out comes again."""
    channel, hook = channel_of(ManualClock(), body_bytes=4096), Hook()
    channel.others = {"hook": hook}

    async with served(channel, RecordingSink()) as client, asyncio.timeout(60):
        posting = [asyncio.create_task(client.post("/hooks/hook", content=b"x" * 5000)) for _ in range(LONG_HOOKS)]
        for _ in posting:
            await hook.held.acquire()
        one_more = await client.post("/hooks/hook", content=b"x" * 5000)
        short = asyncio.create_task(client.post("/hooks/hook", content=b"x" * 4000))
        await hook.held.acquire()
        hook.free.set()
        taken = [(each.status_code, each.text) for each in await asyncio.gather(*posting, short)]
        later = await client.post("/hooks/hook", content=b"x" * HOOK_BYTES)
    assert taken == [(200, "5000")] * LONG_HOOKS + [(200, "4000")]
    assert (one_more.status_code, later.text) == (503, str(HOOK_BYTES))


async def test_a_message_that_is_not_stored_is_to_be_sent_again() -> None:
    """503 while the disk fails; then it is taken."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink(StoreError("the disk is full"))
    request = signed(clock, {"message": "precious"})
    async with served(channel, sink) as client:
        first, second = await client.post("/webhook", **request), await client.post("/webhook", **request)
    assert (first.status_code, second.status_code) == (503, 202)
    assert [each.text for each in sink.accepted] == ["precious"]


async def test_a_turn_without_an_answer_says_so() -> None:
    """The sentence that the person gets comes with another status."""
    clock = ManualClock()
    bus = Bus(clock)
    channel, sink = channel_of(clock, bus, wait_seconds=10), Answering(bus, fails=True)
    async with served(channel, sink) as client:
        answer = await client.post("/webhook", **signed(clock, {"message": "hello"}))
    assert answer.json()["status"] == "failed"
    await bus.close()


async def test_older_programs_sign_the_body_alone_where_that_is_allowed() -> None:
    """A setting admits signatures without a time; the same body counts once."""
    clock = ManualClock()
    channel, sink = channel_of(clock, webhook_unstamped=True), RecordingSink()
    async with served(channel, sink) as client:
        answer = await client.post("/webhook", **signed(clock, {"message": "hello"}, stamp=""))
    assert answer.status_code == 202
    assert len(sink.accepted) == 1


@pytest.mark.parametrize("path", ["/webhook?x=1", "/", "/nothing"])
async def test_every_other_path_is_not_found(path: str) -> None:
    """No signature covers a query."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    async with served(channel, sink) as client:
        answer = await client.post(path, **signed(clock, {"message": "hello"}))
    name = "error" if path.startswith("/webhook") else "detail"  # the webhook keeps the form that its callers know
    assert (answer.status_code, answer.json()[name]) == (404, "not found")


async def test_without_a_secret_there_is_no_webhook() -> None:
    """An empty secret signs nothing."""
    clock = ManualClock()
    channel, sink = channel_of(clock, webhook_secret=""), RecordingSink()
    async with served(channel, sink) as client:
        answer = await client.post("/webhook", **signed(clock, {"message": "hello"}, secret=""))
    assert answer.status_code == 404


async def test_guessing_signatures_is_slowed_down() -> None:
    """After thirty wrong ones a minute from one address, whatever headers say about where they come from."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    wrong = signed(clock, {"message": "hello"}, secret="wrong, but long enough")
    async with served(channel, sink) as client:
        codes = []
        for number in range(32):
            headers = {**wrong["headers"], "x-forwarded-for": f"10.0.0.{number}"}
            codes.append((await client.post("/webhook", content=wrong["content"], headers=headers)).status_code)
        right = await client.post("/webhook", **signed(clock, {"message": "hello"}))
    assert codes == [401] * 30 + [429] * 2
    assert right.status_code == 202


async def test_callers_that_wait_are_let_go_when_it_stops() -> None:
    """A stop takes a moment, and tells who still waits that the answer is pending."""
    clock = ManualClock()
    channel, sink = channel_of(clock, wait_seconds=60), RecordingSink()
    running = asyncio.create_task(channel.run(sink))
    while channel.server is None:
        await asyncio.sleep(0)
    await channel.server.is_listening.wait()
    base = f"http://127.0.0.1:{channel.server.port}"
    async with httpx.AsyncClient(base_url=base, timeout=60, trust_env=False) as client:
        waiting = asyncio.create_task(client.post("/webhook", **signed(clock, {"message": "hello"})))
        await sink.until_accepted(1)
        channel.calls.close()
        answer = await waiting
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    assert json.loads(answer.text)["id"] == sink.accepted[0].trace


def test_the_secret_is_shown_nowhere() -> None:
    """Neither the settings nor the channel print it."""
    channel = channel_of(ManualClock())
    assert SECRET not in repr(channel.settings)


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /healthz HTTP/1.1\r\nX-Endless: ",
        b"GET /healthz HTTP/1.1\r\nX: y\r\n",
        b"POST /webhook HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Endless: ",
    ],
)
async def test_a_head_without_end_is_not_kept(begun: bytes) -> None:
    """Nor are the fields behind a body: after some kilobytes the connection is closed, long before its time is up."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    more = b"x" * 50_000 if begun.endswith(b": ") else b"X-Field: y\r\n" * 5000
    async with served(channel, sink), asyncio.timeout(60):
        assert channel.server is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", channel.server.port)
        writer.write(begun)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                writer.write(more)
                await writer.drain()
            await reader.read()  # nothing comes but the end
        writer.close()


async def test_a_connection_that_reads_no_answer_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not read is not kept for long."""
    monkeypatch.setattr(server, "UNREAD_SECONDS", 0.05)
    is_closed = asyncio.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(20_000_000), "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        is_closed.set()

    serving = server.Server(answer, "127.0.0.1", 0)
    running = asyncio.create_task(serving.serve(before_closing=lambda: None))
    async with asyncio.timeout(60):
        await serving.is_listening.wait()
        _, writer = await asyncio.open_connection("127.0.0.1", serving.port, limit=1)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await is_closed.wait()
        writer.transport.abort()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_connection_that_asks_without_end_is_closed() -> None:
    """A few requests may come before the first is answered; thousands at once hold nobody else up."""
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    async with served(channel, sink), asyncio.timeout(60):
        assert channel.server is not None
        for count, answers in ((5, 5), (5000, 0)):
            reader, writer = await asyncio.open_connection("127.0.0.1", channel.server.port)
            writer.write(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * count)
            for _ in range(answers):
                assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 404 ")
            if not answers:
                with contextlib.suppress(ConnectionError):
                    assert (await reader.read()).count(b"HTTP/1.1 404 ") < 20
            writer.close()


async def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one whose head never ends: others need the room. One that speaks in time is served as before."""
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.05)
    clock = ManualClock()
    channel, sink = channel_of(clock), RecordingSink()
    async with served(channel, sink) as client, asyncio.timeout(60):
        assert channel.server is not None
        for said in (b"", b"POST /webhook HTTP/1.1\r\nX-Endless: "):
            reader, writer = await asyncio.open_connection("127.0.0.1", channel.server.port)
            writer.write(said)
            assert await reader.read() == b""
            writer.close()
        assert (await client.post("/webhook", **signed(clock, {"message": "hello"}))).status_code == 202
