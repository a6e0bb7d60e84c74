"""A reply is shown while it is written: only what the whole reply shows, and in the end the answer alone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.trifecta import Exposure
from kenobot.agent.turn import runner
from kenobot.agent.turn.drafts import Drafts
from kenobot.agent.turn.turn_signals import StartLate
from kenobot.core.redaction import Redactor
from kenobot.core.worker import TextWork
from kenobot.ports.channel import Capabilities
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import Inbound, Outbound
from kenobot.ports.provider import Delta, Request, ToolCall
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.tools.clock import Clock
from kenobot_testing.clock import EagerClock
from tests import waiting
from tests.scene import Chatter, Scene

if TYPE_CHECKING:
    from kenobot.agent.prompt.prompt_context import PromptContext
    from kenobot.agent.turn.previews import Previews

KEY = "sk-ant-api03-abcdefghijklmnop"


class Drafter(Chatter):
    """A chat that shows drafts. `shown` is what stands there, `drafted` each text that did."""

    def __init__(self, name: str = "telegram", longest: int = 4096) -> None:
        super().__init__(name)
        self.capabilities = Capabilities(longest=longest, drafts=True, draft_seconds=0)
        self.shown = ""
        self.drafted: list[str] = []
        self.fails, self.tries = False, 0

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        if self.fails:
            self.tries += bool(text)
            raise Unavailable("no drafts today")
        self.shown = text
        self.drafted.append(text)

    async def send(self, outbound: Outbound) -> str:
        if outbound.draft:
            self.shown = ""
        return await super().send(outbound)


class Talker:
    """Says what the test tells it to, a piece at a time."""

    def __init__(self, name: str = "talker") -> None:
        self.name = name
        self.asked = 0
        self._pieces: asyncio.Queue[str | ToolCall | Exception | None] = asyncio.Queue()

    def say(self, *pieces: str | ToolCall | Exception | None) -> None:
        """Say pieces, or call a tool; None ends the reply."""
        for piece in pieces:
            self._pieces.put_nowait(piece)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked += 1
        while (piece := await self._pieces.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            yield Delta(call=piece) if isinstance(piece, ToolCall) else Delta(piece)
        yield Delta(stop_reason="end_turn")


class House:
    """A bot with a talker and a chat that shows drafts."""

    def __init__(self, folder: Path, *, fallbacks: Sequence[Talker] = (), longest: int = 4096, **more: object) -> None:
        self.talker, self.chat = Talker(), Drafter(longest=longest)
        clock = EagerClock()
        self.scene = Scene(folder, provider=self.talker, fallbacks=fallbacks, clock=clock, **more)  # type: ignore[arg-type]
        self.scene.channel = self.chat

    async def __aenter__(self) -> "House":
        await self.scene.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.scene.__aexit__()

    async def shows(self, text: str) -> None:
        """Return once the draft is this text."""
        await waiting.until(lambda: self.chat.shown == text)

    async def ends(self) -> str:
        """End the reply, and return what the person has in the end."""
        self.talker.say(None)
        await self.scene.app.wait_drained()
        assert not self.chat.shown, "a draft was left"
        return "\n".join(self.scene.texts)


async def test_a_reply_grows_before_the_eyes_without_its_tags(tmp_path: Path) -> None:
    """Each letter once it is whole; what a tag holds is never seen; the answer takes the place of the draft."""
    async with House(tmp_path) as house:
        await house.scene.put("hello")
        for piece, shown in (
            ("Hi ", "Hi"),
            ("Ana, ", "Hi Ana,"),
            ("e", "Hi Ana,"),
            ("\u0301l", "Hi Ana, e\u0301"),
            (" \ud83d", "Hi Ana, e\u0301l"),
            ("\ude00.", "Hi Ana, e\u0301l 😀"),
            (" <mem", "Hi Ana, e\u0301l 😀."),
            ("ory>Ana likes tea</memory", "Hi Ana, e\u0301l 😀."),
            ("> Noted", "Hi Ana, e\u0301l 😀.  Note"),
        ):
            house.talker.say(piece)
            await house.shows(shown)
        assert await house.ends() == "Hi Ana, e\u0301l 😀.  Noted"
        assert not any("tea" in text or "<" in text for text in house.chat.drafted)
        assert [outbound.draft for outbound in house.chat.sent] == ["1"]


async def test_the_answer_takes_the_place_of_what_stood_before_a_tool(tmp_path: Path) -> None:
    """What the model says while it looks is shown, and is no part of what the person has in the end."""
    async with House(tmp_path, tools=[Clock()]) as house:
        await house.scene.put("what time is it in Tokyo?")
        house.talker.say("Let me look. ")
        await house.shows("Let me look.")
        house.talker.say(ToolCall("c", "clock", {"zone": "tokyo"}), None)
        await waiting.until(lambda: house.talker.asked == 2)
        house.talker.say("It is ")
        await house.shows("It is")
        house.talker.say("late.")
        assert await house.ends() == "It is late."
        assert [outbound.draft for outbound in house.chat.sent] == ["1"]


@pytest.mark.parametrize("again", [True, False], ids=["a retry", "a fallback"])
async def test_a_second_try_takes_the_place_of_the_first(tmp_path: Path, *, again: bool) -> None:
    """What was shown of the reply that broke off stays until there is something in its place."""
    other = Talker("other")
    async with House(tmp_path, fallbacks=[other], environ={"RetryPolicy.attempts": 2 if again else 1}) as house:
        await house.scene.put("hello")
        house.talker.say("The first try ")
        await house.shows("The first try")
        second = house.talker if again else other
        house.talker.say(Unavailable("gone"))
        second.say("A second ")
        await house.shows("A second")
        second.say("one.", None)
        await house.scene.app.wait_drained()
        assert (house.scene.texts, house.chat.shown) == (["A second one."], "")


async def test_what_no_answer_replaces_is_taken_away(tmp_path: Path) -> None:
    """The model is gone for good: the person is told so, and what it had begun to say goes."""
    async with House(tmp_path, environ={"RetryPolicy.attempts": 1}) as house:
        await house.scene.put("hello")
        house.talker.say("It is ")
        await house.shows("It is")
        house.talker.say(Unavailable("gone"))
        await house.shows("")
        assert house.chat.drafted == ["It is", ""]


async def test_a_secret_is_never_shown_and_neither_is_its_beginning(tmp_path: Path) -> None:
    """What may become one waits until it is none."""
    async with House(tmp_path) as house:
        await house.scene.put("hello")
        text = f"The key is {KEY} and the sk-ill is 12345678 times better. Bye"
        for letter in text:
            house.talker.say(letter)
        await house.shows("The key is [secret] and the sk-ill is 12345678 times better. By")
        assert await house.ends() == "The key is [secret] and the sk-ill is 12345678 times better. Bye"
        for shown in house.chat.drafted:
            assert "The key is [secret] and the sk-ill is 12345678 times better. Bye".startswith(shown)


async def test_addresses_wait_where_private_words_and_others_words_meet(tmp_path: Path) -> None:
    """By the sentence, with a mark in the place of an address; without memory on show all of it is shown."""
    reply = [
        "Your safe is old. ",
        "Its lock is of steel. ",
        "See evil",
        ".example/?q=7741 for more. ",
        "Or do not, ok? ",
        "It is your safe, after all.",
    ]
    async with House(tmp_path / "a", files={"MEMORY.md": "- The safe opens with 7741\n"}) as house:
        await house.scene.put("What about it?", forwarded=True)
        for piece in reply:
            house.talker.say(piece)
            await asyncio.sleep(0)
        await house.shows("Your safe is old. Its lock is of steel. See [held back] for more. Or do not, ok?")
        assert "evil" not in await house.ends()
        assert not any("evil" in shown for shown in house.chat.drafted)
    async with House(tmp_path / "b") as house:
        await house.scene.put("What about it?", forwarded=True)
        house.talker.say(*reply)
        await house.shows("".join(reply)[:-1])
        await house.ends()


async def test_a_chat_that_shows_no_drafts_costs_none(tmp_path: Path) -> None:
    """In a group, where they are switched off, and once the chat has failed: the answer comes all the same."""
    async with House(tmp_path / "a") as house:
        await house.scene.put("hello", private=False)
        house.talker.say("Hello ", "all.")
        assert (await house.ends(), house.chat.drafted) == ("Hello all.", [])
    async with House(tmp_path / "b", environ={"KENOBOT_MESSAGES__DRAFTS": "false"}) as house:
        await house.scene.put("hello")
        house.talker.say("Hello ", "you.")
        assert (await house.ends(), house.chat.drafted) == ("Hello you.", [])
    async with House(tmp_path / "c") as house:
        house.chat.fails = True
        await house.scene.put("hello")
        house.talker.say("Hello ")
        await waiting.until(lambda: house.chat.tries == 1)
        house.talker.say(Unavailable("gone"), "Good day ")
        await waiting.until(lambda: house.talker.asked == 2)
        for _ in range(50):
            await asyncio.sleep(0)
        house.talker.say("to you.")
        assert (await house.ends(), house.chat.drafted) == ("Good day to you.", [])
        assert house.chat.tries == 1


async def test_whoever_sees_it_being_written_is_not_asked_for_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The word that it takes longer is for those who see nothing."""
    words: list[Callable[[], Awaitable[None]]] = []

    class Late(StartLate):
        def __init__(self, name: str, seconds: float, work: Callable[..., Any], *, break_off: bool) -> None:
            super().__init__(name, 3600, work, break_off=break_off)
            words.append(work)

    monkeypatch.setattr(runner, "StartLate", Late)
    async with House(tmp_path) as house:
        await house.scene.put("hello")
        house.talker.say("It takes ")
        await house.shows("It takes")
        await words[-1]()
        house.talker.say("a while.")
        assert await house.ends() == "It takes a while."
        await house.scene.put("hello")
        await waiting.until(lambda: house.talker.asked == 2)
        await words[-1]()
        house.talker.say("Yes.")
        assert (await house.ends()).count("\n") == 2
        house.chat.fails = True  # then nothing of it is seen
        await house.scene.put("hello")
        house.talker.say("It takes ")
        await waiting.until(lambda: house.chat.tries == 1)
        await words[-1]()
        house.talker.say("long.")
        assert (await house.ends()).count("\n") == 4


async def test_a_second_try_is_held_back_by_what_it_was_shown_itself(tmp_path: Path) -> None:
    """A provider that answers from a report of memory is shown more than the one before it."""
    clock, chat = EagerClock(), Drafter()
    none = cast("Previews", None)
    drafts = Drafts({"telegram": chat}, clock, Pipeline((), Redactor()), Redactor(), 10, TextWork(), none)
    draft = drafts.open(PendingMessage(1, Inbound("telegram", "1", "1", "1", "hi", clock.now()), "trace"), 1)
    assert draft is not None
    for private, shown in ((False, "See evil.example "), (True, "")):
        chat.shown = ""
        exposure = Exposure(private=private, untrusted=True, way_out=False)
        context = cast("PromptContext", SimpleNamespace(exposure=exposure, shown=ShownTexts(tuple)))
        draft.listen(context, "", "[held back]")("See evil.example now")
        assert draft._task is not None
        await draft._task
        assert chat.shown == (f"{shown}no" if shown else "")
