"""The IRC channel on servers that are set up as networks set them up: an inspircd, and a ZNC before an ngircd."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from kenobot.ports.errors import Rejected, Unavailable
from kenobot.ports.messages import MessagePart, Outbound
from kenobot_irc.channel import IrcChannel
from tests.integration.channels import test_irc
from tests.integration.channels.inspircd import inspircd
from tests.integration.channels.ngircd import Person, ngircd, person
from tests.integration.channels.test_irc import bot, connected, sent, talking
from tests.integration.channels.znc import PASSWORD, USER, znc


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One server for all tests of this file that need none of their own."""
    with inspircd(tmp_path_factory.mktemp("inspircd")) as port:
        yield port


@pytest.mark.slow
class TestIrcWithPenaltiesAndHistory(test_irc.TestIrc):
    """The suite, run on an inspircd."""


@asynccontextmanager
async def host_channel(port: int, mode: str) -> AsyncIterator[tuple[IrcChannel, Person]]:
    """A channel that runs, and Ana, who had the room first, and gives it a mode."""
    async with person(port) as ana:
        ana.write("JOIN #home", f"MODE #home {mode}")
        await ana.until(" 366 ")
        async with connected(channel := bot(port)):
            await ana.until("kenobot@127.0.0.1 JOIN")
            yield channel, ana


async def heard_by(ana: Person, count: int) -> list[str]:
    """The words of the next messages."""
    return [(await ana.until("PRIVMSG")).split(" :", 1)[1] for _ in range(count)]


async def dealt_with(ana: Person) -> None:
    """Wait until the server has done what Ana told it."""
    ana.write("PING :dealt-with")
    await ana.until("PONG")


async def test_a_room_that_takes_no_formatting_gets_the_words_alone(server: int) -> None:
    """In their order, each once, and at once the next time.

    InspIRCd 3.15 with m_blockcolor answers 404 to each formatted line into a channel with +c.
    """
    async with host_channel(server, "+c") as (channel, ana):
        for _ in range(2):
            await sent(channel, "#home", "first\n**Bold** words\nthird\n`code` and *more*")
            assert await heard_by(ana, 4) == ["first", "Bold words", "third", "code and more"]


async def test_a_refusal_that_is_not_for_the_formatting_stays_one(server: int) -> None:
    """And none of its complaints is taken for one about the next message.

    InspIRCd 3.15 answers 404 to each of the lines into a channel with +m.
    """
    async with host_channel(server, "+m") as (channel, ana):
        for text in ("one\ntwo\nthree", "one\n**two**\nthree"):
            with pytest.raises(Rejected, match="does not take"):
                await channel.send(Outbound(1, "irc", "#home", channel.render(text)[0], "trace"))
            await sent(channel, "ana ana!*@127.*", "still here")
            assert await heard_by(ana, 1) == ["still here"]


async def test_whoever_takes_messages_of_some_people_only_is_written_to_later(server: int) -> None:
    """They are told by the server, and may accept the bot meanwhile.

    InspIRCd 3.15 with m_callerid answers 716 and 717 to a message to a person with +g.
    """
    async with talking(server) as (channel, _, ana):
        ana.write("MODE ana +g")
        await dealt_with(ana)
        with pytest.raises(Unavailable, match="ana takes only messages of people they accept") as refused:
            await sent(channel, "ana ana!*@127.*", "Reminder: milk")
        ana.write("ACCEPT kenobot")
        await dealt_with(ana)
        await sent(channel, "ana ana!*@127.*", "Reminder: milk")
        assert await heard_by(ana, 1) == ["Reminder: milk"]
    assert refused.value.retry_after == 60


@pytest.mark.parametrize("modules", [(), ("ircv3_ctctags", "ircv3_msgid")], ids=["without ids", "with ids"])
async def test_the_history_of_a_room_is_not_answered_again(
    tmp_path_factory: pytest.TempPathFactory, modules: tuple[str, ...]
) -> None:
    """However often the bot comes; what is said while it is there is.

    InspIRCd 3.15 with m_chanhistory (+H 20:1h) repeats it at each join, dated by the second, with the ids of
    m_ircv3_msgid where that is loaded.
    """
    taken: dict[str, str] = {}
    with inspircd(tmp_path_factory.mktemp("inspircd"), *modules) as port:
        async with person(port) as ana:
            ana.write("JOIN #home")
            await ana.until(" 366 ")
            for question in ("what is the wifi?", "and the door?"):
                async with connected(bot(port)) as sink:
                    await ana.until("kenobot@127.0.0.1 JOIN")
                    ana.write(f"PRIVMSG #home :kenobot: {question}")
                    while question not in [inbound.text for inbound in sink.accepted]:
                        await sink.until_accepted(len(sink.accepted) + 1)
                assert not modules or len(sink.accepted) == len(taken) + 1
                taken |= {inbound.external_id: inbound.text for inbound in sink.accepted}
    assert [*taken.values()] == ["what is the wifi?", "and the door?"]


async def test_a_long_mask_of_the_bot_leaves_its_lines_whole(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The server puts it before them, in 512 bytes in all, and cuts what is over.

    InspIRCd 3.15: hosts of 64, nicks of 30 and channels of 64 characters.
    """
    nick, room = "keno-the-family-assistant-bot0", f"#{'h' * 54}"
    text = " ".join(f"word{number:03}" for number in range(160))
    with inspircd(tmp_path_factory.mktemp("inspircd"), modes="+x", suffix="x" * 49) as port:
        async with person(port) as ana:
            ana.write(f"JOIN {room}")
            await ana.until(" 366 ")
            async with connected(channel := bot(port, nick=nick, allowed_chats=[room])):
                joined = await ana.until(f"{nick}!")
                await sent(channel, room, text)
                heard: list[str] = []
                while sum(len(line.split()) for line in heard) < 160:
                    heard += await heard_by(ana, 1)
    assert len(joined.split("@")[1].split()[0]) > 60, "the host is no long one"
    assert " ".join(heard).split() == text.split()


async def test_letters_that_a_server_takes_for_the_same_name_the_same_room(server: int) -> None:
    """InspIRCd 3.15 with CASEMAPPING=rfc1459: #Home[1] is #HOME{1}."""
    async with person(server) as ana:
        ana.write("JOIN #HOME{1}")
        await ana.until(" 366 ")
        channel = bot(server, allowed_chats=["#home", "#Home[1]"])
        async with connected(channel) as sink:
            await ana.until("kenobot@127.0.0.1 JOIN :#HOME{1}")
            ana.write("PRIVMSG #HOME{1} :KENOBOT: what is new?", "PRIVMSG KENOBOT :and here?")
            first, second = await sink.until_accepted(2)
            await sent(channel, first.chat, "All well")
            assert await heard_by(ana, 1) == ["All well"]
    assert (first.text, first.chat, second.text, second.private) == ("what is new?", "#home[1]", "and here?", True)


@pytest.mark.slow
async def test_an_answer_of_many_lines_arrives_where_a_server_makes_its_writer_wait(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Within the deadline of a message. ngircd 26.1, with MaxPenaltyTime as it comes."""
    lines = [f"line {number} {'word ' * 60}".strip() for number in range(25)]
    with ngircd(tmp_path_factory.mktemp("ngircd"), penalty=-1) as port:
        async with person(port) as ana:
            ana.write("JOIN #home")
            await ana.until(" 366 ")
            async with connected(channel := bot(port)) as sink:
                await ana.until("kenobot@127.0.0.1 JOIN")
                ana.write("PRIVMSG #home :kenobot: go on")
                await sink.until_accepted(1)
                sending = asyncio.create_task(sent(channel, "#home", "\n".join(lines)))
                assert await heard_by(ana, 25) == lines
                await sending


@pytest.mark.slow  # ZNC waits half a minute before it connects
async def test_a_bouncer_is_no_person_and_what_it_repeats_is_known_again(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """What was said while the bot was away comes then.

    ZNC 1.8.2 answers what it does not know as `*status!znc@znc.in`, with PRIVMSG; with AutoClearQueryBuffer = false it
    repeats private messages each time, without ids, by the millisecond. It answers PING for the server.
    """
    taken: list[set[str]] = []
    with ngircd(tmp_path_factory.mktemp("ngircd")) as irc, znc(tmp_path_factory.mktemp("znc"), irc) as port:
        async with person(irc) as ana:
            await ana.until_there("kenobot")
            ana.write("PRIVMSG kenobot :while you were away")
            await dealt_with(ana)
            for number in range(2):
                async with connected(channel := bot(port, password=f"{USER}:{PASSWORD}")) as sink:
                    await sink.until_accepted(1 + number)
                    await channel.send(Outbound(1, "irc", "*status", MessagePart("hello"), "trace"))
                    with pytest.raises(Unavailable, match="nobody is not on IRC now"):
                        await channel.send(Outbound(2, "irc", "nobody", MessagePart("hello"), "trace"))
                    ana.write(f"PRIVMSG kenobot :number {number}")
                    while sink.accepted[-1].text != f"number {number}":
                        await sink.until_accepted(len(sink.accepted) + 1)
                taken.append({inbound.external_id for inbound in sink.accepted})
                assert {inbound.user for inbound in sink.accepted} == {"ana!*@127.*"}
    assert (len(taken[0]), len(taken[1]), len(taken[0] | taken[1])) == (2, 3, 3)
