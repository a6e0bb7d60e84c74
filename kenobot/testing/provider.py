"""A provider that says what the test tells it to, and the tests that every provider must pass."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from kenobot.ports.errors import RemoteError
from kenobot.ports.provider import Block, Delta, Message, Provider, Reply, Request, Usage

ScriptedReply = str | Exception | Reply | Callable[[Request], str]


class ScriptedProvider:
    """Gives the scripted replies one after another and keeps every request in `requests`.

    A text is said, an exception raised, a callable asked; a Reply is given with its own stop reason, usage and model,
    and one whose stop reason is "" ends like a stream that was cut. A used-up script is an AssertionError, unless
    `repeat_last` is set. rule_based: it is not asked to read what was said for memories; see
    `kenobot.ports.provider.RuleBased`.
    """

    name = "scripted"

    def __init__(
        self, replies: Iterable[ScriptedReply] = (), *, repeat_last: bool = False, rule_based: bool = True
    ) -> None:
        self.rule_based = rule_based
        self.requests: list[Request] = []
        self._replies = list(replies)
        self._repeat_last = repeat_last

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield the next reply in two pieces or more, then the end."""
        self.requests.append(request)
        reply = self._next(request)
        for piece in _halves(reply.text):
            yield Delta(text=piece)
            await asyncio.sleep(0)
        if reply.stop_reason:
            yield Delta(stop_reason=reply.stop_reason, usage=reply.usage, model=reply.model)

    def _next(self, request: Request) -> Reply:
        at = len(self.requests) - 1
        if at >= len(self._replies) and not (self._repeat_last and self._replies):
            asked = request.messages[-1].text if request.messages else ""
            raise AssertionError(
                f"The script has {len(self._replies)} replies, and this is request {at + 1}, asking {asked[:200]!r}: "
                "add a reply, or build the provider with repeat_last=True."
            )
        scripted = self._replies[min(at, len(self._replies) - 1)]
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, Reply):
            return scripted
        text = scripted if isinstance(scripted, str) else scripted(request)
        return Reply(text=text, stop_reason="end_turn", model=self.name, usage=Usage(input_tokens=1, output_tokens=1))


def _halves(text: str) -> list[str]:
    middle = (len(text) + 1) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def make_request(text: str, *, system: str = "You are a helpful assistant.") -> Request:
    """A request with one message."""
    return Request(system=(Block(system),), messages=(Message("user", (Block(text),)),))


async def collect_deltas(provider: Provider, request: Request) -> list[Delta]:
    """Everything that `provider` yields for `request`."""
    return [delta async for delta in provider.stream(request)]


@pytest.mark.asyncio
class ProviderContract:
    """What the core relies on. Subclass it and override `provider`, and `failing` when your provider can fail."""

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

    @pytest.mark.parametrize(
        "text", ["¿Qué tal? ñandú", "你好，世界", "مرحبا", "👩‍👩‍👧 \u202e\u0000", "half a pair: \ud83d"]
    )
    async def test_any_text_passes(self, provider: Provider, text: str) -> None:
        """People write in every script, and platforms let odd characters through."""
        assert (await collect_deltas(provider, make_request(text)))[-1].stop_reason

    async def test_failures_are_remote_errors(self, failing: Provider | None) -> None:
        """What goes wrong at the server's side is a RemoteError, whose text may be shown to a person."""
        if failing is None:
            pytest.skip("this provider has no server that could fail")
        with pytest.raises(RemoteError) as caught:
            await collect_deltas(failing, make_request("Hello!"))
        assert str(caught.value).strip(), "the error says nothing"
