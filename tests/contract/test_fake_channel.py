"""The fake channel keeps to the contract that it helps to test."""

import pytest

from kenobot.ports.channel import Capabilities, Channel
from kenobot.ports.errors import Rejected
from kenobot.ports.messages import Attachment
from kenobot_testing.channel import ChannelContract
from kenobot_testing.fake_channel import FakeChannel

_ALL = Capabilities(
    receives=frozenset({"image"}),
    sends=frozenset({"image"}),
    edits=True,
    reactions=True,
    buttons=True,
    drafts=True,
    threads=True,
)


class TestFakeChannel(ChannelContract):
    """The suite, run on the fake itself."""

    @pytest.fixture
    def channel(self) -> Channel:
        """A fake that takes everything."""
        return FakeChannel()

    @pytest.fixture
    def failing(self) -> Channel:
        """A fake that refuses."""
        channel = FakeChannel()
        channel.fail_next(Rejected("blocked"))
        return channel

    async def say(self, channel: Channel, text: str) -> None:
        """A person writes on the fake."""
        assert isinstance(channel, FakeChannel)
        self.said = channel.say(text)

    async def correct(self, channel: Channel, text: str) -> None:
        """A person changes their mind on the fake."""
        assert isinstance(channel, FakeChannel)
        channel.correct(text, self.said)

    async def hand_over(self, channel: Channel, name: str, content: bytes) -> None:
        """A person sends a file on the fake."""
        assert isinstance(channel, FakeChannel)
        channel.hand_over(name, content)

    async def press(self, channel: Channel, message: str, value: str) -> None:
        """A person presses a button on the fake."""
        assert isinstance(channel, FakeChannel)
        channel.press(value, message)


class TestFakeChannelOfAPlatformThatCanAll(TestFakeChannel):
    """The suite, run on the fake with all that a platform may have."""

    @pytest.fixture
    def channel(self) -> Channel:
        """A fake that takes everything."""
        return FakeChannel(capabilities=_ALL)


async def test_a_file_is_fetched_by_its_handle() -> None:
    """The fake hands out the bytes a test gave it, and refuses what it does not have."""
    channel = FakeChannel(capabilities=_ALL)
    channel.media["file-1"] = b"GIF89a"
    assert [piece async for piece in channel.fetch(Attachment("image", handle="file-1"))] == [b"GIF89a"]
    with pytest.raises(Rejected):
        await anext(channel.fetch(Attachment("image", handle="file-2")))


async def test_a_conversation_that_was_ended_ends_the_run() -> None:
    """`hang_up` lets what was said before through."""
    channel, heard = FakeChannel("mine"), []

    class Sink:
        async def __call__(self, inbound: object) -> bool:
            heard.append(inbound)
            return True

        async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None: ...

        async def report(self, channel: str, problem: str) -> None: ...

    said = channel.say("hello", chat="7", user="8")
    channel.end_input()
    await channel.run(Sink())
    assert heard == channel.accepted == [said]
    assert (said.channel, said.chat, said.user) == ("mine", "7", "8")
