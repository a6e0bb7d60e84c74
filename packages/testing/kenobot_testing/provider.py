"""The tests that every provider must pass."""

import asyncio
from dataclasses import replace

import pytest

from kenobot.ports.errors import RemoteError
from kenobot.ports.provider import Block, Delta, Image, Message, Provider, Request, ToolSpec
from kenobot_testing.scripted import ScriptedProvider, ScriptedReply

__all__ = ["ProviderContract", "ScriptedProvider", "ScriptedReply", "collect_deltas", "make_request"]


def make_request(text: str, *, system: str = "You are a helpful assistant.") -> Request:
    """Return a request with one message."""
    return Request(system=(Block(system),), messages=(Message("user", (Block(text),)),))


async def collect_deltas(provider: Provider, request: Request) -> list[Delta]:
    """Return everything that `provider` yields for `request`."""
    return [delta async for delta in provider.stream(request)]


@pytest.mark.asyncio
class ProviderContract:
    """Tests of what the core relies on in a provider.

    Subclass it and override `provider`, and `failing` when your provider can fail.
    """

    @pytest.fixture
    def provider(self) -> Provider:
        """A provider that answers anything with a text of at least two characters."""
        raise NotImplementedError("override the fixture `provider`")

    @pytest.fixture
    def failing(self) -> Provider | None:
        """A provider whose server fails; None when it has no server."""
        return None

    async def test_only_the_last_delta_has_a_stop_reason(self, provider: Provider) -> None:
        """The stop reason comes once, at the end: without it the core takes the reply for cut."""
        deltas = await collect_deltas(provider, make_request("Hello!"))
        assert deltas, "nothing was yielded"
        assert deltas[-1].stop_reason, "the last delta has no stop reason"
        assert all(delta.stop_reason is None for delta in deltas[:-1]), "a stop reason came before the end"

    async def test_the_texts_add_up_to_the_reply(self, provider: Provider) -> None:
        """The reply is the deltas' texts, one after another; none of them is None."""
        deltas = await collect_deltas(provider, make_request("Hello!"))
        assert len("".join(delta.text for delta in deltas)) >= 2, "the reply is empty"

    async def test_the_usage_is_not_negative(self, provider: Provider) -> None:
        """The last delta says what the request cost, or leaves it out."""
        usage = (await collect_deltas(provider, make_request("Hello!")))[-1].usage
        figures = (usage.input_tokens, usage.output_tokens) if usage else ()
        assert all(figure >= 0 for figure in figures), f"negative usage: {usage}"

    async def test_a_cancelled_stream_leaves_nothing_behind(self, provider: Provider) -> None:
        """Cancelling the reader ends the stream at once, leaves no task running, and the provider still works."""
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in provider.stream(make_request("Hello!")):
                begun.set()

        await collect_deltas(
            provider, make_request("Are you there?")
        )  # opens what a provider may keep open between requests
        before = asyncio.all_tasks()
        reader = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 10)
        reader.cancel()
        done, _ = await asyncio.wait({reader}, timeout=10)
        assert done, "the stream swallowed the cancellation"
        assert reader.cancelled() or reader.exception() is None, f"it raised {reader.exception()!r} when cancelled"
        if left := asyncio.all_tasks() - before:
            _, running = await asyncio.wait(left, timeout=5)  # such as a connection that is being closed
            assert not running, f"tasks were left running: {running}"
        assert (await collect_deltas(provider, make_request("Hello again!")))[-1].stop_reason

    async def test_a_reader_may_leave_early(self, provider: Provider) -> None:
        """Closing the stream after its first delta is not an error."""
        stream = provider.stream(make_request("Hello!"))
        assert await anext(stream)
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()

    async def test_streams_may_run_side_by_side(self, provider: Provider) -> None:
        """Two chats may be answered at the same time."""
        both = await asyncio.gather(
            collect_deltas(provider, make_request("One?")), collect_deltas(provider, make_request("Two?"))
        )
        assert all(deltas[-1].stop_reason for deltas in both)

    @pytest.mark.parametrize("system", ["", "  \n"])
    async def test_a_blank_system_prompt_is_allowed(self, provider: Provider, system: str) -> None:
        """A blank block is not worth a failed turn."""
        assert (await collect_deltas(provider, make_request("Hello!", system=system)))[-1].stop_reason

    async def test_tools_may_be_offered(self, provider: Provider) -> None:
        """A provider that calls none answers all the same; a call is whole, and can be run unless it says why not."""
        tool = ToolSpec("look", "Look at a place.", {"type": "object", "properties": {"at": {"type": "string"}}})
        deltas = await collect_deltas(provider, replace(make_request("Look around!"), tools=(tool,)))
        calls = [delta.call for delta in deltas if delta.call]
        assert deltas[-1].stop_reason
        assert all(call.id and (call.name == tool.name or call.problem) for call in calls)

    async def test_pictures_may_stand_in_a_request(self, provider: Provider) -> None:
        """Also one that is not there any more, alone or beside words: a model that is not shown it can be told."""
        picture = Image("0" * 64, "image/png")
        messages = (Message("user", (picture,)), Message("user", (Block("What was that?"), picture)))
        assert (await collect_deltas(provider, Request((), messages)))[-1].stop_reason

    @pytest.mark.parametrize(
        "text", ["¿Qué tal? ñandú", "你好，世界", "مرحبا", "👩‍👩‍👧 \u202e\u0000", "half a pair: \ud83d"]
    )
    async def test_any_text_passes(self, provider: Provider, text: str) -> None:
        """People write in every script, and platforms let odd characters through."""
        assert (await collect_deltas(provider, make_request(text)))[-1].stop_reason

    async def test_failures_are_remote_errors(self, failing: Provider | None) -> None:
        """Report what goes wrong at the server's side as a RemoteError, whose text may be shown to a person."""
        if failing is None:
            pytest.skip("this provider has no server that could fail")
        with pytest.raises(RemoteError) as caught:
            await collect_deltas(failing, make_request("Hello!"))
        assert str(caught.value).strip(), "the error says nothing"
