"""A reply in a group is one message: begun while it is written, edited, and in the end exactly the answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kenobot.app import app
from kenobot.ports.channel import Capabilities
from kenobot.ports.errors import RateLimited, Unavailable
from kenobot.ports.messages import Outbound
from kenobot_testing.clock import EagerClock
from tests import waiting
from tests.scene import Chatter, Scene
from tests.unit.agent.turn.test_drafts import Talker


class Group(Chatter):
    """A group: `stands` is each message there and its text, `seen` each text that any of them had."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.capabilities = Capabilities(previews=True, edits=True, draft_seconds=0)
        self.stands: dict[str, str] = {}
        self.seen: list[str] = []
        self.faults: list[Exception] = []
        self.shows = True

    async def preview(self, chat: str, message: str, text: str, thread: str = "") -> None:
        if not self.shows:
            raise Unavailable("no edits today")
        assert message in self.stands
        self._put(message, text)

    async def send(self, outbound: Outbound) -> str:
        if self.faults:
            raise self.faults.pop(0)
        message = await super().send(outbound)
        self._put(message, outbound.part.text)
        return message

    def _put(self, message: str, text: str) -> None:
        self.stands[message] = text
        self.seen.append(text)

    async def has(self, text: str) -> None:
        await waiting.until(lambda: text in self.stands.values())


@asynccontextmanager
async def group_chat(folder: Path, talker: Talker, group: Group) -> AsyncIterator[Scene]:
    scene = Scene(folder, provider=talker, clock=EagerClock())
    scene.channel = group
    async with scene:
        await scene.put("hello", chat="-5", private=False)
        yield scene


async def test_a_message_grows_and_becomes_the_answer(tmp_path: Path) -> None:
    """One message from the first words on, without its tags; no second one."""
    talker, group = Talker(), Group()
    async with group_chat(tmp_path, talker, group) as scene:
        for piece, shown in (("Hi ", "Hi"), ("Ana ", "Hi Ana"), ("<memory>x", "Hi Ana"), ("</memory>! ", "Hi Ana !")):
            talker.say(piece)
            await group.has(shown)
        talker.say("Bye.", None)
        await scene.app.wait_drained()
        assert list(group.stands.values()) == ["Hi Ana ! Bye."]
        assert not any("<" in text for text in group.seen)
        rows = await scene.rows("SELECT part, state, text FROM outbox ORDER BY id")
        assert rows == [(-3, "sent", ""), (0, "sent", "")]
        ((stored,),) = await scene.rows("SELECT platform_id FROM message WHERE role = 'assistant'")
        assert [stored] == list(group.stands)


async def test_a_reply_that_is_there_at_once_is_one_message(tmp_path: Path) -> None:
    """No preview, no edit."""
    talker, group = Talker(), Group()
    talker.say("Hi Ana.", None)
    async with group_chat(tmp_path, talker, group) as scene:
        await scene.app.wait_drained()
        assert group.seen == ["Hi Ana."]


@pytest.mark.parametrize("outage", [Unavailable("502"), RateLimited("429", 12.0)], ids=["502", "429"])
async def test_an_outage_in_the_middle_leaves_one_whole_answer(tmp_path: Path, outage: Exception) -> None:
    """Of the edits, then of the answer: what stands in the end is the answer, once."""
    talker, group = Talker(), Group()
    async with group_chat(tmp_path, talker, group) as scene:
        talker.say("Hi ")
        await group.has("Hi")
        group.shows = False
        talker.say("Ana")
        group.faults = [outage] * 5
        talker.say("!", None)
        await scene.app.wait_drained()
        assert list(group.stands.values()) == ["Hi Ana!"]


async def test_a_preview_that_waits_out_an_outage_is_replaced(tmp_path: Path) -> None:
    """The answer is ready before the first words could be sent: one message all the same."""
    talker, group = Talker(), Group()
    group.faults = [Unavailable("502")] * 3
    talker.say("Hi ")
    async with group_chat(tmp_path, talker, group) as scene:
        await waiting.until(lambda: len(group.faults) < 3)
        talker.say("Ana!", None)
        await scene.app.wait_drained()
        assert list(group.stands.values()) == ["Hi Ana!"]


async def test_a_turn_that_begins_again_goes_on_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop in the middle, as a crash: the next start edits the message that is there."""
    monkeypatch.setattr(app, "_GRACE_SECONDS", 0.01)
    talker, group = Talker(), Group()
    async with group_chat(tmp_path, talker, group) as scene:
        talker.say("Hi ")
        await group.has("Hi")
        await scene.app.stop()
    talker = Talker()
    again = Scene(tmp_path, provider=talker, clock=EagerClock())
    again.channel = group
    async with again:
        talker.say("Hello ")
        talker.say("Ana ")
        await group.has("Hello Ana")
        talker.say("!", None)
        await again.app.wait_drained()
        assert list(group.stands.values()) == ["Hello Ana !"]


async def test_what_a_turn_ends_with_replaces_its_preview(tmp_path: Path) -> None:
    """The model fails for good: the word that there is no answer stands there, not half of one."""
    talker, group = Talker(), Group()
    async with group_chat(tmp_path, talker, group) as scene:
        talker.say("Half of ")
        await group.has("Half of")
        talker.say(*[ValueError("broken")] * 20)
        await scene.app.wait_drained()
        (stands,) = group.stands.values()
        assert "Half" not in stands
