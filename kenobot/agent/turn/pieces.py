"""Join the pieces of an answer, and ask for the rest of one that was cut. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from kenobot.agent.prompt.runtime_block import runtime_block
from kenobot.ports.provider import Block, Message, Reply, Request

_GO_ON = runtime_block(
    "_Your answer was cut off here, because it had reached the length of one reply. Write the rest of it, from exactly "
    "where it stops: repeat nothing, announce nothing, and do not mention the cut. Close what is open._"
)


def joined_text(pieces: Sequence[Reply]) -> str:
    """Join what the pieces of an answer say."""
    return "".join(piece.text for piece in pieces)


def continued(request: Request, said: str) -> Request:
    """Ask for the rest of an answer of which `said` is there; for all of it when that is nothing.

    The answer so far is followed by a message, because not every model goes on with a message of its own.
    """
    if not said.strip():
        return request
    so_far = Message("assistant", (Block(said),)), Message("user", (Block(_GO_ON),))
    return replace(request, messages=(*request.messages, *so_far))
