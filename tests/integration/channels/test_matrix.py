"""The Matrix channel, on a synapse."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from aiohttp import web

from kenobot.ports import sentences
from kenobot.ports.channel import Channel
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import Attachment, MessagePart, Outbound
from kenobot_matrix.channel import MatrixChannel
from kenobot_matrix.settings import MatrixSettings
from kenobot_testing.channel import ChannelContract
from kenobot_testing.fake_channel import RecordingSink
from tests.constants import with_constants
from tests.integration.channels.mail_servers import Certificate
from tests.integration.channels.processes import free_port
from tests.integration.channels.served import served
from tests.integration.channels.synapse import PASSWORD, Person, synapse

_numbers = itertools.count()


@dataclass(frozen=True)
class World:
    """A bot's account, Ana, their direct chat, and where the bot's position is kept. opened: the bot's channels."""

    address: str
    bot: Person
    ana: Person
    room: str
    home: Path
    opened: list[MatrixChannel] = field(default_factory=list)

    @property
    def chat(self) -> str:
        """The direct chat's id."""
        return f"{self.room} {self.ana.id}"

    def channel(self, **more: object) -> MatrixChannel:
        """A channel of the bot's account, that Ana owns."""
        values: dict[str, object] = {
            "homeserver": self.address,
            "user": self.bot.id,
            "password": PASSWORD,
            "owners": [self.ana.id],
            "poll_seconds": 1,
        }
        made = MatrixChannel(with_constants(MatrixSettings, **(values | more)), SystemClock(), self.home)
        self.opened.append(made)
        return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all tests of this file."""
    with synapse(tmp_path_factory.mktemp("synapse")) as address:
        yield address


@pytest.fixture
async def world(server: str, tmp_path: Path) -> AsyncIterator[World]:
    """Two accounts that nobody else has, and a bot that has accepted Ana's invitation."""
    number = next(_numbers)
    bot, ana = Person(server, f"keno{number}"), Person(server, f"ana{number}")
    made = World(server, bot, ana, ana.room(bot.id, is_direct=True), tmp_path)
    async with running(made.channel()):
        while bot.id not in await asyncio.to_thread(ana.people, made.room):
            await asyncio.sleep(0.01)
        while not list(tmp_path.glob("channels/*")):
            await asyncio.sleep(0.01)
    yield made
    for channel in made.opened:
        await channel._client.close()


@asynccontextmanager
async def running(channel: Channel, *failures: Exception) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs."""
    sink = RecordingSink(*failures)
    task = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            yield sink
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class TestMatrix(ChannelContract):
    """The suite, run on Matrix."""

    sends_while_running = True

    @pytest.fixture
    def channel(self, request: pytest.FixtureRequest, tmp_path: Path) -> Channel:
        """A bot that Ana has invited; without a server where nothing is said."""
        if "render" in request.node.name:
            return MatrixChannel(MatrixSettings.model_validate({"user": "@keno:example.org"}), SystemClock(), tmp_path)
        world: World = request.getfixturevalue("world")
        self._world, self.chat = world, world.chat
        return world.channel()

    @pytest.fixture
    def failing(self, tmp_path: Path) -> Channel:
        """A bot whose server is away."""
        values = {"homeserver": f"http://127.0.0.1:{free_port()}", "user": "@keno:example.org"}
        return MatrixChannel(MatrixSettings.model_validate(values), SystemClock(), tmp_path)

    async def say(self, channel: Channel, text: str) -> None:
        self._world.ana.say(self._world.room, text)


async def test_a_direct_chat_is_private_and_the_answer_is_formatted(world: World) -> None:
    """The sender is known by the account, and the answer is a notice, which no other bot answers."""
    async with running(channel := world.channel()) as sink:
        world.ana.say(world.room, "hello")
        (inbound,) = await sink.until_accepted(1)
        (part,) = channel.render("**All** is [well](https://example.org/x).")
        out = Outbound(1, "matrix", inbound.chat, part, "trace", reply_to=inbound.platform_id)
        assert await channel.send(out) == await channel.send(out), "what is tried again arrives once"
    heard = world.ana.heard(world.room)
    assert (inbound.user, inbound.private, inbound.chat) == (world.ana.id, True, world.chat)
    assert len(heard) == 2
    assert heard[1]["msgtype"] == "m.notice"
    assert heard[1]["body"] == "All is well (https://example.org/x)."
    assert heard[1]["formatted_body"] == '<strong>All</strong> is <a href="https://example.org/x">well</a>.'
    assert heard[1]["m.relates_to"]["m.in_reply_to"]["event_id"] == inbound.platform_id


async def test_once_somebody_else_is_there_the_chat_is_another_and_gets_no_private_answer(world: World) -> None:
    """Also who is only invited: they will be able to read it."""
    bob = Person(world.address, f"bob{next(_numbers)}")
    async with running(channel := world.channel()) as sink:
        world.ana.do(world.room, "invite", user_id=bob.id)
        world.ana.say(world.room, "hello")
        world.ana.say(world.room, f"{world.bot.id}: what is new?")
        (inbound,) = await sink.until_accepted(1)
        with pytest.raises(Rejected, match="other people"):
            await channel.send(Outbound(1, "matrix", world.chat, MessagePart("a secret"), "trace"))
    assert (inbound.text, inbound.private, inbound.chat) == ("what is new?", False, world.room)


async def test_in_a_room_a_mention_or_a_reply_calls_the_bot(world: World) -> None:
    """And what is answered comes along, with its author's name; other bots' notices are left alone."""
    bob = Person(world.address, f"bob{next(_numbers)}")
    room = world.ana.room(world.bot.id, bob.id)
    bob.do(room, "join")
    async with running(channel := world.channel(allowed_chats=[room])) as sink:
        while world.bot.id not in await asyncio.to_thread(world.ana.people, room):
            await asyncio.sleep(0.01)
        said = bob.say(room, "The meeting is at five")
        bob.put(room, "m.room.message", {"msgtype": "m.notice", "body": world.bot.id})
        reply = {"m.in_reply_to": {"event_id": said}}
        world.ana.say(room, "remember this", **{"m.relates_to": reply, "m.mentions": {"user_ids": [world.bot.id]}})
        (first,) = await sink.until_accepted(1)
        answer = await channel.send(Outbound(1, "matrix", room, MessagePart("Noted"), "trace"))
        bob.say(room, "thanks", **{"m.relates_to": {"m.in_reply_to": {"event_id": answer}}})
        bob.say(
            room,
            "in a thread, keno" + world.bot.id[5:].partition(":")[0],
            **{"m.relates_to": {"rel_type": "m.thread", "event_id": said}},
        )
        _, thanked, threaded = await sink.until_accepted(3)
        await channel.send(Outbound(2, "matrix", room, MessagePart("Here"), "trace", thread=threaded.thread))
    assert (first.text, first.quoted, first.quoted_author) == (
        "remember this",
        "The meeting is at five",
        bob.id[1:].partition(":")[0],
    )
    assert (thanked.text, thanked.user, thanked.private) == ("thanks", bob.id, False)
    assert (threaded.thread, threaded.session != thanked.session) == (said, True)
    assert world.ana.heard(room)[-1]["m.relates_to"] == {"rel_type": "m.thread", "event_id": said}


async def test_edits_and_reactions_name_the_message_that_they_are_about(world: World) -> None:
    """An edit brings the new words."""
    async with running(channel := world.channel()) as sink:
        said = world.ana.say(world.room, "My cat is Tom")
        relation = {"rel_type": "m.replace", "event_id": said}
        better = {"msgtype": "m.text", "body": "My cat is Tim"}
        world.ana.say(world.room, "* My cat is Tim", **{"m.new_content": better, "m.relates_to": relation})
        first, edited = await sink.until_accepted(2)
        answer = await channel.send(Outbound(1, "matrix", first.chat, MessagePart("Noted"), "trace"))
        reaction = {"rel_type": "m.annotation", "event_id": answer, "key": "👎"}
        world.ana.put(world.room, "m.reaction", {"m.relates_to": reaction})
        *_, reacted = await sink.until_accepted(3)
    assert (edited.kind, edited.text, edited.target, edited.platform_id) == ("edit", "My cat is Tim", said, said)
    assert (reacted.kind, reacted.value, reacted.target, reacted.chat) == ("reaction", "👎", answer, first.chat)


async def test_a_reply_to_a_corrected_message_quotes_what_it_says_now(world: World) -> None:
    """Also where the bot corrected itself.

    Synapse 1.163.2 leaves the first words in `content`; client-server API 1.11, "Event replacements": the latest edit
    is in unsigned.m.relations.m.replace.
    """
    async with running(channel := world.channel()) as sink:
        said = world.ana.say(world.room, "My flight is on Monday")
        for day in ("Tuesday", "Wednesday"):
            edit = {"m.new_content": {"msgtype": "m.text", "body": f"My flight is on {day}"}}
            edit["m.relates_to"] = {"rel_type": "m.replace", "event_id": said}
            world.ana.say(world.room, f"* My flight is on {day}", **edit)
        world.ana.say(world.room, "Remember this", **{"m.relates_to": {"m.in_reply_to": {"event_id": said}}})
        *_, remember = await sink.until_accepted(4)
        answer = Outbound(1, "matrix", world.chat, MessagePart("At five"), "trace")
        place = await channel.send(answer)
        await channel.send(replace(answer, id=2, part=MessagePart("At six"), replaces=place))
        world.ana.say(world.room, "Sure?", **{"m.relates_to": {"m.in_reply_to": {"event_id": place}}})
        *_, sure = await sink.until_accepted(5)
    assert (remember.quoted, sure.quoted, sure.quoted_author) == ("My flight is on Wednesday", "At six", "")


async def test_each_part_of_a_long_answer_fits_an_edit(world: World) -> None:
    """Which holds it twice, with its HTML each time: a preview is replaced by the first part.

    Synapse 1.163.2, and client-server API 1.11, "Size limits": 65,536 bytes of canonical JSON, else M_TOO_LARGE.
    """
    async with running(channel := world.channel()) as sink:
        world.ana.say(world.room, "hello")
        await sink.until_accepted(1)
        answer = Outbound(1, "matrix", world.chat, MessagePart("…"), "trace")
        place = await channel.send(answer)
        texts = ("ж" * 12_000, "año niño " * 1700, "**word** " * 1300, "<&>\n" * 3000, '\\"' * 7000)
        for number, part in enumerate((part for text in texts for part in channel.render(text)), 2):
            await channel.send(replace(answer, id=number, part=part, replaces=place))


async def test_an_edit_in_a_thread_is_answered_in_that_thread(world: World) -> None:
    """In the session of the message; in a group also where only what it answers calls the bot."""
    cy = Person(world.address, f"cy{next(_numbers)}")
    async with running(channel := world.channel()) as sink:
        root = world.ana.say(world.room, "Pets")
        [first] = await sink.until_accepted(1)
        thread = {"rel_type": "m.thread", "event_id": root}
        said = world.ana.say(world.room, "My cat is Tom", **{"m.relates_to": thread})
        edit = {"m.new_content": {"msgtype": "m.text", "body": "My cat is Tim"}}
        edit["m.relates_to"] = {"rel_type": "m.replace", "event_id": said}
        world.ana.say(world.room, "* My cat is Tim", **edit)
        *_, there, edited = await sink.until_accepted(3)
        answer = replace(Outbound(1, "matrix", first.chat, MessagePart("Tom!"), "t"), thread=there.thread)
        place = await channel.send(answer)
        await channel.send(replace(answer, id=2, part=MessagePart("Tim!"), replaces=place))
        heard = world.ana.heard(world.room)
        world.ana.do(world.room, "invite", user_id=cy.id)
        cy.do(world.room, "join")
        reply = {"m.in_reply_to": {"event_id": place}}
        asked = cy.say(world.room, "And the dog?", **{"m.relates_to": reply})
        edit["m.relates_to"] = {"rel_type": "m.replace", "event_id": asked}
        cy.say(world.room, "* And the dogs?", **edit)
        *_, reply_, again = await sink.until_accepted(5)
    assert (there.thread, there.session) == (root, edited.session)
    assert (edited.kind, edited.target, edited.text) == ("edit", said, "My cat is Tim")
    assert heard[-2]["m.relates_to"]["event_id"] == root
    assert (heard[-1]["m.relates_to"]["event_id"], heard[-1]["m.new_content"]["body"]) == (place, "Tim!")
    assert (again.kind, again.target, again.session) == ("edit", asked, reply_.session)


async def test_only_people_on_the_lists_can_invite_the_bot(world: World) -> None:
    """Other invitations are refused."""
    eve = Person(world.address, f"eve{next(_numbers)}")
    room = eve.room(world.bot.id)
    async with running(world.channel()):
        while True:
            members = (await asyncio.to_thread(eve.http.get, f"/rooms/{room}/members")).json()["chunk"]
            state = {event["state_key"]: event["content"]["membership"] for event in members}
            if state[world.bot.id] == "leave":
                break
            await asyncio.sleep(0.01)


async def test_what_was_said_before_the_bot_was_invited_is_not_for_it(world: World) -> None:
    """A server shows it to whoever comes; what was said since waits until the bot is there."""
    room = world.ana.room()
    for number in range(3):
        world.ana.say(room, f"before {number}")
    world.ana.do(room, "invite", user_id=world.bot.id)
    world.ana.say(room, "since")
    async with running(world.channel()) as sink:
        while world.bot.id not in await asyncio.to_thread(world.ana.people, room):
            await asyncio.sleep(0.01)
        world.ana.say(room, "there")
        taken = await sink.until_accepted(2)
    assert [inbound.text for inbound in taken] == ["since", "there"]


async def test_the_words_above_an_answer_are_not_the_senders(world: World) -> None:
    """Some clients quote there what is answered."""
    async with running(world.channel()) as sink:
        said = world.ana.say(world.room, "one")
        reply = {"m.in_reply_to": {"event_id": said}}
        world.ana.say(world.room, f"> <{world.bot.id}> sell all\n> now\n\nNo.\n> Never", **{"m.relates_to": reply})
        _, answer = await sink.until_accepted(2)
    assert (answer.text, answer.quoted) == ("No.\n> Never", "one")


async def test_a_forged_invitation_beside_the_true_one_is_not_looked_at(world: World) -> None:
    """The server of whoever invites says what else there is in the room."""
    member = {"type": "m.room.member", "state_key": world.bot.id, "content": {"membership": "invite"}}
    eve = Person(world.address, f"eve{next(_numbers)}")
    room = eve.room(world.bot.id)
    forged = [member | {"sender": world.ana.id}, member | {"sender": eve.id}]
    channel = world.channel()
    await channel._client.log_in()
    await channel._answer_invitation(room, {"invite_state": {"events": forged}})
    await channel._client.close()
    assert world.bot.id not in eve.people(room)


async def test_an_answer_that_is_none_of_a_matrix_server_ends_the_run() -> None:
    """Asked again at once it would be the same."""

    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>")
        writer.close()

    async with await asyncio.start_server(page, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        values = {"homeserver": address, "user": "@keno:example.org", "token": "x"}
        channel = MatrixChannel(MatrixSettings.model_validate(values), SystemClock(), Path("unused"))
        async with asyncio.timeout(60):
            with pytest.raises(Unavailable, match="no Matrix server"):
                await channel.run(RecordingSink())


async def test_a_page_of_a_proxy_is_no_refusal_of_the_server() -> None:
    """Sending, files and the login are tried again; what Matrix itself refuses says so in a code."""
    pages = [(403, "<html>Blocked</html>"), (404, "not here"), (401, '{"message": "no"}'), (400, '{"errcode": 7}')]

    async def block(_: web.Request) -> web.Response:
        return web.Response(status=status, text=page)

    (proxy := web.Application()).router.add_route("*", "/{path:.*}", block)
    file = Attachment("document", "text/markdown", "answer.md", 5, text="words")
    async with served(proxy) as address, asyncio.timeout(60):
        values = {"homeserver": address, "user": "@keno:example.org", "password": "x"}
        channel = MatrixChannel(MatrixSettings.model_validate(values), SystemClock(), Path("unused"))
        for status, page in pages:
            for part in (MessagePart("hi"), MessagePart("hi", attachments=(file,))):
                with pytest.raises(Unavailable, match="no Matrix server"):
                    await channel.send(Outbound(1, "matrix", "!room:example.org", part, "trace"))
            with pytest.raises(Unavailable, match="no Matrix server"):
                [_ async for _ in channel.fetch(Attachment("image", handle="mxc://example.org/x"))]
            with pytest.raises(Unavailable, match="no Matrix server"):
                await channel.run(RecordingSink())
        await channel._client.close()


async def test_what_the_server_itself_refuses_is_final(world: World) -> None:
    """With its code."""
    async with running(channel := world.channel()) as sink:
        world.ana.say(world.room, "hello")
        await sink.until_accepted(1)
        room = world.ana.room()
        with pytest.raises(Rejected, match="M_FORBIDDEN"):
            await channel.send(Outbound(1, "matrix", room, MessagePart("hi"), "trace"))
        with pytest.raises(Rejected, match="M_NOT_FOUND"):
            [_ async for _ in channel.fetch(Attachment("image", handle="mxc://example.org/nothing"))]


async def test_nothing_is_missed_while_the_bot_is_away_however_much_it_is(world: World) -> None:
    """What a sync leaves out is asked for; what comes twice after a restart has the same id."""
    for number in range(105):
        world.ana.say(world.room, str(number))
    async with running(world.channel()) as sink:
        taken = await sink.until_accepted(105)
    assert [inbound.text for inbound in taken] == [str(number) for number in range(105)]
    world.ana.say(world.room, "again")
    async with running(world.channel()) as sink:
        while not sink.accepted or sink.accepted[-1].text != "again":
            await asyncio.sleep(0.01)
    known = {inbound.external_id for inbound in taken}
    assert [inbound.text for inbound in sink.accepted if inbound.external_id not in known] == ["again"]


async def test_the_position_moves_on_only_once_all_is_stored(world: World) -> None:
    """After a disk that failed the message comes again, under the same id."""
    world.ana.say(world.room, "precious")
    async with running(world.channel(), StoreError("the disk is full")) as sink:
        await sink.until_accepted(1)
    assert sink.refused == sink.accepted


async def test_files_come_and_go(world: World) -> None:
    """A picture is fetched when it is wanted; a long answer is a file."""
    address = world.ana.upload(b"\x89PNG")
    info = {"mimetype": "image/png", "size": 4}
    async with running(channel := world.channel()) as sink:
        world.ana.put(
            world.room, "m.room.message", {"msgtype": "m.image", "body": "a.png", "url": address, "info": info}
        )
        (inbound,) = await sink.until_accepted(1)
        (attachment,) = inbound.attachments
        assert b"".join([piece async for piece in channel.fetch(attachment)]) == b"\x89PNG"
        with pytest.raises(RemoteError):
            [_ async for _ in channel.fetch(Attachment("image", handle="mxc://example.org/nothing"))]
        file = Attachment("document", "text/markdown", "answer.md", 5, text="words")
        await channel.send(Outbound(1, "matrix", inbound.chat, MessagePart("the rest", attachments=(file,)), "trace"))
    assert (attachment.kind, attachment.mime, attachment.name, attachment.size) == ("image", "image/png", "a.png", 4)
    assert [content["msgtype"] for content in world.ana.heard(world.room)] == ["m.image", "m.file", "m.notice"]


async def test_what_cannot_be_read_is_kept_aside_and_encrypted_rooms_are_told(world: World) -> None:
    """The messages behind it are read."""
    async with running(channel := world.channel()) as sink:
        world.ana.say(world.room, "hello")
        await sink.until_accepted(1)
        broken = {"type": "m.room.message", "sender": world.ana.id, "event_id": "$1", "content": {"msgtype": ["x"]}}
        await channel._take({"rooms": {"join": {world.room: {"timeline": {"events": [broken, 7]}}}}}, "s1", sink)
        world.ana.put(world.room, "m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"})
        world.ana.say(world.room, "still here")
        taken = await sink.until_accepted(2)
    assert [inbound.text for inbound in taken] == ["hello", "still here"]
    assert [number for _, number, _, _ in sink.quarantined] == ["$1"]
    assert sink.reports == [("matrix", "The bot cannot read encrypted Matrix rooms: talk to it in another room")]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_a_wrong_password_is_told_to_the_owner(world: World) -> None:
    """With what to check."""
    sink = RecordingSink()
    with pytest.raises(Rejected):
        await world.channel(password="wrong").run(sink)
    assert "check user and password" in sink.reports[0][1]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_the_people_of_so_many_rooms_are_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are asked for again."""
    monkeypatch.setattr("kenobot_matrix.channel._ROOMS", 1)
    other = world.ana.room(world.bot.id)
    async with running(channel := world.channel()) as sink:
        while world.bot.id not in await asyncio.to_thread(world.ana.people, other):
            await asyncio.sleep(0.01)
        world.ana.say(world.room, "one")
        world.ana.say(other, "two")
        await sink.until_accepted(2)
    assert len(channel._members) == 1


async def test_a_server_with_a_certificate_of_its_own_is_trusted_where_the_owner_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By SSL_CERT_FILE, as on every other channel; without it the bot sends no password there."""
    certificate = Certificate.make(tmp_path, "localhost")
    with synapse(tmp_path, certificate) as address:
        values = {"homeserver": address, "user": "@keno:example.org", "password": PASSWORD, "owners": ["@a:b"]}
        settings = MatrixSettings.model_validate(values)
        with pytest.raises(Unavailable):
            await MatrixChannel(settings, SystemClock(), tmp_path).run(RecordingSink())
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
        sink = RecordingSink()
        with pytest.raises(Rejected, match="check user and password"):
            await MatrixChannel(settings, SystemClock(), tmp_path).run(sink)
