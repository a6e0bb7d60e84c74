"""The WhatsApp channel behind the HTTP server, on a stand-in of Meta's wire."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("uvicorn", reason="the extra `http` is not installed")

from kenobot.app.attach import check_hooks
from kenobot.ports import sentences
from kenobot.ports.channel import Channel
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, RateLimited, Rejected, RemoteError, Unavailable
from kenobot.ports.messages import Attachment, Button, Inbound, MessagePart, Outbound
from kenobot_testing.channel import ChannelContract
from kenobot_testing.fake_channel import RecordingSink
from kenobot_whatsapp import build
from kenobot_whatsapp import channel as whatsapp_channel
from kenobot_whatsapp import people as whatsapp_people
from kenobot_whatsapp.channel import WhatsAppChannel
from kenobot_whatsapp.client import NeedsOwner
from kenobot_whatsapp.events import BotNumber, MalformedMessage, iterate_posted, parse
from kenobot_whatsapp.people import KnownPeople
from kenobot_whatsapp.settings import WhatsAppSettings
from tests.constants import with_constants
from tests.integration.channels.whatsapp_standin import (
    ANA,
    ANA_SCOPED,
    BOB,
    BOT,
    PHONE_ID,
    SECRET,
    TOKEN,
    VERIFY,
    WhatsApp,
    signed,
    standin,
)
from tests.integration.http.served import channel_of, served

HOOK = "/hooks/whatsapp"
_KINDS = (
    "text image audio document location contacts sticker unsupported interactive reaction edit system button".split()
)
_FIELDS = (
    *_KINDS,
    *"id type from from_user_id group_id timestamp context body latitude longitude name phones phone".split(),
    *"message original_message_id message_id emoji list_reply button_reply profile wa_id user_id forwarded".split(),
)


@pytest.fixture
async def platform() -> AsyncIterator[WhatsApp]:
    """The platform, on loopback."""
    async with standin() as platform:
        yield platform


@asynccontextmanager
async def behind_http(platform: WhatsApp, channel: WhatsAppChannel) -> AsyncIterator[httpx.AsyncClient]:
    """Have the HTTP server take what the platform posts to a channel."""
    http = channel_of(SystemClock())
    http.others = {"whatsapp": channel}
    async with served(http, RecordingSink()) as client:
        platform.hook = f"{client.base_url}{HOOK}"
        posting = asyncio.create_task(platform.deliver())
        try:
            yield client
        finally:
            posting.cancel()
            await asyncio.gather(posting, return_exceptions=True)


def bot(platform: WhatsApp, home: Path, **more: object) -> WhatsAppChannel:
    """A channel that Ana owns."""
    values = {
        "token": TOKEN,
        "app_secret": SECRET,
        "verify_token": VERIFY,
        "phone_number_id": PHONE_ID,
        "owners": [f"+{ANA}"],
        "api": f"{platform.address}/v26.0",
    }
    return WhatsAppChannel(with_constants(WhatsAppSettings, **(values | more)), SystemClock(), home)


class FailureSink(RecordingSink):
    """A sink that knows what was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[str] = set()
        self.taken_back: list[tuple[str, RemoteError]] = []

    async def take_back(self, channel: str, message: str, error: RemoteError) -> bool:
        self.taken_back.append((message, error))
        return message in self.known


@asynccontextmanager
async def running(
    platform: WhatsApp, channel: WhatsAppChannel, sink: RecordingSink | None = None
) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs behind the HTTP server."""
    sink = sink or RecordingSink()
    async with behind_http(platform, channel), asyncio.timeout(60):
        task = asyncio.create_task(channel.run(sink))
        try:
            while not channel._me.number:
                await asyncio.sleep(0.01)
            yield sink
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def answer(inbound: Inbound, part: MessagePart, number: int = 1, **more: Any) -> Outbound:
    return Outbound(number, "whatsapp", inbound.chat, part, "trace", **more)


class TestWhatsApp(ChannelContract):
    """The suite, run on WhatsApp."""

    chat = ANA

    @pytest.fixture
    async def channel(self, platform: WhatsApp, tmp_path: Path) -> AsyncIterator[Channel]:
        self._platform = platform
        channel = bot(platform, tmp_path)
        async with behind_http(platform, channel):
            yield channel
            await channel._client.close()

    @pytest.fixture
    async def failing(self, platform: WhatsApp, tmp_path: Path) -> AsyncIterator[Channel]:
        """A bot whose token was taken back."""
        channel = bot(platform, tmp_path, token="revoked")
        yield channel
        await channel._client.close()

    async def say(self, channel: Channel, text: str) -> None:
        self._last = self._platform.say(text)

    async def correct(self, channel: Channel, text: str) -> None:
        said = {"type": "text", "text": {"body": text}}
        self._platform.message("edit", {"original_message_id": self._last, "message": said})

    async def hand_over(self, channel: Channel, name: str, content: bytes) -> None:
        self._platform.files["8001"] = content
        self._platform.message("document", {"id": "8001", "filename": name, "mime_type": "application/octet-stream"})

    async def press(self, channel: Channel, message: str, value: str) -> None:
        self._platform.press(message, value)


async def test_a_message_is_confirmed_once_it_is_stored_and_shown_as_read(platform: WhatsApp, tmp_path: Path) -> None:
    """The answer has WhatsApp's formatting and no previews; while it is written, the bot is seen typing."""
    channel = bot(platform, tmp_path)
    async with running(platform, channel) as sink:
        sink.open.clear()
        said = platform.say("hello ñ *all*")
        await sink.until_offered(1)
        assert platform.answers == []
        sink.open.set()
        (inbound,) = await sink.until_accepted(1)
        await platform.until_answered(1)
        await channel.typing(inbound.chat)
        await channel.typing(inbound.chat)
        (part,) = channel.render("**All is well**, `x` [there](https://example.org/y) & ~~not~~\n\n```py\na*b\n```")
        sent = await channel.send(answer(inbound, part, reply_to=said))
        while not platform.read:
            await asyncio.sleep(0.01)
    assert (inbound.text, inbound.private, inbound.user, inbound.chat) == ("hello ñ *all*", True, ANA, ANA)
    assert (inbound.user_name, inbound.external_id, inbound.platform_id) == ("Ana", said, said)
    assert (platform.read, platform.typed) == ([said], [said])
    (body,) = platform.sent
    assert body["text"] == {
        "preview_url": False,
        "body": "*All is well*, `x` there (https://example.org/y) & ~not~\n\n```a*b\n```",
    }
    assert (body["to"], body["context"], platform.ids) == (ANA, {"message_id": said}, [sent])


async def test_what_a_request_brings_is_refused_unless_meta_signed_it(platform: WhatsApp, tmp_path: Path) -> None:
    """And Meta knows the webhook by the words of the settings."""
    body = json.dumps({"entry": []}).encode()
    channel = bot(platform, tmp_path)
    async with behind_http(platform, channel) as client:
        early = await client.post(HOOK, content=body, headers={"X-Hub-Signature-256": signed(body)})
    async with running(platform, channel) as sink, httpx.AsyncClient(trust_env=False) as client:
        url = platform.hook
        forged = [
            await client.post(url, content=body),
            await client.post(url, content=body, headers={"X-Hub-Signature-256": signed(body, "another")}),
            await client.post(url, content=body + b" ", headers={"X-Hub-Signature-256": signed(body)}),
            await client.post(url, content=body, headers={b"X-Hub-Signature-256": "ñ".encode()}),
        ]
        odd = [
            await client.post(url, content=each, headers={"X-Hub-Signature-256": signed(each)})
            for each in (b"{", b"[" * 100_000, b"7", b'{"entry": [{"changes": [3, {"field": "messages"}]}]}')
        ]
        asked = {"hub.mode": "subscribe", "hub.verify_token": VERIFY, "hub.challenge": "1158201444"}
        known = await client.get(url, params=asked)
        unknown = [
            await client.get(url, params=asked | {"hub.verify_token": "guessed"}),
            await client.get(url, params=asked | {"hub.mode": "unsubscribe"}),
            await client.get(url),
        ]
    assert early.status_code == 503
    assert [each.status_code for each in forged] == [403] * 4
    assert [each.status_code for each in odd] == [400, 400, 200, 200]
    assert (known.status_code, known.text) == (200, "1158201444")
    assert known.headers["content-type"].startswith("text/plain")
    assert [each.status_code for each in unknown] == [403] * 3
    assert not sink.offered


async def test_messages_for_another_number_of_the_account_are_left_alone(platform: WhatsApp, tmp_path: Path) -> None:
    """One app may serve several numbers."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        platform.post({"metadata": {"phone_number_id": "7"}, "messages": [{"id": "x", "type": "text"}]})
        platform.say("for the bot")
        (inbound,) = await sink.until_accepted(1)
    assert inbound.text == "for the bot"
    assert not sink.quarantined


async def test_each_kind_of_message_is_understood(platform: WhatsApp, tmp_path: Path) -> None:
    """Files keep their captions; what has no bytes comes in words; what cannot be read is named."""
    platform.files["9001"] = b"a photo"
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        platform.message("image", {"id": "9001", "mime_type": "image/jpeg", "caption": "look!", "sha256": "x"})
        platform.message("audio", {"id": "9002", "mime_type": "audio/ogg; codecs=opus", "voice": True})
        platform.message("document", {"id": "9003", "mime_type": "application/pdf", "filename": "bill.pdf"})
        platform.message("video", {"id": "9004", "mime_type": "video/mp4"})
        platform.message("location", {"latitude": 40.4, "longitude": -3.7, "name": "Prado", "address": "Madrid"})
        person = {"name": {"formatted_name": "Luis Paz"}, "phones": [{"phone": "+34 600", "type": "HOME"}]}
        platform.message("contacts", [person])
        platform.message("sticker", {"id": "9005", "mime_type": "image/webp", "animated": False})
        platform.message("unsupported", {"type": "poll_creation"}, errors=[{"code": 131051}])
        platform.message("button", {"payload": "p", "text": "Yes, please"})
        platform.say("passed on", context={"forwarded": True})
        platform.say("and this?", context={"from": BOT, "id": "wamid.former"})
        taken = await sink.until_accepted(11)
        fetched = b"".join([piece async for piece in channel.fetch(taken[0].attachments[0])])
    files = [each for inbound in taken for each in inbound.attachments]
    assert (taken[0].text, fetched) == ("look!", b"a photo")
    assert [(file.kind, file.mime, file.name, file.text) for file in files] == [
        ("image", "image/jpeg", "", ""),
        ("voice", "audio/ogg", "", ""),
        ("document", "application/pdf", "bill.pdf", ""),
        ("video", "video/mp4", "", ""),
        ("location", "", "venue", "Prado\nMadrid\n40.400000, -3.700000"),
        ("contact", "", "", "Luis Paz\n+34 600"),
        ("sticker", "", "", "…"),
        ("other", "", "poll creation", ""),
    ]
    button, forwarded, reply = taken[-3:]
    assert (button.text, forwarded.forwarded, reply.forwarded) == ("Yes, please", True, False)
    assert (reply.text, reply.reply_to) == ("and this?", "wamid.former")


async def test_reactions_presses_and_edits_name_the_message(platform: WhatsApp, tmp_path: Path) -> None:
    """And the bot reacts. What was taken back, pinned or hidden is no message."""
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        said = platform.say("milk")
        (first,) = await sink.until_accepted(1)
        part = MessagePart("Sure?", buttons=((Button("Yes", "7.0.mac"), Button("No", "7.1.mac")),))
        sent = await channel.send(answer(first, part))
        platform.message("reaction", {"message_id": sent, "emoji": "👍"})
        platform.message("reaction", {"message_id": sent})
        platform.press(sent, "7.0.mac")
        platform.press(sent, "7.1.mac", "list_reply")
        edit = {"original_message_id": said, "message": {"type": "text", "text": {"body": "bread"}}}
        platform.message("edit", edit)
        platform.message("revoke", {"original_message_id": said})
        platform.message("unsupported", {"type": "pin"})
        platform.say("end")
        await channel.react(first.chat, said, "👀")
        _, liked, unliked, pressed, chosen, edited, last = await sink.until_accepted(7)
    assert [(each.kind, each.value, each.target) for each in (liked, unliked, pressed, chosen)] == [
        ("reaction", "👍", sent),
        ("reaction", "", sent),
        ("action", "7.0.mac", sent),
        ("action", "7.1.mac", sent),
    ]
    assert (edited.kind, edited.text, edited.target) == ("edit", "bread", said)
    assert (last.text, platform.reactions) == ("end", [(said, "👀")])
    assert not sink.quarantined


async def test_buttons_stand_below_the_text_or_in_a_list(platform: WhatsApp, tmp_path: Path) -> None:
    """More than three and long labels make a list; a long text, and what is beyond ten rows, has its own message."""
    channel = bot(platform, tmp_path)
    few = (Button("Yes", "1"), Button("No", "2"), Button("A label of more than 20", "3"))
    rows = tuple((Button(f"#{number}", str(number)),) for number in range(12))
    long = (Button("Una etiqueta mucho más larga que veinticuatro 👩‍👩‍👧", "x"),)
    for number, part in enumerate(
        [
            MessagePart("Sure?", buttons=(few[:2],)),
            MessagePart("¿Cuál de todos prefieres tú?", buttons=(few,)),
            MessagePart("Which?", buttons=rows),
            MessagePart("x" * 4000, buttons=(few[:2],)),
            MessagePart("Long", buttons=(long,)),
        ]
    ):
        await channel.send(Outbound(number, "whatsapp", ANA, part, "trace"))
    await channel._client.close()
    asked = [body["interactive"] for body in platform.sent if body["type"] == "interactive"]
    assert [(each["type"], len(each["body"]["text"])) for each in asked] == [
        ("button", 5),
        ("list", 28),
        ("list", 6),
        ("list", 1),
        ("button", 1),
        ("list", 4),
    ]
    assert platform.sent[4]["text"]["body"] == "x" * 4000
    assert asked[0]["action"]["buttons"][0]["reply"] == {"id": "1", "title": "Yes"}
    assert asked[1]["action"]["button"] == "Opciones"
    assert [len(each["action"]["sections"][0]["rows"]) for each in asked[1:4]] == [3, 10, 2]
    (row,) = asked[5]["action"]["sections"][0]["rows"]
    assert row["title"] == "Una etiqueta mucho más…"
    assert row["description"] == long[0].label


async def test_a_file_goes_up_first_and_has_the_text_below_it(platform: WhatsApp, tmp_path: Path) -> None:
    """A text that is too long for that is a message of its own."""
    channel, file = bot(platform, tmp_path), Attachment("document", "text/markdown", "answer.md", text="# Ñandú")
    for number, text in enumerate(("Here it is.", "word " * 400, "")):
        part = MessagePart(text, attachments=(file,))
        await channel.send(Outbound(number, "whatsapp", ANA, part, "trace"))
    await channel._client.close()
    assert platform.uploads[0]["content"] == "# Ñandú".encode()
    assert (platform.uploads[0]["name"], platform.uploads[0]["type"]) == ("answer.md", "text/plain")
    assert platform.sent[0]["document"] == {"id": "media1", "filename": "answer.md", "caption": "Here it is."}
    assert platform.sent[1]["document"] == {"id": "media2", "filename": "answer.md"}
    assert platform.sent[2]["text"]["body"] == "word " * 400
    assert platform.sent[3:] == [platform.sent[1] | {"document": {"id": "media3", "filename": "answer.md"}}]


async def test_a_file_is_loaded_from_meta_alone(platform: WhatsApp, tmp_path: Path) -> None:
    """The token goes with the request, so no other server gets one; and the id becomes part of an address."""
    platform.files["1"] = b"x"
    channel = bot(platform, tmp_path)

    async def load(handle: str) -> bytes:
        return b"".join([piece async for piece in channel.fetch(Attachment("image", handle=handle))])

    for address in (
        "http://169.254.169.254/latest",
        "https://evil.example/fbsbx.com",
        "https://lookaside.fbsbx.com.evil.example/x",
        "http://lookaside.fbsbx.com/x",
        "https://lookaside.fbsbx.com:8443/x",
        "https://fbsbx.com@127.0.0.1/",
        "https://[bad/x",
        "https://a\x01.fbsbx.com/x",
        "https://lookaside.fbsbx.com:99999/x",
    ):
        platform.media_address = address
        with pytest.raises(Rejected, match="not one of Meta's"):
            await load("1")
    platform.media_address = ""
    for handle in ("../me", "1?fields=x", ""):
        with pytest.raises(Rejected, match="no such file"):
            await load(handle)
    assert await load("1") == b"x"
    await channel._client.close()


async def test_what_cannot_be_read_is_kept_aside(platform: WhatsApp, tmp_path: Path) -> None:
    """And stops nobody else."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        platform.message("order", {"catalog_id": "1"})
        platform.message("image", {"mime_type": "image/jpeg"})
        platform.post({"messages": [{"id": "wamid.1", "timestamp": "1", "type": "text", "text": {"body": "who?"}}]})
        platform.message("interactive", {"type": "nfm_reply", "nfm_reply": {"response_json": "{}"}})
        platform.say("fine")
        await sink.until_accepted(1)
    assert [reason for _, _, _, reason in sink.quarantined] == [
        "a message of a kind that is not known",
        "the message has no valid file.id",
        "the message has no sender",
        "an answer to something interactive that the bot did not send",
    ]


async def test_messages_without_an_id_are_told_apart(platform: WhatsApp, tmp_path: Path) -> None:
    """Each is kept aside, and the same one once."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        for words in ("one", "two", "one"):
            platform.post({"messages": [{"type": "text", "timestamp": "1700000000", "text": {"body": words}}]})
        platform.say("fine")
        await sink.until_accepted(1)
    first, second, again = (external_id for _, external_id, _, _ in sink.quarantined)
    assert first == again != second


async def test_a_batch_of_meta_comes_in_whatever_the_bound_of_other_requests(
    platform: WhatsApp, tmp_path: Path
) -> None:
    """Meta puts many messages into one request of up to 3 MB."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        said = [
            {
                "from": ANA,
                "id": f"wamid.{number}",
                "timestamp": "1700000000",
                "type": "text",
                "text": {"body": "ñ" * 4000},
            }
            for number in range(100)
        ]
        platform.post({"messages": said})
        assert len(await sink.until_accepted(100)) == 100
    assert platform.answers == [200]


async def test_a_server_that_never_comes_to_an_end_is_given_up(platform: WhatsApp, tmp_path: Path) -> None:
    """Though it goes on sending."""
    is_over = asyncio.Event()

    async def dribble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(ConnectionError):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.001)
        is_over.set()

    async with await asyncio.start_server(dribble, "127.0.0.1", 0) as server, asyncio.timeout(30):
        port = server.sockets[0].getsockname()[1]
        channel = bot(platform, tmp_path, api=f"http://127.0.0.1:{port}", request_seconds=0.2)
        with pytest.raises(Unavailable, match="cannot be reached"):
            await channel.send(Outbound(1, "whatsapp", ANA, MessagePart("hi"), "trace"))
        await channel._client.close()
        await is_over.wait()


async def test_a_token_that_cannot_be_one_is_refused_like_any_other(platform: WhatsApp, tmp_path: Path) -> None:
    """What was to be sent waits until the owner has mended it."""
    channel = bot(platform, tmp_path, token="contraseña")
    with pytest.raises(NeedsOwner, match="refuses the access token"):
        await channel.send(Outbound(1, "whatsapp", ANA, MessagePart("hi"), "trace"))
    await channel._client.close()


async def test_in_a_group_the_bot_answers_those_who_say_its_name_or_answer_it(
    platform: WhatsApp, tmp_path: Path
) -> None:
    """A group is never private, and its answer goes to the group."""
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        platform.say("nothing for it", group_id="Y2FwaV9ncm91cDox")
        platform.say("keno, what is for dinner?", BOB, group_id="Y2FwaV9ncm91cDox")
        platform.say("and now?", BOB, group_id="Y2FwaV9ncm91cDox", context={"from": BOT, "id": "wamid.x"})
        first, second = await sink.until_accepted(2)
        with pytest.raises(Rejected):  # the stand-in has no groups
            await channel.send(answer(first, MessagePart("Soup")))
    assert (first.text, first.private, first.chat, first.user) == (
        "what is for dinner?",
        False,
        "Y2FwaV9ncm91cDox",
        BOB,
    )
    assert second.text == "and now?"


async def test_who_hides_their_number_stays_who_they_were(platform: WhatsApp, tmp_path: Path) -> None:
    """Also after a restart; a stranger without a number is known by Meta's own id, and answered there."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        platform.say("hello", from_user_id=ANA_SCOPED)
        await sink.until_accepted(1)
        while not (tmp_path / "channels" / f"whatsapp-{PHONE_ID}.json").exists():
            await asyncio.sleep(0.01)
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        platform.message("text", {"body": "it is me"}, **{"from": ""}, from_user_id=ANA_SCOPED)
        platform.message("text", {"body": "and me"}, **{"from": ""}, from_user_id="ES.99")
        known, stranger = await sink.until_accepted(2)
        await channel.send(answer(stranger, MessagePart("Who are you?")))
    assert (known.user, known.chat, stranger.user) == (ANA, ANA, "ES.99")
    assert platform.sent[0]["recipient"] == "ES.99"
    assert "to" not in platform.sent[0]


async def test_whoever_takes_over_a_number_is_a_stranger(platform: WhatsApp, tmp_path: Path) -> None:
    """Also after a restart: the owner is told once, and what is said to who had it does not reach the new one."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        platform.say("hello", BOB, from_user_id="ES.1")
        platform.say("hello again", BOB, from_user_id="ES.1")
        platform.say("who had this number?", BOB, from_user_id="ES.2")
        first, again, other = await sink.until_accepted(3)
        platform.say("from ana", from_user_id=ANA_SCOPED)
        platform.say("from ana's new account", from_user_id="ES.9")
        await sink.until_accepted(5)
    assert (first.user, again.user, other.user, other.chat) == (BOB, BOB, "ES.2", "ES.2")
    assert [each.user for each in sink.accepted[3:]] == [ANA, ANA], "what the settings name counts"
    ((_, problem),) = sink.reports
    assert problem.startswith(f"+{BOB} on WhatsApp belongs to another account now")
    assert sentences.render(problem, "es") != problem
    async with running(platform, channel := bot(platform, tmp_path)) as later:
        platform.say("me once more", BOB, from_user_id="ES.2")
        platform.say("and a third", BOB, from_user_id="ES.3")
        platform.message("text", {"body": "I had it"}, **{"from": ""}, from_user_id="ES.1")
        platform.say("no account told", BOB)
        platform.say("the end")
        await later.until_accepted(4)
        with pytest.raises(Rejected, match="another account"):
            await channel.send(answer(first, MessagePart("Your appointment is at nine")))
        assert await channel.send(answer(other, MessagePart("Who are you?")))
    assert [each.user for each in later.accepted] == ["ES.2", "ES.3", "ES.1", ANA]
    assert [reason for _, _, _, reason in later.quarantined] == ["the message has no sender"]
    assert not later.reports
    assert [each.get("recipient") for each in platform.sent] == ["ES.2"]


async def test_a_number_that_its_person_left_lets_nobody_in(platform: WhatsApp, tmp_path: Path) -> None:
    """Whether or not Meta had told an account with it before."""
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        platform.say("hello", BOB)
        changed = {"body": "changed", "wa_id": "34600000009", "type": "user_changed_number"}
        platform.message("system", changed, BOB)
        platform.message("system", changed)
        platform.say("who had this number?", BOB, from_user_id="ES.2")
        platform.say("still ana", from_user_id="ES.9")
        first, other, ana = await sink.until_accepted(3)
        with pytest.raises(Rejected, match="another account"):
            await channel.send(answer(first, MessagePart("Your appointment is at nine")))
        assert await channel.send(answer(ana, MessagePart("hi")))
    assert (first.user, other.user, ana.user) == (BOB, "ES.2", ANA)
    assert len(sink.reports) == 2


async def test_a_number_of_the_settings_counts_whatever_was_known_before(tmp_path: Path) -> None:
    """An owner may first have come without a number."""
    people = KnownPeople(tmp_path / "x.json", [ANA])
    assert people.identify("", ANA_SCOPED) == ANA_SCOPED
    await people.learn(ANA_SCOPED, ANA_SCOPED)
    assert people.identify(ANA, ANA_SCOPED) == ANA
    assert people.identify(BOB, ANA_SCOPED) == ANA_SCOPED
    assert people.identify("", "") == ""


async def test_so_many_people_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one known for the longest time is forgotten; a disk that is full stops nobody."""
    monkeypatch.setattr(whatsapp_people, "_MOST", 2)
    (tmp_path / "file").write_text("")
    people = KnownPeople(tmp_path / "file" / "x.json", [])
    for number in range(3):
        await people.learn(f"ES.{number}", f"3460000000{number}")
    assert list(people._ids) == ["ES.1", "ES.2"]


async def test_the_last_messages_of_so_many_chats_are_known(
    platform: WhatsApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the others the bot is not seen typing."""
    monkeypatch.setattr(whatsapp_channel, "_CHATS", 1)
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        platform.say("one")
        platform.say("two", BOB)
        await sink.until_accepted(2)
        await platform.until_answered(2)
        await channel.typing(ANA)
        await channel.typing(BOB)
    assert platform.typed == [sink.accepted[1].external_id]


@pytest.mark.parametrize(
    ("status", "code", "kind", "words"),
    [
        (429, 130429, RateLimited, "fewer"),
        (400, 131056, RateLimited, "fewer"),
        (400, 80007, RateLimited, "fewer"),
        (400, 131047, Rejected, "a day after"),
        (400, 131026, Rejected, "cannot deliver"),
        (400, 131030, Rejected, "test number"),
        (401, 190, Unavailable, "refuses the access token"),
        (403, 10, Unavailable, "does not let the token"),
        (403, 200, Unavailable, "does not let the token"),
        (400, 131042, Unavailable, "way of paying"),
        (403, 368, Unavailable, "restricted this WhatsApp account"),
        (500, 131000, Unavailable, "has trouble"),
        (400, 131016, Unavailable, "has trouble"),
        (502, 0, Unavailable, "has trouble"),
        (400, 131009, Rejected, "refuses that"),
    ],
)
async def test_failures_are_told_apart(
    platform: WhatsApp, tmp_path: Path, status: int, code: int, kind: type[RemoteError], words: str
) -> None:
    """What passes is tried again, what does not is not; what only the owner can mend waits, and they are told."""
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        platform.fail_with.append((status, code))
        part = Outbound(1, "whatsapp", ANA, MessagePart("hi"), "trace")
        with pytest.raises(kind, match=words) as caught:
            await channel.send(part)
        assert await channel.send(part)
    if kind is RateLimited:
        assert caught.value.retry_after
    told = [problem for _, problem in sink.reports]
    assert told == ([str(caught.value)] if code in (190, 10, 200, 131042, 368) else [])
    assert all(sentences.render(problem, "es") != problem for problem in told)


async def test_a_page_of_a_proxy_is_no_refusal_of_meta(platform: WhatsApp, tmp_path: Path) -> None:
    """The answer is tried again, and the owner hears nothing of a token."""
    part = Outbound(1, "whatsapp", ANA, MessagePart("hi"), "trace")
    async with running(platform, channel := bot(platform, tmp_path)) as sink:
        for status, page in ((401, "<html>"), (403, "<html>"), (404, '{"message": "no"}'), (403, '{"error": "no"}')):
            platform.pages.append((status, page))
            with pytest.raises(Unavailable, match="not WhatsApp"):
                await channel.send(part)
        platform.pages.append((429, "<html>"))
        with pytest.raises(RateLimited):
            await channel.send(part)
        assert await channel.send(part)
    assert not sink.reports


async def test_a_token_that_is_refused_is_told_to_the_owner_and_messages_come_in(
    platform: WhatsApp, tmp_path: Path
) -> None:
    """What people write is stored meanwhile."""
    channel, sink = bot(platform, tmp_path, token="revoked"), RecordingSink()
    async with behind_http(platform, channel), asyncio.timeout(60):
        task = asyncio.create_task(channel.run(sink))
        platform.say("are you there?")
        await sink.until_accepted(1)
        while not sink.reports:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert "refuses the access token" in sink.reports[0][1]


async def test_what_failed_on_its_way_is_taken_back(platform: WhatsApp, tmp_path: Path) -> None:
    """With the reason; what is not yet known as sent is told again, and an old one is let go."""
    sink = FailureSink()
    async with running(platform, bot(platform, tmp_path), sink):
        sink.known = {"wamid.1", "wamid.3"}
        platform.fail("wamid.1", 131047)
        await platform.until_answered(1)
        platform.fail("wamid.2", 131026)
        await platform.until_answered(2)
        sink.known.add("wamid.2")
        while platform.answers[-1] != 200:
            await platform.until_answered(len(platform.answers) + 1)
        platform.fail("wamid.3", 131042)
        platform.post({"statuses": [{"id": "wamid.4", "status": "failed", "timestamp": "1000000000", "errors": []}]})
        platform.post({"statuses": [{"id": "wamid.1", "status": "delivered", "timestamp": "1"}, {"status": "read"}]})
        odd = {"status": "failed", "timestamp": "9" * 5000, "errors": [{"code": "9" * 5000}]}
        platform.post({"statuses": [odd]})
        await platform.until_answered(len(platform.answers) + 4)
    assert platform.answers[0] == 200
    assert platform.answers[1] == 503
    kinds = {message: type(error).__name__ for message, error in sink.taken_back}
    assert kinds["wamid.1"] == kinds["wamid.2"] == "Rejected"
    assert kinds["wamid.3"] == "NeedsOwner"
    assert [problem for _, problem in sink.reports] == [
        "WhatsApp takes no messages because of the way of paying: mend it at business.facebook.com"
    ]


async def test_a_new_number_of_a_person_is_told_to_the_owner(platform: WhatsApp, tmp_path: Path) -> None:
    """It gives that number no rights."""
    async with running(platform, bot(platform, tmp_path)) as sink:
        changed = {"body": "changed", "wa_id": "34600000009", "type": "user_changed_number"}
        platform.message("system", changed)
        platform.say("still here")
        await sink.until_accepted(1)
    ((_, problem),) = sink.reports
    assert problem.startswith(f"+{ANA} writes on WhatsApp from another number now, +34600000009")
    assert sentences.render(problem, "es") != problem


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(ANA),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=6),
    max_leaves=20,
)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=10), st.sampled_from(_KINDS))
def test_whatever_meta_posts_is_understood_or_set_aside(content: dict[str, Any], kind: str) -> None:
    """Nothing of any form breaks the intake, where it would come again for days."""
    message = {"id": "wamid.1", "timestamp": "1700000000", "from": ANA, "type": kind} | content
    value = {"metadata": {"phone_number_id": PHONE_ID}, "messages": [message, content], "contacts": [content]}
    body = {"entry": [{"changes": [{"field": "messages", "value": value}, content]}, content]}
    identify = KnownPeople(Path("nowhere"), []).identify
    for found in iterate_posted(body, PHONE_ID):
        with suppress(MalformedMessage):
            parse(found, BotNumber(BOT, "Keno"), identify, SystemClock())


def test_numbers_are_read_as_people_write_them() -> None:
    """And what is none is refused, with an example."""
    written = {"owners": "+34 600-00 00 01, ES.1502576394655843", "allowed_users": [34600000002]}
    known = WhatsAppSettings.model_validate(written)
    assert known.people == (ANA, ANA_SCOPED, BOB)
    with pytest.raises(ValueError, match="no WhatsApp number"):
        WhatsAppSettings.model_validate({"owners": ["ana"]})


def test_what_is_missing_is_said(platform: WhatsApp, tmp_path: Path) -> None:
    """With what to do; and without the channel http nothing could come in."""
    few = {"owners": [ANA], "phone_number_id": PHONE_ID, "token": "x", "app_secret": "y"}
    with pytest.raises(ConfigError, match="verify_token is not set"):
        build(WhatsAppSettings.model_validate(few), None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="channel http"):
        check_hooks({"whatsapp": bot(platform, tmp_path)})
