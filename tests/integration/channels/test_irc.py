"""The IRC channel, on an ngircd."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from kenobot.ports import sentences
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock, SystemClock
from kenobot.ports.errors import Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import MessagePart, Outbound
from kenobot_irc.channel import IrcChannel
from kenobot_irc.settings import IrcSettings
from kenobot_testing.channel import ChannelContract
from kenobot_testing.clock import ManualClock
from kenobot_testing.fake_channel import RecordingSink
from tests.constants import with_constants
from tests.integration.channels.ngircd import Person, ngircd, person
from tests.integration.channels.processes import free_port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One server for all tests of this file."""
    with ngircd(tmp_path_factory.mktemp("ngircd")) as port:
        yield port


def bot(port: int, clock: Clock | None = None, **settings: object) -> IrcChannel:
    """A channel at a server of this machine, that Ana owns."""
    values = {"server": "127.0.0.1", "port": port, "tls": False, "owners": ["ana!*@127.*"], "allowed_chats": ["#Home"]}
    return IrcChannel(with_constants(IrcSettings, **(values | settings)), clock or SystemClock())


@asynccontextmanager
async def talking(
    port: int, clock: Clock | None = None, **settings: object
) -> AsyncIterator[tuple[IrcChannel, RecordingSink, Person]]:
    """A channel that runs, and Ana, who is in its room."""
    channel, sink = bot(port, clock, **settings), RecordingSink()
    async with person(port) as ana:
        running = asyncio.create_task(channel.run(sink))
        try:
            ana.write("JOIN #home")
            await ana.until(" 366 ")
            await ana.until_there("kenobot")
            yield channel, sink, ana
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def sent(channel: Channel, chat: str, text: str) -> None:
    """Send each part of a reply."""
    for number, part in enumerate(channel.render(text), 1):
        await channel.send(Outbound(number, "irc", chat, part, "trace"))


class TestIrc(ChannelContract):
    """The suite, run on IRC."""

    chat = "#home"
    sends_while_running = True

    @pytest.fixture
    async def channel(self, server: int) -> AsyncIterator[Channel]:
        """A bot, and Ana, who writes once it is there: IRC keeps nothing for those who are not."""
        self._said: asyncio.Queue[str] = asyncio.Queue()
        async with person(server) as ana:

            async def speak() -> None:
                await ana.until_there("kenobot")
                while True:
                    ana.write(f"PRIVMSG kenobot :{await self._said.get()}")

            speaking = asyncio.create_task(speak())
            yield bot(server)
            speaking.cancel()
            await asyncio.gather(speaking, return_exceptions=True)

    @pytest.fixture
    def failing(self) -> Channel:
        """A bot that is not connected."""
        return bot(9)

    async def say(self, channel: Channel, text: str) -> None:
        """Ana writes to the bot."""
        self._said.put_nowait(text)


async def test_a_person_is_known_by_their_mask_and_a_nick_alone_is_nobody(server: int) -> None:
    """The owner's list has a mask; whoever it does not fit is called by the whole mask."""
    async with talking(server) as (_, sink, ana), person(server, "bob") as bob:
        ana.write("PRIVMSG kenobot :hello")
        bob.write("PRIVMSG kenobot :hello too")
        first, second = await sink.until_accepted(2)
    assert (first.user, first.user_name, first.private, first.chat) == ("ana!*@127.*", "ana", True, "ana ana!*@127.*")
    assert second.user.startswith("bob!~bob@") and second.chat == f"bob {second.user}"


async def test_in_a_room_only_its_name_calls_the_bot(server: int) -> None:
    """The name at the beginning is taken away, and the answer goes to the room."""
    async with talking(server) as (channel, sink, ana):
        ana.write("PRIVMSG #home :nothing for kenobots", "PRIVMSG #home :KenoBot: what is new?")
        (inbound,) = await sink.until_accepted(1)
        await sent(channel, inbound.chat, "**All** is well.\nSo it is.")
        assert (await ana.until("PRIVMSG")).endswith("PRIVMSG #home :\x02All\x02 is well.")
        assert (await ana.until("PRIVMSG")).endswith("PRIVMSG #home :So it is.")
    assert (inbound.text, inbound.chat, inbound.private) == ("what is new?", "#home", False)


async def test_a_long_answer_in_any_script_arrives_whole(server: int) -> None:
    """In lines within the protocol's 512 bytes, none of them cut by the server."""
    text = " ".join(["ñandú", "你好", "👩‍👩‍👧", "word"] * 60)
    async with talking(server) as (channel, _, ana):
        sending = asyncio.create_task(sent(channel, "ana ana!*@127.*", text))
        heard = ""
        while len(heard.split()) < len(text.split()):
            heard += " " + (await ana.until("PRIVMSG ana :")).partition(" :")[2]
        await sending
    assert heard.split() == text.split()


async def test_a_list_of_many_lines_is_no_longer_than_a_few_parts(server: int) -> None:
    """Lines are not counted one by one against the longest answer."""
    parts = bot(server).render("\n".join(f"- item {number}" for number in range(30)))
    assert len(parts) <= 10
    assert "\n".join(part.text for part in parts).count("item") == 30


async def test_words_cannot_become_commands(server: int) -> None:
    """Each line of a part is a message of its own, and no line break gets through."""
    async with talking(server) as (channel, _, ana):
        await channel.send(Outbound(1, "irc", "#home", MessagePart("one\r\nQUIT :two"), "trace"))
        assert (await ana.until("PRIVMSG")).endswith("PRIVMSG #home :one")
        assert (await ana.until("PRIVMSG")).endswith("PRIVMSG #home :QUIT :two")
        with pytest.raises(Rejected):
            await channel.send(Outbound(2, "irc", "#home\r\nQUIT", MessagePart("x"), "trace"))


async def test_whoever_has_left_is_written_to_later_and_a_closed_room_is_refused(server: int) -> None:
    """The server's complaint comes before its answer to the ping."""
    async with talking(server) as (channel, _, _ana):
        with pytest.raises(Unavailable, match="nobody is not on IRC now") as away:
            await channel.send(Outbound(1, "irc", "nobody nobody!a@b", MessagePart("hi"), "trace"))
        with pytest.raises(Rejected):
            await channel.send(Outbound(2, "irc", "#elsewhere", MessagePart("hi"), "trace"))
        await sent(channel, "#home", "still here")
    assert away.value.retry_after == 60


async def test_a_nick_is_asked_after_again_when_some_time_has_passed(server: int) -> None:
    """So that an answer never goes to another person who has taken it meanwhile."""
    clock = ManualClock()
    async with talking(server, clock, owners=["cleo!~cleo@127.*"]) as (channel, sink, ana):
        async with person(server, "cleo") as cleo:
            cleo.write("PRIVMSG kenobot :hello")
            (inbound,) = await sink.until_accepted(1)
            clock.advance(3600)
            await sent(channel, inbound.chat, "a secret")
            assert (await cleo.until("PRIVMSG")).endswith(":a secret")
            cleo.write("QUIT")
            await cleo.until("ERROR")
        while "cleo" in (await _ison(ana, "cleo")).split(":", 1)[-1]:
            await asyncio.sleep(0.01)
        ana.write("NICK cleo")
        await ana.until("NICK")
        clock.advance(3600)
        with pytest.raises(Unavailable, match="somebody else"):
            await sent(channel, inbound.chat, "another secret")
        for number in range(1200):
            channel._meet(f"person{number} mask")
        assert len(channel._met) == 1000


async def test_a_nick_that_is_taken_is_taken_back_when_it_is_free(server: int) -> None:
    """Until then the bot has another."""
    async with person(server, "keno") as other, talking(server, nick="kenobot") as (_, _, ana):
        second = bot(server, nick="keno", allowed_chats=["#home"])
        running = asyncio.create_task(second.run(RecordingSink()))
        await ana.until_there("keno_")
        other.write("JOIN #home", "QUIT")
        await ana.until_there("keno")
        while "keno_" in await _ison(ana, "keno_"):
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _ison(asker: Person, nick: str) -> str:
    asker.write(f"ISON {nick}")
    return (await asker.until(" 303 ")).partition(" 303 ")[2].split(":", 1)[1]


async def test_what_was_not_stored_when_the_connection_ended_is_stored_on_the_next(server: int) -> None:
    """Between them it is kept in memory, under the same id."""
    channel = bot(server)
    full = RecordingSink(*[StoreError("the disk is full")])
    async with person(server) as ana:
        running = asyncio.create_task(channel.run(full))
        await ana.until_there("kenobot")
        ana.write("PRIVMSG kenobot :precious")
        while not full.refused:
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        sink = RecordingSink()
        running = asyncio.create_task(channel.run(sink))
        (kept,) = await sink.until_accepted(1)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert kept == full.refused[0]


async def test_a_server_that_goes_away_ends_the_run_and_what_is_being_sent(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The supervisor then connects anew; a part that may have arrived is tried again."""
    with ngircd(tmp_path_factory.mktemp("ngircd")) as port:
        channel = bot(port)
        running = asyncio.create_task(channel.run(RecordingSink()))
        async with person(port) as ana:
            await ana.until_there("kenobot")
    with pytest.raises(RemoteError):
        await running
    with pytest.raises(Unavailable):
        await channel.send(Outbound(1, "irc", "#home", MessagePart("hi"), "trace"))


async def test_a_wrong_password_is_told_to_the_owner(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With what to check."""
    sink = RecordingSink()
    with ngircd(tmp_path_factory.mktemp("ngircd"), password="right") as port:
        with pytest.raises(RemoteError):
            await bot(port, password="wrong").run(sink)
        assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]
        right = asyncio.create_task(bot(port, password="right").run(sink))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        asker = Person(reader, writer)
        asker.write("PASS right", "NICK ana", "USER ana 0 * :ana")
        await asker.until(" 001 ")
        await asker.until_there("kenobot")
        right.cancel()
        await asyncio.gather(right, return_exceptions=True)
        writer.close()
        await writer.wait_closed()


async def test_a_server_that_is_away_is_unavailable() -> None:
    """The text says so."""
    with pytest.raises(Unavailable, match="cannot be reached"):
        await bot(free_port()).run(RecordingSink())


@asynccontextmanager
async def scripted(*answers: tuple[str, str]) -> AsyncIterator[tuple[int, asyncio.Queue[str]]]:
    """A server that answers lines with that beginning; yields its port and all that it heard."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := (await reader.readline()).decode().rstrip():
            heard.put_nowait(line)
            writer.write("".join(f"{answer}\r\n" for start, answer in answers if line.startswith(start)).encode())
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heard


@asynccontextmanager
async def connected(channel: Channel) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs."""
    sink = RecordingSink()
    task = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            yield sink
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(heard: asyncio.Queue[str], start: str) -> str:
    """The first line with that beginning."""
    while not (line := await heard.get()).startswith(start):
        pass
    return line


async def test_extensions_are_asked_for_once_all_are_told() -> None:
    """Some servers have more than fit one line; logging in comes before the rest."""
    told = ("CAP LS", ":s CAP * LS * :away server-time=x\r\n:s CAP * LS :sasl=PLAIN account-tag")
    taken = ("CAP REQ", ":s CAP * ACK :account-tag sasl server-time")
    login = (("AUTHENTICATE PLAIN", "AUTHENTICATE +"), ("AUTHENTICATE a", ":s 903 * :in"))
    welcome = ("CAP END", ":s 001 kenobot :hi")
    async with (
        scripted(told, taken, *login, welcome) as (port, heard),
        connected(bot(port, account="k", account_password="p")),
    ):
        assert await until(heard, "CAP REQ") == "CAP REQ :account-tag sasl server-time"
        assert await until(heard, "AUTH") == "AUTHENTICATE PLAIN"
        assert await until(heard, "AUTH") == "AUTHENTICATE awBrAHA="
        await until(heard, "JOIN")


async def test_programs_are_left_alone_and_a_nick_that_is_held_is_another() -> None:
    """Networks mark those that say they are programs; an answer could go round in a loop."""
    lines = (
        ":s 001 kenobot_ :hi",
        "@bot :ana!a@127.0.0.1 PRIVMSG kenobot_ :one",
        ":ana!a@127.0.0.1 PRIVMSG kenobot_ :two",
    )
    held, free = ("USER", ":s 437 * kenobot :held"), ("NICK kenobot_", "\r\n".join(lines))
    async with scripted(held, free) as (port, _), connected(bot(port)) as sink:
        (inbound,) = await sink.until_accepted(1)
    assert inbound.text == "two"


@pytest.mark.parametrize(
    ("shown", "address"),
    [("cloak.example.org", "~k@cloak.example.org"), ("other@b.example.org", "other@b.example.org")],
)
async def test_what_others_see_of_the_bot_is_known_when_it_changes(shown: str, address: str) -> None:
    """It counts in the length of each line. RPL_VISIBLEHOST (396) of modern.ircdocs.horse: `[<user>@]<host>`."""
    told = [
        ":kenobot!~k@127.0.0.1 JOIN :#home",
        f":s 396 kenobot {shown} :is now your visible host",
        ":ana!a@127.0.0.1 PRIVMSG kenobot :hello",
    ]
    answers = (("USER", ":s 001 kenobot :hi"), ("JOIN", "\r\n".join(told)))
    async with scripted(*answers) as (port, _), connected(channel := bot(port)) as sink:
        await sink.until_accepted(1)
        assert channel._address == address


async def test_a_server_that_lets_nobody_in_is_left() -> None:
    """It answers, and says no welcome."""
    clock = ManualClock()
    async with scripted(("CAP LS", "PING :x")) as (port, heard):
        running = asyncio.create_task(bot(port, clock).run(RecordingSink()))
        async with asyncio.timeout(60):
            await until(heard, "PONG")
            clock.advance(120)
            with pytest.raises(Unavailable, match="in time"):
                await running


@pytest.mark.parametrize("mask", ["ana", "ana!*@*", "*!*@*.*", "ana!ana@?*"])
def test_a_mask_that_fits_people_from_everywhere_is_refused(mask: str) -> None:
    """A nick, and the name behind it, may be taken by anybody."""
    with pytest.raises(ValueError, match="account:ana"):
        bot(1, owners=[mask])


async def test_a_welcome_is_access_and_no_room_is_joined() -> None:
    """So a setup disturbs nobody."""
    async with scripted(("USER", ":irc.example.org 001 kenobot :Welcome")) as (port, heard):
        await bot(port).check_access()
        assert not [line for line in (heard.get_nowait() for _ in range(heard.qsize())) if line.startswith("JOIN")]


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (":irc.example.org 464 * :Bad password", Rejected, "does not let the bot in (Bad password): check nick"),
        ("ERROR :Closing link", Unavailable, "ended the connection (Closing link)"),
        (":irc.example.org NOTICE * :Wait", Unavailable, "did not let the bot in in time"),
    ],
    ids=["password", "thrown out", "silent"],
)
async def test_no_welcome_is_no_access(answer: str, error: type[RemoteError], told: str) -> None:
    """A server that stays silent is given up after the deadline."""
    async with scripted(("USER", answer)) as (port, _):
        with pytest.raises(error, match=re.escape(told)):
            await bot(port, request_seconds=0.3).check_access()
