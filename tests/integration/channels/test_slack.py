"""The Slack channel, on a stand-in of its wire."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("slack_sdk", reason="the extra `slack` is not installed")

from aiohttp import web

from kenobot.ports import sentences
from kenobot.ports.channel import Channel
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, RateLimited, Rejected, Unavailable
from kenobot.ports.messages import Attachment, Button, Inbound, MessagePart, Outbound
from kenobot_slack import build
from kenobot_slack import channel as slack_channel
from kenobot_slack.channel import SlackChannel
from kenobot_slack.settings import SlackSettings
from kenobot_testing.channel import ChannelContract
from kenobot_testing.fake_channel import RecordingSink
from tests.constants import with_constants
from tests.integration.channels.served import served
from tests.integration.channels.slack_standin import (
    ANA,
    APP_TOKEN,
    BOB,
    BOT,
    DIRECT,
    ROOM,
    TOKEN,
    Slack,
    standin,
)


@pytest.fixture
async def platform() -> AsyncIterator[Slack]:
    """The platform, on loopback."""
    async with standin() as platform:
        yield platform


def bot(platform: Slack, home: Path, **more: object) -> SlackChannel:
    """A channel that Ana owns, and that has run before."""
    (home / "channels").mkdir(exist_ok=True)
    place = home / "channels" / f"slack-{BOT}"
    if not place.exists():
        place.write_text("1.0")
    values = {"token": TOKEN, "app_token": APP_TOKEN, "owners": [ANA], "api": f"{platform.address}/api"}
    return SlackChannel(with_constants(SlackSettings, **(values | more)), SystemClock(), home)


@asynccontextmanager
async def running(channel: SlackChannel, platform: Slack) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs, once it is connected."""
    sink, before = RecordingSink(), platform.connections
    task = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            while platform.connections == before and not task.done():
                await asyncio.sleep(0.01)
            yield sink
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def answer(inbound: Inbound, part: MessagePart, number: int = 1, **more: Any) -> Outbound:
    return Outbound(number, "slack", inbound.chat, part, "trace", thread=inbound.thread, **more)


class TestSlack(ChannelContract):
    """The suite, run on Slack."""

    chat = DIRECT

    @pytest.fixture
    def channel(self, platform: Slack, tmp_path: Path) -> Channel:
        self._platform = platform
        return bot(platform, tmp_path)

    @pytest.fixture
    def failing(self, platform: Slack, tmp_path: Path) -> Channel:
        """A bot whose token was taken back."""
        return bot(platform, tmp_path, token="revoked")

    async def say(self, channel: Channel, text: str) -> None:
        await self._platform.say(text)

    async def hand_over(self, channel: Channel, name: str, content: bytes) -> None:
        self._platform.files["F1"] = content
        file = {"id": "F1", "name": name, "size": len(content), "url_private": "https://files.example.org/F1"}
        await self._platform.say("", subtype="file_share", files=[file])

    async def press(self, channel: Channel, message: str, value: str) -> None:
        envelope = await self._platform.press(message, value)
        action = {"type": "button", "action_id": "0-0", "value": value, "action_ts": self._platform.new_time()}
        about = {"type": "block_actions", "user": {"id": ANA}, "channel": {"id": DIRECT}, "message": {"ts": message}}
        frame = {"envelope_id": envelope, "type": "interactive", "payload": about | {"actions": [action]}}
        self._platform._unanswered[envelope] = frame


async def test_a_direct_message_is_private_and_the_answer_has_the_formatting_of_slack(
    platform: Slack, tmp_path: Path
) -> None:
    """It is acknowledged once it is stored."""
    async with running(channel := bot(platform, tmp_path), platform) as sink:
        sink.open.clear()
        await platform.say("hello ñ &lt;b&gt; <https://example.org/x|here>")
        await sink.until_offered(1)
        assert platform.acknowledged == []
        sink.open.set()
        (inbound,) = await sink.until_accepted(1)
        while not platform.acknowledged:
            await asyncio.sleep(0.01)
        (part,) = channel.render("**All** is `we<ll`, [there](https://example.org/y) & ~~not~~")
        await channel.send(answer(inbound, part))
    assert inbound.text == "hello ñ <b> here (https://example.org/x)"
    assert (inbound.private, inbound.user, inbound.user_name, inbound.chat) == (True, ANA, "Ana", DIRECT)
    assert platform.posted[0]["text"] == "*All* is `we&lt;ll`, <https://example.org/y|there> &amp; ~not~"


async def test_in_a_channel_a_mention_or_an_answer_in_its_thread_calls_the_bot(platform: Slack, tmp_path: Path) -> None:
    """A thread is a conversation of its own, and the answer stays in it; other bots are left alone."""
    async with running(channel := bot(platform, tmp_path), platform) as sink:
        await platform.say("nothing for it", BOB, ROOM)
        await platform.say(f"<@{BOT}> beep", BOB, ROOM, bot_id="B2")
        await platform.say(f"<@{BOT}>, what is <@{BOB}> doing?", BOB, ROOM)
        await platform.say("and now?", BOB, ROOM, thread_ts="1.5", parent_user_id=BOT)
        first, second = await sink.until_accepted(2)
        await channel.send(answer(second, MessagePart("Sleeping")))
    assert (first.text, first.private, first.chat, first.thread) == (f"what is @{BOB} doing?", False, ROOM, "")
    assert (second.text, second.thread) == ("and now?", "1.5")
    assert platform.posted[0]["thread_ts"] == "1.5"


async def test_nothing_is_unfurled_where_a_part_wants_no_previews(platform: Slack, tmp_path: Path) -> None:
    """Neither links nor media, so that nothing is fetched unless a person opens it."""
    async with running(channel := bot(platform, tmp_path), platform) as sink:
        await platform.say("hello")
        (inbound,) = await sink.until_accepted(1)
        await channel.send(answer(inbound, MessagePart("https://a.example/x.png", has_previews=False)))
    assert (platform.posted[0]["unfurl_links"], platform.posted[0]["unfurl_media"]) == (False, False)


async def test_what_was_said_while_it_was_away_is_read_in_order(platform: Slack, tmp_path: Path) -> None:
    """And what was not acknowledged comes again by itself, under the same id."""
    async with running(bot(platform, tmp_path), platform) as sink:
        await platform.say("before")
        await sink.until_accepted(1)
        while not platform.acknowledged:
            await asyncio.sleep(0.01)
    await platform.say(f"<@{BOT}> one", BOB, ROOM, deliver=False)
    for number in range(230):
        await platform.say(f"more {number}", deliver=False)
    async with running(bot(platform, tmp_path), platform) as later:
        await later.until_accepted(231)
    texts = [inbound.text for inbound in later.accepted]
    assert texts == ["one", *(f"more {number}" for number in range(230))]


async def test_a_connection_that_slack_ends_is_opened_anew(platform: Slack, tmp_path: Path) -> None:
    """The supervisor starts the channel again."""
    channel, sink = bot(platform, tmp_path), RecordingSink()
    task = asyncio.create_task(channel.run(sink))
    async with asyncio.timeout(60):
        while not platform.connections:
            await asyncio.sleep(0.01)
        await platform.disconnect()
        with pytest.raises(Unavailable, match="ended"):
            await task
    async with running(channel, platform) as later:
        await platform.say("still there?")
        await later.until_accepted(1)


async def test_edits_reactions_and_buttons_name_the_message(platform: Slack, tmp_path: Path) -> None:
    """An answer is edited in its place, which takes its buttons away."""
    async with running(channel := bot(platform, tmp_path), platform) as sink:
        said = await platform.say("milk")
        (first,) = await sink.until_accepted(1)
        await platform.edit(said, "milk")  # a preview was added
        await platform.edit(said, "bread")
        part = MessagePart("Sure?", buttons=((Button("Yes", "7.0.mac"), Button("No", "7.1.mac")),))
        sent = await channel.send(answer(first, part))
        await platform.react(said["ts"], "-1", author=ANA)
        await platform.react(sent, "thumbsup::skin-tone-2")
        await platform.press(sent, "7.0.mac")
        _, edit, reaction, press = await sink.until_accepted(4)
        assert await channel.send(answer(first, MessagePart("Done"), 2, replaces=sent)) == sent
        await channel.react(first.chat, first.platform_id, "👀")
    assert (edit.kind, edit.text, edit.target) == ("edit", "bread", first.platform_id)
    assert (reaction.kind, reaction.value, reaction.target) == ("reaction", "👍", sent)
    assert (press.kind, press.value, press.target, press.private) == ("action", "7.0.mac", sent, True)
    elements = platform.posted[0]["blocks"][1]["elements"]
    assert [(button["text"]["text"], button["value"]) for button in elements] == [("Yes", "7.0.mac"), ("No", "7.1.mac")]
    assert (platform.messages[DIRECT][-1]["text"], platform.messages[DIRECT][-1]["blocks"]) == ("Done", [])
    assert platform.reactions == [(first.platform_id, "eyes")]


async def test_what_cannot_be_read_is_kept_aside(platform: Slack, tmp_path: Path) -> None:
    """And stops nobody else."""
    async with running(bot(platform, tmp_path), platform) as sink:
        await platform.emit({"event": {"type": "message", "text": "no channel", "user": ANA}})
        await platform.say("fine")
        await sink.until_accepted(1)
    assert [reason for _, _, _, reason in sink.quarantined] == ["the message cannot be read: KeyError"]


async def test_a_file_is_loaded_from_slack_alone(platform: Slack, tmp_path: Path) -> None:
    """The token goes with the request; what only stands elsewhere and was shared on Slack is not asked for."""
    platform.files["F1"], asked = b"x", list[str]()
    channel = bot(platform, tmp_path)

    async def take(request: web.Request) -> web.Response:
        asked.append(request.headers.get("Authorization", ""))
        return web.Response(body=b"stolen")

    async def load() -> bytes:
        return b"".join([piece async for piece in channel.fetch(Attachment("document", handle="F1"))])

    (elsewhere := web.Application()).router.add_get("/{path:.*}", take)
    async with served(elsewhere) as foreign:
        for address in (
            f"{foreign}/F1",
            "http://files.slack.com/F1",
            "https://files.slack.com.evil.example/F1",
            "https://evilslack.com/F1",
            "https://files.slack.com:8443/F1",
            "https://files.slack.com@127.0.0.1/F1",
            "https://[bad/F1",
            "/F1",
            "",
        ):
            platform.told_of_files["F1"] = {"url_private": address}
            with pytest.raises(Rejected, match="not one of Slack's"):
                await load()
        platform.told_of_files["F1"] = {"is_external": True}
        with pytest.raises(Rejected, match="not one of Slack's"):
            await load()
    platform.told_of_files.clear()
    assert await load() == b"x"
    assert not asked
    for address in ("https://slack.com/x", "https://files.slack.com/x", "https://files.slack-gov.com/x"):
        assert channel._is_slacks(address)


async def test_a_file_that_is_elsewhere_is_named_and_has_nothing_to_load(platform: Slack, tmp_path: Path) -> None:
    """So its sender is told that it cannot be read."""
    remote = {"id": "F9", "name": "plan", "mimetype": "application/vnd.slack-remote", "is_external": True}
    async with running(bot(platform, tmp_path), platform) as sink:
        await platform.say("look", subtype="file_share", files=[remote | {"url_private": "https://example.org/plan"}])
        (inbound,) = await sink.until_accepted(1)
    assert [(each.name, each.handle) for each in inbound.attachments] == [("plan", "")]


async def test_a_page_of_a_proxy_is_no_refusal_of_slack(platform: Slack, tmp_path: Path) -> None:
    """Whatever its status and form: the answer is tried again, and the channel stays on."""
    channel = bot(platform, tmp_path)
    pages = [
        web.Response(status=403, text="<html>Blocked</html>", content_type="text/html"),
        web.Response(status=404, text="not here"),
        web.Response(text="please log in"),
        web.Response(status=400, text="<html>", content_type="application/json"),
        web.Response(text="[1]", content_type="application/json"),
        web.json_response({"message": "Forbidden"}, status=403),
    ]
    for page in pages:
        platform.pages.append(page)
        with pytest.raises(Unavailable, match="not Slack") as caught:
            await channel.send(Outbound(1, "slack", DIRECT, MessagePart("hi"), "trace"))
        assert sentences.render(str(caught.value), "es") != str(caught.value)
    assert await channel.send(Outbound(1, "slack", DIRECT, MessagePart("hi"), "trace"))
    platform.pages.append(web.Response(status=403, text="<html>Blocked</html>", content_type="text/html"))
    with pytest.raises(Unavailable):
        await channel.run(RecordingSink())


async def test_failures_are_told_apart(platform: Slack, tmp_path: Path) -> None:
    """What passes is tried again, what does not is not; a token that is wrong is told to the owner."""
    channel, part = bot(platform, tmp_path), MessagePart("hi")
    with pytest.raises(Rejected, match="channel_not_found"):
        await channel.send(Outbound(1, "slack", "C1", part, "trace"))
    platform.fail_with += [(429, {"ok": False, "error": "ratelimited"}), (503, {"ok": False})]
    with pytest.raises(RateLimited) as caught:
        await channel.send(Outbound(2, "slack", DIRECT, part, "trace"))
    assert caught.value.retry_after == 7
    with pytest.raises(Unavailable):
        await channel.send(Outbound(3, "slack", DIRECT, part, "trace"))
    sink = RecordingSink()
    with pytest.raises(Rejected):
        await bot(platform, tmp_path, app_token="wrong").run(sink)
    assert "check token and app_token" in sink.reports[0][1]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_the_names_of_so_many_people_are_kept(
    platform: Slack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one known for the longest time is asked for again."""
    monkeypatch.setattr(slack_channel, "_PEOPLE", 1)
    channel = bot(platform, tmp_path)
    assert [await channel._name(user) for user in (ANA, BOB, "U7")] == ["Ana", "Bob", "U7"]
    assert list(channel._names) == ["U7"]


def test_what_is_missing_is_said() -> None:
    """With what to do."""
    with pytest.raises(ConfigError, match="app_token is not set"):
        build(SlackSettings.model_validate({"owners": [ANA], "token": "x"}), None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no Slack id"):
        SlackSettings.model_validate({"owners": ["ana"]})
