"""The parts of a prompt that come from memory."""

from collections.abc import Iterable

from kenobot.agent.prompt.context_builder import TAG_INSTRUCTIONS
from kenobot.agent.prompt.runtime_block import BLOCK_OPEN
from kenobot.ports.provider import Message, Request


def memory_frame(request: Request) -> str:
    """Return what every message of the conversation is shown of memory: what follows the instructions about tags."""
    whole = "\n\n".join(block.text for block in request.system)
    return whole.partition(TAG_INSTRUCTIONS)[2].strip()


def runtime_blocks(messages: Iterable[Message]) -> list[str]:
    """Return the runtime's blocks beside messages: recalled memory, the time and the scratchpad."""
    return [block.text for message in messages for block in message.text_blocks if block.text.startswith(BLOCK_OPEN)]
