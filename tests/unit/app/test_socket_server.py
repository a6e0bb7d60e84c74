"""The socket's server: what a chat hands in is stored before it is confirmed, and a bad neighbour hinders nobody."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from kenobot.app import socket_connection as module
from kenobot.app.running_channels import ChannelState
from kenobot.app.socket_server import SocketServer
from kenobot.app.socket_services import SocketServices
from kenobot.channels.shared_console import SharedConsole
from kenobot.core import local_socket
from kenobot.core.bus import Bus
from kenobot.core.frames import (
    EVENTS,
    ChannelRow,
    ChannelStates,
    ControlChannels,
    Drain,
    Drained,
    Event,
    Hello,
    LogLevel,
    Notice,
    ReadLogLevel,
    Refused,
    Request,
    Say,
    Show,
    Shown,
    Status,
    Stop,
    Stopping,
    Stored,
    Sync,
    Synced,
    Welcome,
    decode,
    encode,
)
from kenobot.ports.errors import ConfigError, StoreFull, Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.signals import MEMORY_WRITTEN
from kenobot_testing.clock import START, ManualClock
from tests.waiting import until

SENT = START.isoformat()


@dataclass
class House:
    """A bot in the place of one. failure: of its disk. busy: set while something is still to be answered."""

    path: Path
    console: SharedConsole = field(default_factory=SharedConsole)
    bus: Bus = field(default_factory=lambda: Bus(ManualClock()))
    taken: dict[str, Inbound] = field(default_factory=dict)
    failure: Exception | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    attached: int = 0
    stopped: bool = False
    clients: list["Client"] = field(default_factory=list)

    async def __call__(self, inbound: Inbound) -> bool:
        await self.room.wait()
        if self.failure is not None:
            raise self.failure
        new = inbound.external_id not in self.taken
        self.taken[inbound.external_id] = inbound
        return new

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        raise AssertionError

    async def report(self, channel: str, problem: str) -> None:
        raise AssertionError

    async def attach(self) -> None:
        self.attached += 1

    async def sync(self) -> int:
        if self.failure is not None:
            raise self.failure
        return 3

    async def status(self, stacks: bool) -> Status:
        raise StoreFull("no room")

    async def log_level(self) -> str:
        if self.failure is not None:
            raise self.failure
        return "debug"

    async def control(self, action: str, name: str) -> tuple[ChannelState, ...]:
        if self.failure is not None:
            raise self.failure
        return (ChannelState(name or "telegram", "stopped" if action == "stop" else "serving"),)

    def services(self) -> SocketServices:
        async def wait() -> None:
            await self.answered.wait()

        def stop() -> None:
            self.stopped = True

        return SocketServices(
            console=self.console,
            user="ana",
            clock=ManualClock(),
            sink=self,
            signals=self.bus,
            attach=self.attach,
            detach=lambda: None,
            wait_answered=wait,
            sync=self.sync,
            stop=stop,
            channels=self.control,
            plugins=tuple,
            log_level=self.log_level,
            status=self.status,
        )


class Client:
    """The other end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def say(self, *requests: Request) -> None:
        for request in requests:
            self.writer.write(encode(request))

    async def hear(self) -> Event | None:
        """The next event; None at the end."""
        async with asyncio.timeout(60):
            line = await self.reader.readline()
        return decode(line, EVENTS) if line else None


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = House(tmp_path / "kenobot.sock")
    house.room.set()
    server = SocketServer(house.path, house.services())
    await server.start()
    yield house
    await server.close()
    assert not house.path.exists()
    for client in house.clients:
        client.writer.close()
        with suppress(OSError):
            await client.writer.wait_closed()
    await house.bus.close()


async def connect(house: House) -> Client:
    link = local_socket.connect(house.path, 5)
    assert link is not None
    link.setblocking(False)
    client = Client(*await asyncio.open_unix_connection(sock=link))
    house.clients.append(client)
    return client


async def chat(house: House, *, trace: bool = False) -> Client:
    """Open a chat that has joined."""
    client, before = await connect(house), house.attached
    client.say(Hello(chat=True, trace=trace))
    assert isinstance(await client.hear(), Welcome)
    await until(lambda: house.attached > before)
    return client


def part(number: int, text: str) -> Outbound:
    return Outbound(number, "console", "local", MessagePart(text), "")


async def test_a_message_is_stored_as_the_owners_and_then_confirmed(house: House) -> None:
    """Who speaks is the home's own setting; a time in the future counts as now."""
    client = await chat(house)
    client.say(Say(id="1", text="hola", sent_at="2999-01-01T00:00:00+00:00"))
    assert await client.hear() == Stored(id="1", new=True)
    stored = house.taken["1"]
    assert (stored.channel, stored.chat, stored.user, stored.text, stored.sent_at) == (
        "console",
        "local",
        "ana",
        "hola",
        START,
    )


async def test_a_message_that_is_handed_in_again_is_confirmed_again(house: House) -> None:
    """As known."""
    client = await chat(house)
    for new in (True, False):
        client.say(Say(id="1", text="hola", sent_at=SENT))
        assert await client.hear() == Stored(id="1", new=new)


async def test_a_disk_that_fails_is_told_and_the_chat_goes_on(house: House) -> None:
    """The message is its sender's to keep."""
    client = await chat(house)
    house.failure = StoreFull("No space is left.")
    client.say(Say(id="1", text="hola", sent_at=SENT))
    assert await client.hear() == Refused(reason="No space is left.")
    house.failure = None
    client.say(Say(id="1", text="hola", sent_at=SENT))
    assert await client.hear() == Stored(id="1", new=True)


async def test_an_answer_counts_as_sent_once_it_was_shown(house: House) -> None:
    """Not when it was written to the socket."""
    client = await chat(house)
    sending = asyncio.create_task(house.console.send(part(7, "hi")))
    assert await client.hear() == Show(id=7, text="hi")
    assert not sending.done()
    client.say(Shown(id=7))
    assert await sending == "7"


async def test_an_answer_is_not_sent_when_the_chat_ends_before_it_was_shown(house: House) -> None:
    """It is left to the next chat."""
    client = await chat(house)
    sending = asyncio.create_task(house.console.send(part(7, "hi")))
    assert await client.hear() == Show(id=7, text="hi")
    client.writer.close()
    with pytest.raises(Unavailable):
        await sending
    await until(lambda: not house.console.is_seen)


async def test_every_chat_shows_the_conversation(house: House) -> None:
    """What one says, the others see; one that shows an answer is enough."""
    one, other = await chat(house), await chat(house)
    one.say(Say(id="1", text="hola", sent_at=SENT))
    assert await one.hear() == Stored(id="1", new=True)
    assert await other.hear() == Notice(text="> hola")
    sending = asyncio.create_task(house.console.send(part(7, "hi")))
    assert await one.hear() == await other.hear() == Show(id=7, text="hi")
    other.say(Shown(id=7))
    assert await sending == "7"


async def test_a_screen_that_shows_nothing_is_cut_off(house: House) -> None:
    """After 32 parts, while another one shows them all."""
    stuck, other = await chat(house), await chat(house)
    for number in range(1, 40):
        sending = asyncio.create_task(house.console.send(part(number, "hi")))
        assert await other.hear() == Show(id=number, text="hi")
        other.say(Shown(id=number))
        await sending
    while await stuck.hear() is not None:
        pass
    assert house.console.is_seen


async def test_a_suspended_chat_is_cut_off(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the answer waits for its coming back instead of being tried again and again."""
    monkeypatch.setattr(module, "_SHOW_SECONDS", 0.01)
    client = await chat(house)
    with pytest.raises(Unavailable):
        await house.console.send(part(7, "hi"))
    assert await client.hear() == Show(id=7, text="hi")
    assert await client.hear() is None


async def test_a_chat_is_told_when_all_is_answered(house: House) -> None:
    """Not before."""
    client = await chat(house)
    client.say(Drain())
    await house.console.print_notice("meanwhile")
    assert await client.hear() == Notice(text="meanwhile")
    house.answered.set()
    assert await client.hear() == Drained()


async def test_a_chat_that_asked_for_it_sees_what_is_written(house: House) -> None:
    """As with `--trace` in a chat of its own."""
    client = await chat(house, trace=True)
    await house.bus.emit(MEMORY_WRITTEN, "memory", "", action="created", scope="owner", text="tea", reason="said so")
    assert await client.hear() == Notice(text="  ⋅ created in owner: tea (said so)")


async def test_a_command_has_the_bot_follow_what_it_wrote(house: House) -> None:
    """And hears how many facts of the files changed, or why it could not."""
    full = StoreFull("No space is left.")
    for failure, answer in ((None, Synced(touched=3)), (full, Refused(reason=str(full)))):
        house.failure = failure
        client = await connect(house)
        client.say(Hello(), Sync())
        assert isinstance(await client.hear(), Welcome)
        assert await client.hear() == answer
        assert await client.hear() is None


@pytest.mark.parametrize("failure", [None, Unavailable("it is gone")])
async def test_a_command_controls_one_channel(house: House, failure: Exception | None) -> None:
    """It is told the states that follow, or why that cannot be."""
    house.failure = failure
    client = await connect(house)
    client.say(Hello(), ControlChannels(action="stop", name="irc"))
    assert isinstance(await client.hear(), Welcome)
    rows = ChannelStates(channels=(ChannelRow(name="irc", state="stopped"),))
    assert await client.hear() == (Refused(reason=str(failure)) if failure else rows)


@pytest.mark.parametrize("failure", [None, ConfigError("there is no such level")])
async def test_a_command_has_the_level_of_the_log_read_anew(house: House, failure: Exception | None) -> None:
    """It is told the level, or what is wrong with the settings."""
    house.failure = failure
    client = await connect(house)
    client.say(Hello(), ReadLogLevel())
    assert isinstance(await client.hear(), Welcome)
    assert await client.hear() == (Refused(reason=str(failure)) if failure else LogLevel(level="debug"))


async def test_the_bot_is_stopped_on_request(house: House) -> None:
    """It says so first."""
    client = await connect(house)
    client.say(Hello(), Stop())
    assert isinstance(await client.hear(), Welcome)
    assert await client.hear() == Stopping()
    await until(lambda: house.stopped)


async def test_another_protocol_is_refused_with_what_to_do(house: House) -> None:
    """After an update, the bot that runs is the older one."""
    client = await connect(house)
    client.say(Hello(protocol=2))
    answer = await client.hear()
    assert isinstance(answer, Refused)
    assert "restart" in answer.reason
    assert await client.hear() is None


async def test_another_user_is_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything that they say is read."""
    client = await connect(house)
    monkeypatch.setattr(local_socket, "is_own", lambda link: False)
    client.say(Hello(chat=True))
    answer = await client.hear()
    assert isinstance(answer, Refused)
    assert "another user" in answer.reason


@pytest.mark.parametrize("sent", [b"hello\n", b'{"kind":"stop"}\n', b"", b"half"])
async def test_an_end_that_does_not_greet_is_left(house: House, sent: bytes) -> None:
    """And nothing it asks for is done."""
    client = await connect(house)
    client.writer.write(sent)
    client.writer.write_eof()
    assert await client.hear() is None
    assert not house.stopped


async def test_an_end_that_says_nothing_is_left(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some seconds."""
    monkeypatch.setattr(module, "_HELLO_SECONDS", 0.01)
    client = await connect(house)
    assert await client.hear() is None


async def test_a_line_that_never_ends_is_cut_off(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the longest frame."""
    client = await chat(house)
    with pytest.raises((OSError, AssertionError)):
        while True:
            client.writer.write(b"x" * 1_000_000)
            await client.writer.drain()
            assert not client.reader.at_eof()
    assert not house.taken


async def test_a_chat_asks_for_one_thing_at_a_time(house: House) -> None:
    """Otherwise messages might change places."""
    house.room.clear()
    client = await chat(house)
    client.say(Say(id="1", text="a", sent_at=SENT), Say(id="2", text="b", sent_at=SENT))
    assert await client.hear() is None


async def test_more_chats_than_there_is_room_for(house: House) -> None:
    """The one too many is told why."""
    chats = [await chat(house) for _ in range(16)]
    client = await connect(house)
    answer = await client.hear()
    assert isinstance(answer, Refused)
    assert "16" in answer.reason
    chats[0].writer.close()
    async with asyncio.timeout(60):
        while True:
            client = await connect(house)
            client.say(Hello())
            if isinstance(await client.hear(), Welcome):
                break


async def test_where_sockets_cannot_be_the_bot_runs_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Such as on some network drives."""
    house = House(tmp_path / "nowhere" / "kenobot.sock")
    server = SocketServer(house.path, house.services())
    await server.start()
    await server.close()
    assert "no chat can join" in caplog.text
    with socket.socket(socket.AF_UNIX) as link, pytest.raises(OSError, match="No such file"):
        link.connect(str(house.path))
    await house.bus.close()
