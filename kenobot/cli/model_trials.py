"""Try a model: ask it for what KenoBot needs, and judge what comes."""

import asyncio
import hashlib
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

from kenobot.ledger.models import BudgetedModel
from kenobot.ports.errors import KenobotError
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Block, Content, Image, Message, Reply, Request, ToolSpec, Usage
from kenobot.ports.sentences import Sentence
from kenobot.providers.pictures import picture_file

_LINES = 60
_WARMTH = ToolSpec(
    "temperature",
    "Tell the temperature of a place right now, in degrees Celsius.",
    {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)
_STRIPES = {"yellow": (255, 225, 0), "black": (0, 0, 0), "green": (0, 150, 60)}


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that a model is asked for. check: names the fault of a whole answer; "" when there is none.

    needed: whether a model that fails it is of no use here.
    """

    name: str
    request: Request
    check: Callable[[Reply], str] = lambda reply: ""
    needed: bool = True

    def judge(self, reply: Reply) -> str:
        """Return the reason for which the reply will not do; "" when it does."""
        if not reply.whole and not reply.calls:
            return Sentence("it ended early ({reason})", reason=reply.stop_reason)
        if not reply.text.strip() and not reply.calls:
            return "it is empty"
        return self.check(reply)


@dataclass(frozen=True, slots=True)
class TrialResult:
    """Figures of one trial. first: seconds until the first text; seconds: until the end. problem: "" when it passed."""

    trial: str
    problem: str
    needed: bool = True
    first: float = 0.0
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


def trials(picture: Image) -> tuple[Trial, ...]:
    """Return what a model is asked for: a sentence, a fact to be remembered, a long answer, a tool call, a picture."""
    instructions = resources.files("kenobot.agent.prompt").joinpath("tag_instructions.md").read_text("utf-8")
    colours = "Name the colours of the stripes in this picture, from left to right, and nothing else."
    return (
        Trial("one sentence", _asking(Block("Say hello in one short sentence."))),
        Trial(
            "memory",
            _asking(Block("Please remember for good: the boiler was serviced on 3 May."), system=instructions),
            _lacks_the_fact,
        ),
        Trial(
            "long answer",
            _asking(Block(f"Write the numbers from 1 to {_LINES} as words, one a line, and nothing else.")),
            _is_short,
        ),
        Trial(
            "tool call",
            replace(_asking(Block("How warm is it in Lisbon right now? Use the tool.")), tools=(_WARMTH,)),
            _calls_nothing,
            needed=False,
        ),
        Trial("picture", _asking(Block(colours), picture), _sees_nothing, needed=False),
    )


def _lacks_the_fact(reply: Reply) -> str:
    tagged = "<memory>" in reply.text
    return "" if tagged else "the fact was not put between <memory> tags, as KenoBot's instructions ask"


def _is_short(reply: Reply) -> str:
    return "it is much shorter than what was asked for" if len(reply.text.split()) < _LINES else ""


def _calls_nothing(reply: Reply) -> str:
    for call in reply.calls:
        if call.problem or "lisb" in str(call.arguments.get("place")).lower():
            return call.problem
    return "it called no tool, or the wrong one"


def _sees_nothing(reply: Reply) -> str:
    at = [reply.text.lower().find(colour) for colour in _STRIPES]
    return "" if -1 not in at and at == sorted(at) else "it did not see the picture"


def store_picture(home: Path) -> Image:
    """Store a picture of stripes, in the colours of _STRIPES, where providers look for it."""
    line = b"\0" + b"".join(bytes(colour) * 32 for colour in _STRIPES.values())
    header = struct.pack(">IIBBBBB", 32 * len(_STRIPES), 64, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(line * 64)), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks:
        content += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    image = Image(hashlib.sha256(content).hexdigest(), "image/png")
    file = picture_file(home, image.digest)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return image


def _asking(*contents: Content, system: str = "You are a helpful assistant.") -> Request:
    return Request((Block(system),), (Message("user", contents),), max_tokens=2048)


async def ask(model: BudgetedModel, trial: Trial, seconds: float) -> TrialResult:
    """Ask a model for one thing, within its budget, and judge what came."""
    first, usage, began = 0.0, Usage(), time.monotonic()

    def hear(_: str) -> None:
        nonlocal first
        first = first or time.monotonic() - began

    def result(problem: str) -> TrialResult:
        read = usage.tokens - usage.output_tokens
        took = time.monotonic() - began
        return TrialResult(trial.name, problem, trial.needed, first, took, read, usage.output_tokens)

    try:
        async with asyncio.timeout(seconds):
            answer = await model.ask(trial.request, on_text=hear)
    except TimeoutError:
        return result("it took too long")
    except KenobotError as error:
        return result(str(error))
    if answer is None:
        return result("the budget for models has no room for it")
    reply, call = answer
    await model.settle(call)
    first, usage = first or time.monotonic() - began, reply.usage
    return result(trial.judge(reply))
