"""Join the pieces of an answer, ask for the rest of one that was cut, and hold those that called tools. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kenobot.agent.prompt.runtime_block import runtime_block
from kenobot.ports.provider import Block, Message, Reply, Request, ToolCall, ToolResult

_GO_ON = runtime_block(
    "_Your answer was cut off here, because it had reached the length of one reply. Write the rest of it, from exactly "
    "where it stops: repeat nothing, announce nothing, and do not mention the cut. Close what is open._"
)
_NO_TOOL = runtime_block(
    "_You called a tool, and there is none here: nobody ran it. Answer in words, from what you know, and say what you "
    "cannot look up. What the person wants to see written as a call goes into a block of code._"
)


class ToolRound(NamedTuple):
    """Pieces of what the model said, the last of which calls tools, and the results of these calls in their order."""

    pieces: tuple[Reply, ...]
    results: tuple[ToolResult, ...]

    @property
    def text(self) -> str:
        return join_text(self.pieces)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.pieces[-1].calls


def join_text(pieces: Sequence[Reply]) -> str:
    """Join what the pieces of an answer say."""
    return "".join(piece.text for piece in pieces)


def continue_request(request: Request, said: str) -> Request:
    """Ask for the rest of an answer of which `said` is there; for all of it when that is nothing.

    The answer so far is followed by a message, because not every model goes on with a message of its own.
    """
    if not said.strip():
        return request
    so_far = Message("assistant", (Block(said),)), Message("user", (Block(_GO_ON),))
    return replace(request, messages=(*request.messages, *so_far))


def without_calls(request: Request) -> Request:
    """Ask for an answer in words, of a model that called a tool where it has none."""
    return replace(request, messages=(*request.messages, Message("user", (Block(_NO_TOOL),))))
