"""The XMPP channel, on a prosody."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

slixmpp = pytest.importorskip("slixmpp")

from kenobot.ports import sentences  # noqa: E402
from kenobot.ports.channel import Channel  # noqa: E402
from kenobot.ports.clock import SystemClock  # noqa: E402
from kenobot.ports.errors import Rejected, RemoteError, StoreError, Unavailable  # noqa: E402
from kenobot.ports.messages import MessagePart, Outbound  # noqa: E402
from kenobot.storage.database import Database  # noqa: E402
from kenobot.storage.inbox import Inbox  # noqa: E402
from kenobot.storage.message_identity import message_digest  # noqa: E402
from kenobot_testing.channel import ChannelContract  # noqa: E402
from kenobot_testing.fake_channel import RecordingSink  # noqa: E402
from kenobot_xmpp.channel import XmppChannel  # noqa: E402
from kenobot_xmpp.settings import XmppSettings  # noqa: E402
from tests.constants import with_constants  # noqa: E402
from tests.integration.channels.processes import free_port  # noqa: E402
from tests.integration.channels.prosody import PASSWORD, person, prosody  # noqa: E402

ROOM = "home@rooms.localhost"
BOTS = [f"keno{number}" for number in range(80)]  # one a test: what is left over comes to nobody else
_bots = iter(BOTS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One server for all tests of this file."""
    with prosody(tmp_path_factory.mktemp("prosody"), "ana", "bob", *BOTS) as port:
        yield port


def bot(port: int, **more: object) -> XmppChannel:
    """A channel that Ana owns."""
    values: dict[str, object] = {
        "account": f"{next(_bots)}@localhost",
        "password": PASSWORD,
        "server": "127.0.0.1",
        "port": port,
        "security": "none",
        "owners": ["ana@localhost"],
    }
    return XmppChannel(with_constants(XmppSettings, **(values | more)), SystemClock())


@asynccontextmanager
async def running(channel: XmppChannel, sink: RecordingSink | None = None) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs, once it is connected."""
    sink = sink or RecordingSink()
    task = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            while not channel._ready and not task.done():
                await asyncio.sleep(0.01)
            yield sink
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class TestXmpp(ChannelContract):
    """The suite, run on XMPP."""

    chat = "ana@localhost"
    sends_while_running = True

    @pytest.fixture
    async def channel(self, server: int) -> AsyncIterator[Channel]:
        """A bot, and Ana, who is there; the server keeps what she writes meanwhile."""
        async with person(server) as ana:
            self._ana = ana
            yield bot(server)

    @pytest.fixture
    def failing(self) -> Channel:
        """A bot that is not connected."""
        return bot(9)

    async def say(self, channel: Channel, text: str) -> None:
        assert isinstance(channel, XmppChannel)
        self._ana.say(channel._settings.account, text)
        await self._ana.client.plugin["xep_0199"].send_ping(slixmpp.JID("localhost"))


async def test_a_chat_is_private_and_known_by_the_address(server: int) -> None:
    """The answer has XMPP's own formatting, and no character that XML does not take."""
    async with person(server) as ana, running(channel := bot(server)) as sink:
        me = channel._settings.account
        ana.say(me, "hello <b> ñ 你好")
        (inbound,) = await sink.until_accepted(1)
        (part,) = channel.render("**All** is `well`\x07 \ud83d")
        sent = await channel.send(Outbound(1, "xmpp", inbound.chat, part, "trace"))
        answer = await ana.heard.get()
        correction = ana.client.make_message(mto=me, mbody="hello!", mtype="chat")
        correction["replace"]["id"] = inbound.platform_id
        correction.send()
        _, edited = await sink.until_accepted(2)
        await channel.send(Outbound(2, "xmpp", inbound.chat, MessagePart("Better"), "trace", replaces=sent))
        edit = await ana.heard.get()
    assert (inbound.text, inbound.private) == ("hello <b> ñ 你好", True)
    assert inbound.user == inbound.chat == "ana@localhost"
    assert answer["body"].startswith("*All* is `well`")
    assert answer["id"] == sent
    assert (edited.kind, edited.text, edited.target) == ("edit", "hello!", inbound.platform_id)
    assert edit.xml.find("{urn:xmpp:message-correct:0}replace").get("id") == sent


async def test_in_a_room_the_nick_calls_the_bot(server: int) -> None:
    """The answer goes to the room; what is whispered there is left alone."""
    async with running(channel := bot(server, allowed_chats=[ROOM])) as sink, person(server, "bob", ROOM) as bob:
        bob.say(ROOM, "nothing for kenobots", "groupchat")
        bob.say(ROOM, "kenobot, what is new?", "groupchat")
        (inbound,) = await sink.until_accepted(1)
        await channel.send(Outbound(1, "xmpp", inbound.chat, MessagePart("All well"), "trace"))
        async with asyncio.timeout(60):
            while (heard := await bob.heard.get())["body"] != "All well":
                continue
        bob.say(f"{ROOM}/kenobot", "whispered")
        bob.say(channel._require_client().boundjid.full, "kenobot: as if from a room", "groupchat")
        bob.say(ROOM, "kenobot: bye", "groupchat")
        await sink.until_accepted(2)
    assert (inbound.text, inbound.private, inbound.chat) == ("what is new?", False, ROOM)
    assert inbound.user == "bob@localhost"
    assert heard["from"] == f"{ROOM}/kenobot"
    assert [taken.text for taken in sink.accepted] == ["what is new?", "bye"]


async def test_what_was_not_stored_comes_again_to_another_process(server: int, database: Database) -> None:
    """The server was not told that it arrived, and says when it was said: by that it is known again.

    Prosody 0.12.3, mod_smacks.lua and mod_offline.lua: with a delay (XEP-0203), of which the first time had none.
    """
    async with person(server) as ana:
        full = RecordingSink(*[StoreError("the disk is full")] * 100)
        channel = bot(server)
        task = asyncio.create_task(channel.run(full))
        async with asyncio.timeout(60):
            while not channel._ready:
                await asyncio.sleep(0.01)
            ana.say(channel._settings.account, "precious")
            while not full.refused:
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with running(bot(server, account=channel._settings.account)) as sink:
            (kept,) = await sink.until_accepted(1)
    inbox, first = Inbox(database, SystemClock()), full.refused[0]
    assert await inbox.store(first, "trace", digest=message_digest(first)) is not None
    assert await inbox.store(kept, "trace", digest=message_digest(kept)) is None
    assert (kept.text, kept.may_repeat) == ("precious", True)


async def test_whoever_does_not_exist_is_refused(server: int) -> None:
    """The server's complaint comes before its answer to the ping."""
    async with running(channel := bot(server)):
        with pytest.raises(Rejected, match="service-unavailable"):
            await channel.send(Outbound(1, "xmpp", "nobody@localhost", MessagePart("hi"), "trace"))
        with pytest.raises(Rejected, match="no such address"):
            await channel.send(Outbound(2, "xmpp", "@@", MessagePart("hi"), "trace"))


async def test_a_wrong_password_is_told_to_the_owner(server: int) -> None:
    """With what to check."""
    sink = RecordingSink()
    with pytest.raises(Rejected):
        await bot(server, password="wrong").run(sink)
    assert "check account and password" in sink.reports[0][1]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_a_server_that_is_away_is_unavailable() -> None:
    """The supervisor tries again."""
    with pytest.raises(Unavailable):
        await bot(free_port(), request_seconds=2).run(RecordingSink())


class TakingBack(RecordingSink):
    """Keeps what is taken back; the first time it is not yet known as sent."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.taken_back: asyncio.Queue[RemoteError] = asyncio.Queue()

    async def take_back(self, channel: str, message: str, error: RemoteError) -> bool:
        """See `kenobot.ports.channel.TakesBack`."""
        self.asked.append(message)
        if len(self.asked) > 1:
            self.taken_back.put_nowait(error)
        return len(self.asked) > 1


async def test_what_fails_behind_the_own_server_is_taken_back(server: int) -> None:
    """Also when it is told before it is on disk that the part was sent; also an edit; of typing nothing is.

    Prosody 0.12.3, mod_s2s.lua, bounce_sendq: remote-server-not-found, of the type cancel, when no stream has come.
    """
    refused = asyncio.Event()

    async def end(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await refused.wait()
        writer.close()

    other = "127.0.36.14"
    async with (
        await asyncio.start_server(end, other, 5269),
        running(channel := bot(server), sink := TakingBack()),
    ):
        await channel.typing(f"zoe@{other}")
        sent = await channel.send(Outbound(1, "xmpp", f"zoe@{other}", MessagePart("Reminder"), "trace"))
        edit = Outbound(2, "xmpp", f"zoe@{other}", MessagePart("Reminder of today"), "trace", replaces=sent)
        assert await channel.send(edit) == sent
        refused.set()
        async with asyncio.timeout(60):
            error, _ = await sink.taken_back.get(), await sink.taken_back.get()
    assert sink.asked == [sent, sent, sent]
    assert isinstance(error, Rejected) and "remote-server-not-found" in str(error)


@pytest.mark.parametrize("archives", [False, True])
async def test_a_program_whose_ids_begin_anew_with_each_session_is_heard_each_time(
    tmp_path_factory: pytest.TempPathFactory, archives: bool
) -> None:
    """Also where the words are the same as before.

    RFC 6120, 8.1.3: an id is unique within a stream, or globally. xmpppy 0.7.4 counts from 1, in each session anew.
    """
    said = ["the code of the door is 11", "the door?", "the code of the bike is 4711", "the door?"]
    with prosody(tmp_path_factory.mktemp("prosody"), "ana", "keno", archives=archives) as port:
        async with running(bot(port, account="keno@localhost")) as sink:
            for count, text in enumerate(said, 1):
                async with person(port, resource="notes") as ana:
                    ana.say("keno@localhost", text, number="1")
                    taken = await sink.until_accepted(count)
    assert [inbound.text for inbound in taken] == said
    assert len({inbound.external_id for inbound in taken}) == len(said)


async def test_people_on_the_lists_see_the_bot(server: int) -> None:
    """It accepts their wish to, and nobody else's."""
    async with running(channel := bot(server)), person(server) as ana:
        seen = asyncio.Event()
        ana.client.add_event_handler("presence_subscribed", lambda _: seen.set())
        ana.client.send_presence_subscription(channel._settings.account)
        async with asyncio.timeout(60):
            await seen.wait()
