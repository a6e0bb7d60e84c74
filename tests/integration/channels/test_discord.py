"""The Discord channel, on a stand-in of its wire."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("discord", reason="the extra `discord` is not installed")

from kenobot.ports import sentences
from kenobot.ports.channel import Channel
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, RateLimited, Rejected, Unavailable
from kenobot.ports.messages import Attachment, Button, Inbound, MessagePart, Outbound
from kenobot_discord import build
from kenobot_discord import client as our_client
from kenobot_discord.channel import _DIRECT, DiscordChannel
from kenobot_discord.events import write
from kenobot_discord.settings import DiscordSettings
from kenobot_testing.channel import ChannelContract
from kenobot_testing.fake_channel import RecordingSink
from tests.integration.channels.discord_standin import (
    ANA,
    BOB,
    BOT,
    DIRECT,
    ROLE,
    ROOM,
    THREAD,
    TOKEN,
    Discord,
    standin,
)


@pytest.fixture
async def platform(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Discord]:
    """The platform, on loopback."""
    async with standin(monkeypatch) as platform:
        yield platform


def bot(home: Path, token: str = TOKEN, **more: object) -> DiscordChannel:
    """A channel that Ana owns, and that has run before."""
    (home / "channels").mkdir(exist_ok=True)
    place = home / "channels" / f"discord-{BOT}.json"
    if not place.exists():
        place.write_text('{"seen": 1, "direct": []}')
    settings = DiscordSettings.model_validate({"token": token, "owners": [ANA]} | more)
    return DiscordChannel(settings, SystemClock(), home)


@asynccontextmanager
async def running(channel: DiscordChannel, platform: Discord) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs, once it is connected."""
    sink, sessions = RecordingSink(), len(platform.identified)
    task = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            while len(platform.identified) == sessions and not task.done():
                await asyncio.sleep(0.01)
            yield sink
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def answer(inbound: Inbound, part: MessagePart, number: int = 1, **more: Any) -> Outbound:
    return Outbound(number, "discord", inbound.chat, part, "trace", thread=inbound.thread, **more)


class TestDiscord(ChannelContract):
    """The suite, run on Discord."""

    chat = str(DIRECT)
    sends_while_running = True

    @pytest.fixture
    def channel(self, platform: Discord, tmp_path: Path) -> Channel:
        self._platform = platform
        return bot(tmp_path)

    @pytest.fixture
    def failing(self, tmp_path: Path) -> Channel:
        """A bot that is not connected."""
        return bot(tmp_path)

    async def say(self, channel: Channel, text: str) -> None:
        await self._platform.say(text)

    async def hand_over(self, channel: Channel, name: str, content: bytes) -> None:
        self._platform.files[name] = content
        address = f"{self._platform.address}/files/{name}"
        file = {"id": "77", "filename": name, "size": len(content), "url": address, "proxy_url": address}
        await self._platform.say("", attachments=[file])

    async def press(self, channel: Channel, message: str, value: str) -> None:
        while not self._platform.identified:
            await asyncio.sleep(0.01)
        await self._platform.press(message, value)


async def test_a_direct_message_is_private_and_its_answer_is_sent_once(platform: Discord, tmp_path: Path) -> None:
    """With Discord's own formatting, below what it answers, and the rest as it is written."""
    async with running(channel := bot(tmp_path), platform) as sink:
        await platform.say("hello ñ 你好")
        (inbound,) = await sink.until_accepted(1)
        (part,) = channel.render("**All** is `we*ll`, 2*3*4 [here](https://example.org/x_y_z)\n\n```py\na_b = 1\n```")
        sent = await channel.send(answer(inbound, part, reply_to=inbound.platform_id))
        assert sent == await channel.send(answer(inbound, part, reply_to=inbound.platform_id))
        await channel.typing(inbound.chat)
    (posted,) = platform.posted
    assert (inbound.text, inbound.private, inbound.user, inbound.user_name) == ("hello ñ 你好", True, str(ANA), "Ana")
    assert posted["content"].startswith(r"**All** is `we*ll`, 2\*3\*4 [here](<https://example.org/x_y_z>)")
    assert "```py\na_b = 1\n```" in posted["content"]
    assert posted["message_reference"]["message_id"] == int(inbound.platform_id)
    assert posted["allowed_mentions"]["parse"] == []
    assert platform.typed == [str(DIRECT)]


async def test_in_a_server_a_mention_or_a_reply_calls_the_bot(platform: Discord, tmp_path: Path) -> None:
    """The mention is left out; other bots, and what is not for it, are left alone."""
    async with running(bot(tmp_path), platform) as sink:
        await platform.say("nothing for it", by=BOB, where=ROOM)
        await platform.say(f"<@{BOT}> beep", by=BOT, where=ROOM)
        told = await platform.say(f"<@{BOT}>, what is new?", by=BOB, where=ROOM)
        await platform.say(f"<@&{ROLE}> and you?", by=ANA, where=ROOM)
        mine = platform._message("All well", BOT, ROOM)
        reply = {"message_id": mine["id"], "channel_id": str(ROOM)}
        await platform.say("good", by=BOB, where=ROOM, type=19, message_reference=reply, referenced_message=mine)
        first, second, third = await sink.until_accepted(3)
    assert (first.text, first.private, first.chat, first.user) == ("what is new?", False, str(ROOM), str(BOB))
    assert first.external_id == told["id"]
    assert second.text == "and you?"
    assert (third.text, third.quoted, third.quoted_author, third.reply_to) == ("good", "All well", "", mine["id"])


async def test_a_thread_is_a_conversation_of_its_channel(platform: Discord, tmp_path: Path) -> None:
    """And the answer stays in it."""
    async with running(channel := bot(tmp_path), platform) as sink:
        while channel._client is None or channel._client.get_channel(THREAD) is None:
            await asyncio.sleep(0.01)
        await platform.say(f"where to, <@{BOT}>?", where=THREAD)
        (inbound,) = await sink.until_accepted(1)
        await channel.send(answer(inbound, MessagePart("Lisbon")))
    assert (inbound.chat, inbound.thread, inbound.text) == (str(ROOM), str(THREAD), "where to, @Keno?")
    assert platform.messages[THREAD][-1]["content"] == "Lisbon"


async def test_what_was_said_while_it_was_away_is_read_in_order(platform: Discord, tmp_path: Path) -> None:
    """Direct messages and mentions, under the ids that they would have had; the rest of its place is kept."""
    async with running(bot(tmp_path), platform) as sink:
        await platform.say("before")
        await sink.until_accepted(1)
    said = [
        await platform.say(f"<@{BOT}> one", by=BOB, where=ROOM, deliver=False),
        await platform.say("two", deliver=False),
        *[await platform.say(f"more {number}", deliver=False) for number in range(120)],
    ]
    async with running(bot(tmp_path), platform) as later:
        await later.until_accepted(122)
        await platform.say("last")
        while later.accepted[-1].text != "last":
            await later.until_accepted(len(later.accepted) + 1)
    new = [inbound for inbound in later.accepted if inbound.text not in ("before", "last")]
    assert [inbound.external_id for inbound in new] == [each["id"] for each in said]
    assert [inbound.text for inbound in new][:2] == ["one", "two"]


async def test_nothing_is_embedded_where_a_part_wants_no_previews(platform: Discord, tmp_path: Path) -> None:
    """So that nothing is fetched unless a person opens it."""
    async with running(channel := bot(tmp_path), platform) as sink:
        await platform.say("hello")
        (inbound,) = await sink.until_accepted(1)
        await channel.send(answer(inbound, MessagePart("https://a.example/x", has_previews=False)))
    assert platform.posted[0]["flags"] == 4


async def test_a_first_start_answers_nothing_of_before(platform: Discord, tmp_path: Path) -> None:
    """The history of a server is no conversation with the bot."""
    old = await platform.say("long ago", id="5")
    assert old["id"] == "5"
    settings = DiscordSettings.model_validate({"token": TOKEN, "owners": [ANA]})
    async with running(DiscordChannel(settings, SystemClock(), tmp_path), platform) as sink:
        await platform.say("now")
        await sink.until_accepted(1)
    assert [inbound.text for inbound in sink.accepted] == ["now"]


async def test_a_broken_connection_is_resumed_and_nothing_is_lost(platform: Discord, tmp_path: Path) -> None:
    """Discord repeats what came meanwhile."""
    async with running(bot(tmp_path), platform) as sink:
        await platform.say("one")
        await sink.until_accepted(1)
        await platform.drop()
        await platform.say("two", deliver=False)
        await sink.until_accepted(2)
    assert platform.resumed == 1
    assert [inbound.text for inbound in sink.accepted] == ["one", "two"]


async def test_edits_and_reactions_name_the_message(platform: Discord, tmp_path: Path) -> None:
    """A reaction to somebody else's message is not for the bot; an answer is edited in its place."""
    async with running(channel := bot(tmp_path), platform) as sink:
        said = await platform.say("milk")
        (first,) = await sink.until_accepted(1)
        await platform.emit("MESSAGE_UPDATE", said)  # a preview was added
        await platform.edit(said, "bread")
        sent = await channel.send(answer(first, MessagePart("Noted")))
        await platform.react(said["id"], "👎", author=ANA)
        await platform.react(sent, "👍")
        _, edit, reaction = await sink.until_accepted(3)
        assert await channel.send(answer(first, MessagePart("Bread, then"), 2, replaces=sent)) == sent
        await channel.react(first.chat, first.platform_id, "👀")
    assert (edit.kind, edit.text, edit.target) == ("edit", "bread", first.platform_id)
    assert (reaction.kind, reaction.value, reaction.target, reaction.private) == ("reaction", "👍", sent, True)
    assert platform.messages[DIRECT][-1]["content"] == "Bread, then"
    assert platform.reactions == [(first.platform_id, "👀")]


async def test_a_button_is_pressed_and_the_press_is_answered_once_it_is_stored(
    platform: Discord, tmp_path: Path
) -> None:
    """An edit takes the buttons away."""
    async with running(channel := bot(tmp_path), platform) as sink:
        await platform.say("forget it")
        (first,) = await sink.until_accepted(1)
        part = MessagePart("Sure?", buttons=((Button("Yes", "7.0.mac"), Button("No", "7.1.mac")),))
        sent = await channel.send(answer(first, part))
        sink.open.clear()
        await platform.press(sent, "7.0.mac")
        await sink.until_offered(2)
        assert platform.answered == []
        sink.open.set()
        _, press = await sink.until_accepted(2)
        while not platform.answered:
            await asyncio.sleep(0.01)
        await channel.send(answer(first, MessagePart("Forgotten"), 2, replaces=sent))
    assert (press.kind, press.value, press.target, press.chat) == ("action", "7.0.mac", sent, first.chat)
    row = platform.posted[0]["components"][0]["components"]
    assert [(button["label"], button["custom_id"]) for button in row] == [("Yes", "7.0.mac"), ("No", "7.1.mac")]
    assert platform.messages[DIRECT][-1]["components"] == []


async def test_an_answer_may_be_a_file(platform: Discord, tmp_path: Path) -> None:
    """And a forwarded message is read as another's."""
    async with running(channel := bot(tmp_path), platform) as sink:
        snapshot = {"message": platform._message("Send me money", BOB, DIRECT)}
        await platform.say("", message_snapshots=[snapshot])
        (inbound,) = await sink.until_accepted(1)
        file = Attachment("document", mime="text/markdown", name="answer.md", text="# ñ")
        await channel.send(answer(inbound, MessagePart("See the file", attachments=(file,))))
    assert (inbound.text, inbound.forwarded) == ("Send me money", True)
    assert platform.posted[0]["files"] == {"answer.md": "# ñ".encode()}


async def test_failures_are_told_apart(platform: Discord, tmp_path: Path) -> None:
    """What passes is tried again, what does not is not; a token that is wrong is told to the owner."""
    part = MessagePart("hi")
    async with running(channel := bot(tmp_path), platform):
        while channel._client is None:
            await asyncio.sleep(0.01)
        with pytest.raises(Rejected, match="10003"):
            await channel.send(Outbound(1, "discord", "12345", part, "trace"))
        with pytest.raises(Rejected, match="no such chat"):
            await channel.send(Outbound(2, "discord", "somewhere", part, "trace"))
        platform.fail_with.append((403, {"message": "Cannot send messages to this user", "code": 50007}))
        with pytest.raises(Rejected, match="50007"):
            await channel.send(Outbound(3, "discord", str(DIRECT), part, "trace"))
        platform.fail_with.append((429, {"message": "slow", "retry_after": 90.0, "global": False}))
        with pytest.raises(RateLimited):
            await channel.send(Outbound(4, "discord", str(DIRECT), part, "trace"))
    sink = RecordingSink()
    with pytest.raises(Rejected):
        await bot(tmp_path, "wrong").run(sink)
    platform.close_with = 4004
    with pytest.raises(Rejected):
        await bot(tmp_path).run(sink)
    assert [problem for _, problem in sink.reports] == ["Discord does not let the bot in: check its token"] * 2
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_a_page_of_a_proxy_is_no_refusal_of_discord(platform: Discord, tmp_path: Path) -> None:
    """The answer is tried again, and the channel stays on."""
    for status in (401, 403, 404):
        platform.pages.append((status, "<html>Blocked</html>"))
        with pytest.raises(Unavailable, match=str(status)):
            await bot(tmp_path).run(RecordingSink())
    async with running(channel := bot(tmp_path), platform):
        while channel._client is None:
            await asyncio.sleep(0.01)
        for status in (401, 403, 404):
            platform.pages.append((status, "<html>Blocked</html>"))
            with pytest.raises(Unavailable, match=str(status)):
                await channel.send(Outbound(1, "discord", str(DIRECT), MessagePart("hi"), "trace"))
        platform.fail_with.append((403, {"message": "Forbidden"}))
        with pytest.raises(Unavailable, match="403"):
            await channel.send(Outbound(1, "discord", str(DIRECT), MessagePart("hi"), "trace"))
        assert await channel.send(Outbound(1, "discord", str(DIRECT), MessagePart("hi"), "trace"))


async def test_too_many_events_end_the_connection(
    platform: Discord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are asked for again, from the place that was stored last."""
    monkeypatch.setattr(our_client, "MOST_EVENTS", 2)
    events: our_client.Events = asyncio.Queue()
    client = our_client.DiscordClient(events)
    client.dispatch("message", None)
    client.dispatch("typing", None)
    client.dispatch("message", None)
    with pytest.raises(OSError, match="faster"):
        client.dispatch("message", None)
    client.dispatch("ready")
    assert events.qsize() == 3


async def test_so_many_direct_chats_are_kept(platform: Discord, tmp_path: Path) -> None:
    """The oldest is left out."""
    channel = bot(tmp_path)
    channel._direct = list(range(_DIRECT))
    async with running(channel, platform):
        channel._direct = list(range(_DIRECT))
        await platform.say("hello")
        while DIRECT + 1 not in channel._direct and channel._direct[0] == 0 and DIRECT not in channel._direct:
            await asyncio.sleep(0.01)
    assert len(channel._direct) == _DIRECT


def test_what_looks_like_formatting_is_escaped_and_lists_and_addresses_stay() -> None:
    """Also below an empty line, where a stray backslash would be seen."""
    text = "a_b | c\n\n- one\n  - two\n> said\n# high https://example.org/a_b_c"
    assert write(MessagePart(text)) == ("a\\_b \\| c\n\n- one\n  - two\n\\> said\n\\# high https://example.org/a_b_c")


def test_what_is_missing_is_said() -> None:
    """With what to do."""
    with pytest.raises(ConfigError, match="token is not set"):
        build(DiscordSettings.model_validate({"owners": ["1"]}), None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Nobody may talk"):
        build(DiscordSettings.model_validate({"token": "x"}), None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no Discord id"):
        DiscordSettings.model_validate({"owners": ["ana"]})
