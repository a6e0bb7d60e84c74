"""A model that answers at once and measures what it is asked: how much, how much of it is memory, how much was cached.

A provider's prompt cache keeps what stands before a cache mark of a request, and serves the longest such stretch with
which a later request begins, byte for byte. Here that is worked out from the two requests: which is what a provider
would serve whose cache has not run out meanwhile, and which takes stretches of any length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.provider import Block, Message, Reply, Request, Usage
from kenobot_testing.prompt_parts import memory_frame, runtime_blocks

_MARKS = 4  # that count in one request, the last ones, as at Anthropic's


@dataclass(frozen=True, slots=True)
class PromptCost:
    """Tokens of a prompt. prefix: memory that every message of the conversation is shown. recalled: what was recalled
    and noted for this message; earlier_recalled: for the earlier ones that are shown. cached: what a prompt cache would
    serve of it all. repeated: what it begins with of the request before, of so many `before`.
    """

    prompt: int
    prefix: int
    recalled: int
    earlier_recalled: int
    cached: int
    repeated: int
    before: int

    @property
    def memory(self) -> int:
        """What memory adds to this message's prompt."""
        return self.prefix + self.recalled


class CostMeter:
    """Answers the requests of a scripted provider and measures them. sizes: of the prompts so far."""

    def __init__(self) -> None:
        self.sizes: list[PromptCost] = []
        self._reply = "Vale."
        self._before: tuple[str, ...] = ()
        self._sizes: tuple[int, ...] = ()
        self._marks: tuple[int, ...] = ()

    def expect(self, reply: str) -> None:
        """Answer the next message with this."""
        self._reply = reply

    def reply(self, request: Request) -> Reply:
        """Answer with what is expected, and the usage that a provider with a cache would count."""
        size = self._measured(request)
        self.sizes.append(size)
        usage = Usage(size.prompt - size.cached, estimate_tokens(self._reply), size.cached, 0)
        return Reply(self._reply, stop_reason="end_turn", usage=usage, model="meter")

    def _measured(self, request: Request) -> PromptCost:
        blocks = _blocks(request)
        roles = ["system"] * len(request.system)
        roles += [f"{at} {message.role}" for at, message in enumerate(request.messages) for _ in message.text_blocks]
        sent = tuple(f"{role}\n{block.text}" for role, block in zip(roles, blocks, strict=True))
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(sent, self._before, strict=False)))
        cached = _tokens(blocks[: max((mark for mark in self._marks if mark <= same), default=0)])
        repeated, before = sum(self._sizes[:same]), sum(self._sizes)
        frame = estimate_tokens(text) if (text := memory_frame(request)) else 0
        now, earlier = _notes(request.messages[-1:]), _notes(request.messages[:-1])
        self._before, self._sizes = sent, tuple(estimate_tokens(block.text) for block in blocks)
        self._marks = tuple(at + 1 for at, block in enumerate(blocks) if block.cache)[-_MARKS:]
        return PromptCost(_tokens(blocks), frame, now, earlier, cached, repeated, before)


def request_tokens(request: Request) -> int:
    """Tokens of a whole prompt."""
    return _tokens(_blocks(request))


def _notes(messages: Sequence[Message]) -> int:
    """Tokens of what the runtime put beside messages: memory, and with the last one the time and the scratchpad."""
    return sum(map(estimate_tokens, runtime_blocks(messages)))


def _blocks(request: Request) -> list[Block]:
    return [*request.system, *(block for message in request.messages for block in message.text_blocks)]


def _tokens(blocks: Sequence[Block]) -> int:
    return sum(estimate_tokens(block.text) for block in blocks)
