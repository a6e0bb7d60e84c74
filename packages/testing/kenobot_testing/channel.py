"""The tests that every channel must pass."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from kenobot.ports.channel import (
    Channel,
    FetchesMedia,
    Reacts,
    ShowsDrafts,
    ShowsPreviews,
    capabilities_of,
)
from kenobot.ports.errors import RemoteError, StoreError, Unavailable
from kenobot.ports.identity import is_session_id, session_id
from kenobot.ports.messages import Attachment, Button, Inbound, MessagePart, Outbound
from kenobot_testing.fake_channel import RecordingSink

_SENDABLE = 50_000  # UTF-16 units: a message that is longer is no message
HOSTILE_TEXTS = (
    "\0",
    "half a pair: \ud83d",
    "\u202e\u200b\U000e0041",
    "\x1b[2J",
    "**_`[",
    "```\nnever closed",
    "[a](javascript:alert(1)) <b>&amp;</b>",
    "👩‍👩‍👧 ñandú 你好 مرحبا",
    "word " * 20_000,
    "x" * 100_000,
    "\n" * 10_000 + "x",
)


@pytest.mark.asyncio
class ChannelContract:
    """Tests of what the core relies on in a channel: order, duplicates, a crash between receiving and storing, edits,
    retries, oversize and hostile texts, files, capabilities that lie, and its end.

    Subclass it and override `channel`; `say` and `failing` when your channel can.

    class TestMine(ChannelContract):
        @pytest.fixture
        def channel(self) -> Channel:
            return MyChannel(...)
    """

    @pytest.fixture
    def channel(self) -> Channel:
        """A channel whose platform takes whatever is sent."""
        raise NotImplementedError("override the fixture `channel`")

    @pytest.fixture
    def failing(self) -> Channel | None:
        """A channel whose platform refuses whatever is sent; None when that cannot be."""
        return None

    chat: str = "1"
    """A chat in which the bot may write."""

    sends_while_running: bool = False
    """Whether `send` goes over a connection that `run` keeps."""

    keeps_unstored: bool = True
    """Whether the platform keeps a message that was being stored when `run` was cancelled; a pipe does not."""

    async def say(self, channel: Channel, text: str) -> None:
        """Write `text` as a person on the platform of `channel`."""
        pytest.skip("this suite does not know how to make a person write here")

    async def press(self, channel: Channel, message: str, value: str) -> None:
        """Press the button of this value below a message of `send`, as a person on the platform of `channel`."""
        pytest.skip("this suite does not know how to make a person press a button here")

    async def correct(self, channel: Channel, text: str) -> None:
        """Change what the person wrote last to `text`, on the platform of `channel`."""
        pytest.skip("this suite does not know how to make a person edit a message here")

    async def hand_over(self, channel: Channel, name: str, content: bytes) -> None:
        """Send a file as a person, on the platform of `channel`."""
        pytest.skip("this suite does not know how to make a person send a file here")

    @asynccontextmanager
    async def serving(
        self, channel: Channel, sink: RecordingSink | None = None
    ) -> AsyncIterator[Callable[[Outbound], Awaitable[str]]]:
        """Yield what sends, with the channel running where it must, and tries again until it is connected."""
        sink = sink or RecordingSink()
        running = asyncio.create_task(channel.run(sink)) if self.sends_while_running else None

        async def post(outbound: Outbound) -> str:
            while True:
                try:
                    return await channel.send(outbound)
                except Unavailable:
                    if running is None or running.done():
                        raise
                    await asyncio.sleep(0.01)

        try:
            async with asyncio.timeout(60):
                yield post
        finally:
            if running is not None:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    async def test_it_has_a_name(self, channel: Channel) -> None:
        """The name stands in session ids and file names, and never changes."""
        assert is_session_id(channel.name), f"unfit for a file name: {channel.name!r}"
        assert session_id(channel.name, "1") == f"{channel.name}-1", "sessions of this channel are not legible"
        assert channel.name == channel.name, "the name changes"

    async def test_a_text_is_rendered_whole(self, channel: Channel) -> None:
        """Short plain text comes out as it is, in one part."""
        assert [part.text.strip() for part in channel.render("Hello, world")] == ["Hello, world"]

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    async def test_any_text_can_be_rendered(self, channel: Channel, text: str) -> None:
        """No reply breaks the channel; each gives a part at least, with its formatting inside its text."""
        parts = list(channel.render(text))
        assert parts, "a text was lost"
        for part in parts:
            length = len(part.text.encode("utf-16-le", "surrogatepass")) // 2
            assert length <= capabilities_of(channel).longest, f"a part of {length} units"
            for span in part.entities:
                assert span.offset >= 0, f"{span} begins before the text"
                assert span.length > 0, f"{span} is empty"
                assert span.offset + span.length <= length, f"{span} ends after the text"

    async def test_rendering_is_pure(self, channel: Channel) -> None:
        """The same text gives the same parts."""
        text = "# Title\n\n**bold** and `code`\n\n" + "long " * 3000
        assert list(channel.render(text)) == list(channel.render(text))

    async def test_a_part_can_be_sent(self, channel: Channel) -> None:
        """Accept what `render` made: the platform's id of it comes back."""
        async with self.serving(channel) as post:
            for number, part in enumerate(channel.render("Hello, **world**"), 1):
                sent = await post(Outbound(number, channel.name, self.chat, part, "trace"))
                assert isinstance(sent, str), f"not an id: {sent!r}"

    async def test_what_it_declares_it_can_do(self, channel: Channel) -> None:
        """The core asks a channel for what its capabilities say, and for nothing else."""
        declared = capabilities_of(channel)
        assert declared.longest > 0
        assert not declared.receives or isinstance(channel, FetchesMedia), "it receives files and cannot fetch them"
        if declared.drafts:
            assert isinstance(channel, ShowsDrafts), "it declares drafts and cannot show them"
            for text in ("Hel", "Hello", "Another **try", "", "Hello"):
                with suppress(RemoteError):  # its platform may be older than drafts: the answer comes all the same
                    await channel.draft(self.chat, "draft-1", text)
        async with self.serving(channel) as post:
            buttons = ((Button("Yes", "yes"), Button("No", "no")),) if declared.buttons else ()
            part, draft = MessagePart("Hello?", buttons=buttons), "draft-1" if declared.drafts else ""
            sent = await post(Outbound(1, channel.name, self.chat, part, "trace", draft=draft))
            if declared.edits:
                again = Outbound(2, channel.name, self.chat, MessagePart("Hello!"), "trace", replaces=sent)
                assert await post(again) == sent, "an edit has another id than what it replaces"
            if declared.previews:
                assert isinstance(channel, ShowsPreviews), "it declares previews and cannot show them"
                with suppress(RemoteError):  # best effort: the answer comes all the same
                    await channel.preview(self.chat, sent, "Hello, **how")
            if declared.reactions:
                assert isinstance(channel, Reacts), "it declares reactions and cannot give any"
                await channel.react(self.chat, sent, "👍")

    async def test_a_part_may_come_twice(self, channel: Channel) -> None:
        """The core sends a part again when it does not know whether the first try went through."""
        part = Outbound(7, channel.name, self.chat, MessagePart("Hello"), "trace")
        async with self.serving(channel) as post:
            assert isinstance(await post(part), str)
            assert isinstance(await post(part), str), "the second try failed"

    @pytest.mark.parametrize("text", [text for text in HOSTILE_TEXTS if len(text) < 100], ids=repr)
    async def test_any_text_can_be_sent(self, channel: Channel, text: str) -> None:
        """Send what a model writes, or refuse it with a RemoteError, which the core understands."""
        async with self.serving(channel) as post:
            for number, part in enumerate(channel.render(text), 1):
                with suppress(RemoteError):
                    assert isinstance(await post(Outbound(number, channel.name, self.chat, part, "trace")), str)

    async def test_a_long_answer_leaves_part_by_part(self, channel: Channel) -> None:
        """A text longer than one message is cut, nothing of it is lost, and each part is short enough to be sent."""
        longest = capabilities_of(channel).longest
        if longest > _SENDABLE:
            pytest.skip("no answer is longer than one of its messages")
        words = [f"word{number}" for number in range(longest // 6 + 30)]
        parts = list(channel.render(" ".join(words)))
        assert len(parts) > 1, "it fits into one message, though it is longer than its capabilities allow"
        assert "".join("".join(part.text.split()) for part in parts) == "".join(words), "words were lost"
        async with self.serving(channel) as post:
            for number, part in enumerate(parts, 1):
                assert isinstance(await post(Outbound(number, channel.name, self.chat, part, "trace")), str)

    async def test_files_that_it_declares_can_be_sent(self, channel: Channel) -> None:
        """A file is a text of the core's own, such as a long answer."""
        if "document" not in capabilities_of(channel).sends:
            pytest.skip("it sends no files")
        file = Attachment("document", mime="text/markdown", name="answer.md", text="# Answer\n\nñ 你好")
        part = MessagePart("The answer is in the file.", attachments=(file,))
        async with self.serving(channel) as post:
            assert isinstance(await post(Outbound(1, channel.name, self.chat, part, "trace")), str)

    async def test_a_file_that_is_not_there_is_a_remote_error(self, channel: Channel) -> None:
        """The core says then that it could not be read."""
        if not isinstance(channel, FetchesMedia):
            pytest.skip("it takes no files in")
        with pytest.raises(RemoteError):
            async for _ in channel.fetch(Attachment("document", name="lost.txt", handle="no such file")):
                pass

    async def test_a_refusal_is_a_remote_error(self, failing: Channel | None) -> None:
        """The core decides about trying again by the kind of error, and shows its text to the owner."""
        if failing is None:
            pytest.skip("this channel has no platform that could refuse")
        with pytest.raises(RemoteError) as caught:
            await failing.send(Outbound(1, failing.name, self.chat, MessagePart("hello"), "trace"))
        assert str(caught.value).strip(), "the error says nothing"

    async def test_what_a_person_writes_reaches_the_sink(self, channel: Channel) -> None:
        """In order, under the channel's name, each with an id of its own."""
        sink = RecordingSink()
        await self.say(channel, "one")
        await self.say(channel, "two")
        taken = await self._run_until_taken(channel, sink, 2)
        assert [inbound.text for inbound in taken] == ["one", "two"]
        assert {inbound.channel for inbound in taken} == {channel.name}
        assert len({inbound.external_id for inbound in taken}) == 2
        assert all(inbound.sent_at.tzinfo is not None for inbound in taken), "sent_at has no time zone"

    async def test_an_edit_names_what_it_changes(self, channel: Channel) -> None:
        """It comes in beside the message, under an id of its own, with the new words."""
        sink = RecordingSink()
        await self.say(channel, "milk")
        await self.correct(channel, "milk and bread")
        first, edit = await self._run_until_taken(channel, sink, 2)
        assert (edit.kind, edit.text) == ("edit", "milk and bread"), "an edit is no message of its own"
        assert edit.target in {first.platform_id, first.external_id}, f"it names {edit.target!r}"
        assert edit.external_id != first.external_id, "the inbox would take it for a repetition"

    async def test_a_file_that_comes_in_can_be_fetched(self, channel: Channel) -> None:
        """The message says what it brings; its bytes come when they are asked for, all of them."""
        if not isinstance(channel, FetchesMedia) or not capabilities_of(channel).receives:
            pytest.skip("it takes no files in")
        content = bytes(range(256)) * 300
        sink = RecordingSink()
        await self.hand_over(channel, "figures.bin", content)
        running = asyncio.create_task(channel.run(sink))
        try:
            async with asyncio.timeout(60):
                (inbound,) = await sink.until_accepted(1)
                (file,) = inbound.attachments
                fetched = b"".join([piece async for piece in channel.fetch(file)])
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        assert fetched == content

    async def _run_until_taken(self, channel: Channel, sink: RecordingSink, count: int) -> list[Inbound]:
        """Run the channel until `count` messages came in."""
        running = asyncio.create_task(channel.run(sink))
        try:
            async with asyncio.timeout(60):
                return await sink.until_accepted(count)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def test_a_press_of_a_button_reaches_the_sink(self, channel: Channel) -> None:
        """As an action that names the message and the button, with no words of its own."""
        if not capabilities_of(channel).buttons:
            pytest.skip("this channel has no buttons")
        sink = RecordingSink()
        part = MessagePart("Sure?", buttons=((Button("Yes", "1.0.mac"), Button("No", "1.1.mac")),))
        async with self.serving(channel, sink) as post:
            sent = await post(Outbound(1, channel.name, self.chat, part, "trace"))
            await self.press(channel, sent, "1.1.mac")
            if self.sends_while_running:
                await sink.until_accepted(1)
        [pressed] = sink.accepted or await self._run_until_taken(channel, sink, 1)
        assert (pressed.kind, pressed.target, pressed.value, pressed.text) == ("action", sent, "1.1.mac", "")

    async def test_what_the_sink_did_not_take_comes_again(self, channel: Channel) -> None:
        """It is acknowledged only once it is on disk: when that fails it is offered again, in this run or the next."""
        sink = RecordingSink(StoreError("the disk is full"))
        await self.say(channel, "precious")
        async with asyncio.timeout(60):
            while not sink.accepted:
                running = asyncio.create_task(channel.run(sink))
                waiting = asyncio.create_task(sink.until_accepted(1))
                await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
                for task in (running, waiting):
                    task.cancel()
                await asyncio.gather(running, waiting, return_exceptions=True)
        assert [inbound.text for inbound in sink.refused] == ["precious"]
        assert [inbound.text for inbound in sink.accepted] == ["precious"]

    async def test_what_was_being_stored_comes_again_under_the_same_id(self, channel: Channel) -> None:
        """The process may die between receiving and storing: by its id the core knows the message again."""
        if not self.keeps_unstored:
            pytest.skip("its platform keeps nothing")
        sink = RecordingSink()
        sink.open.clear()
        await self.say(channel, "precious")
        running = asyncio.create_task(channel.run(sink))
        try:
            async with asyncio.timeout(60):
                (first,) = await sink.until_offered(1)
        finally:
            running.cancel()
            await asyncio.wait({running}, timeout=10)
        assert running.done(), "it cannot be stopped while a message is being stored"
        sink.open.set()
        (second,) = await self._run_until_taken(channel, sink, 1)
        assert (second.text, second.external_id) == ("precious", first.external_id)

    async def test_it_stops_when_cancelled(self, channel: Channel) -> None:
        """Cancelling `run` ends it and leaves no task behind."""
        before = asyncio.all_tasks()
        running = asyncio.create_task(channel.run(RecordingSink()))
        for _ in range(3):
            await asyncio.sleep(0)
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=10)
        assert done, "it swallowed the cancellation"
        assert running.cancelled() or running.exception() is None, f"it raised {running.exception()!r} when cancelled"
        if left := asyncio.all_tasks() - before:  # of a server in this loop, which notices that the connection ended
            _, left = await asyncio.wait(left, timeout=2)
        assert not left, "a task was left running"
