"""A group that becomes a supergroup has another id, and is the same chat."""

from pathlib import Path

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.migration import chat_move
from kenobot.gateway.access import Roster
from kenobot.ports.messages import MessagePart, Outbound
from tests.integration.telegram.standin import Answer, Box, FakeTelegram, until_idle, update
from tests.scene import Scene

OLD, NEW = "-5", "-1005"
GROUP = Roster.of(["1"], chats=[OLD])


class FollowingBox(Box):
    """A box that notes which chats it was told to follow."""

    def __init__(self) -> None:
        super().__init__()
        self.moves: list[tuple[str, str, str]] = []

    async def follow_chat(self, channel: str, former: str, current: str) -> None:
        self.moves.append((channel, former, current))


def moving(number: int, chat: str, **fields: int) -> dict[str, object]:
    raw = update(number)
    raw["message"] |= {"chat": {"id": int(chat), "type": "group"}, **fields}
    del raw["message"]["text"]
    return raw


@pytest.mark.parametrize(
    "raw", [moving(1, OLD, migrate_to_chat_id=int(NEW)), moving(1, NEW, migrate_from_chat_id=int(OLD))]
)
def test_either_group_tells_of_the_move(raw: object) -> None:
    """The old one where it went, the new one where it comes from; no other message is such."""
    assert chat_move(raw) == (OLD, NEW)
    assert chat_move(update(1)) is None
    assert chat_move({"update_id": 1, "message": {"chat": 5}}) is None


async def test_what_is_sent_follows_the_group(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Whether Telegram tells of the move by an update, or by refusing the old id; the core hears of both."""
    box = FollowingBox()
    telegram.answers("getUpdates", Answer([moving(1, OLD, migrate_to_chat_id=int(NEW))]))
    await until_idle(channel, telegram, box)
    await channel.send(Outbound(1, "telegram", OLD, MessagePart("one"), ""))
    refused = Answer(status=400, error="Bad Request: upgraded", parameters={"migrate_to_chat_id": -1006})
    telegram.answers("sendMessage", refused)
    await channel.send(Outbound(2, "telegram", "-6", MessagePart("two"), ""))
    await channel.typing("-6")
    assert box.moves == [("telegram", OLD, NEW), ("telegram", "-6", "-1006")]
    chats = [fields["chat_id"] for method, fields in telegram.calls if method.startswith("send")]
    assert chats == [NEW, "-6", "-1006", "-1006"]


async def test_a_group_goes_on_as_a_supergroup(tmp_path: Path) -> None:
    """Its members may talk, its conversation and memory are there, also after a restart; the owner is told once."""
    async with Scene(tmp_path, ["ok <memory>The gate code is 4711</memory>"], roster=GROUP) as scene:
        await scene.say("hello")
        await scene.say("the gate code is 4711", OLD, "9", private=False)
        assert await scene.say("hi", NEW, "9", private=False) == ""
        for _ in range(2):
            await scene.app.loop.follow_chat("telegram", OLD, NEW)
        await scene.app.wait_drained()
        assert [text for text in scene.texts if "supergroup" in text and NEW in text] == scene.texts[-1:]
    async with Scene(tmp_path, ["still here"], roster=GROUP) as scene:
        scene.channel.number = 100
        assert await scene.say("and now?", NEW, "9", private=False) == "still here"
        assert "4711" in scene.requests[-1]
        assert await scene.rows("SELECT DISTINCT session FROM message WHERE session LIKE '%-5'") == [("telegram--5",)]
        assert scene.channel.sent[-1].chat == OLD


async def test_either_id_in_the_settings_lets_in(tmp_path: Path) -> None:
    """Whoever writes the new id in place of the old one keeps the group."""
    async with Scene(tmp_path, ["ok"], roster=GROUP) as scene:
        await scene.say("hello", OLD, "9", private=False)
        await scene.app.loop.follow_chat("telegram", OLD, NEW)
    async with Scene(tmp_path, ["welcome"], roster=Roster.of(["1"], chats=[NEW])) as scene:
        scene.channel.number = 100
        assert await scene.say("hi", NEW, "9", private=False) == "welcome"


async def test_chats_that_nobody_knows_are_not_followed(tmp_path: Path) -> None:
    """Nor does a chat with a conversation of its own become part of another."""
    async with Scene(tmp_path, ["ok"], roster=Roster.of(["1"], chats=["-7", "-1007"])) as scene:
        await scene.app.loop.follow_chat("telegram", "-8", "-1008")
        for chat in ("-7", "-1007"):
            await scene.say("hello", chat, "9", private=False)
        await scene.app.loop.follow_chat("telegram", "-7", "-1007")
        assert await scene.rows("SELECT value FROM key_value WHERE key = 'chats:moved'") == []
