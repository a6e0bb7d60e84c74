"""Holds the same conversation with memories of several sizes, and measures what each of its prompts costs."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean, median

from bench.cost import memories
from bench.cost.prompt_cost import CostMeter, PromptCost, request_tokens
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_service import PromptService
from kenobot.app.wiring import prompt_limits
from kenobot.cognitive.control import export
from kenobot.cognitive.mirror.paths import is_memory_file
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings
from kenobot.gateway.access import Access, Roster
from kenobot.identity.identity_files import Identity
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound, Outbound
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from kenobot_evals.recall.metrics import percentiles
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import ScriptedChannel, Simulation

ProgressCallback = Callable[[str], None]
"""Told what is being done, in a few words."""

_START = datetime(2026, 2, 14, 9, tzinfo=UTC)
_PAUSE = timedelta(minutes=1)  # between two messages: a provider's cache lasts five
_LINE, _CHAT, _OWNER = "telegram", "1", "1"
_SMALL_TALK = ("Good, thank you.", "Vale, gracias.", "And what do you think of that?", "¿Y qué te parece?")
_NOTED = (
    "",
    " <user-update>Likes {} biscuits with the coffee</user-update>",
    "",
    " <chat-context>Small talk among {} questions about the mill</chat-context>",
)
_KINDS = 4
_FAR = 1_000_000_000  # inbox rows that no mail of a bench reaches


@dataclass(frozen=True, slots=True)
class Percentiles:
    """The half and nineteen twentieths of measured values, in milliseconds."""

    p50: float
    p95: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Percentiles":
        return cls(*percentiles([1000 * value for value in seconds]))


@dataclass(frozen=True, slots=True)
class SizeResult:
    """What a conversation came to with so many memories. Tokens are of one prompt, the mean or the most of its turns.

    hello: of the prompt for "hello", where nothing was said before. memory: what all messages are shown of it and what
    this one is besides. log: what came with earlier messages. cached: share of all input tokens, 0 to 1, that a prompt
    cache would have served. repeated: share of a prompt, the median and the least, that the next begins with. growth:
    tokens by which the next is longer, the median. build: making the prompt; turn: all of it, by CPU until everything
    is quiet and the files are written, by the clock until the answer is handed out.
    """

    memories: int
    turns: int
    hello: int
    prompt: float
    prompt_most: int
    memory: float
    memory_most: int
    log: float
    cached: float
    repeated: float
    repeated_least: float
    growth: float
    build_cpu: Percentiles
    build: Percentiles
    turn_cpu: Percentiles
    turn: Percentiles


class _Line(ScriptedChannel):
    """A channel that notes when it was last handed an answer."""

    answered = 0.0

    async def send(self, outbound: Outbound) -> str:
        """See `kenobot.ports.channel.Channel`."""
        self.answered = time.perf_counter()
        return await super().send(outbound)


@dataclass(slots=True)
class _Watch:
    """Seconds by the clock, and of the process's CPU."""

    wall: list[float]
    cpu: list[float]


def run(sizes: Sequence[int], turns: int, embedder: str, tell: ProgressCallback) -> list[SizeResult]:
    """A row for each size, each in a folder that is gone afterwards."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="kenobot-cost-") as folder:
            rows.append(asyncio.run(_measured(Path(folder), size, turns, embedder, tell)))
    return rows


async def _measured(folder: Path, size: int, turns: int, embedder: str, tell: ProgressCallback) -> SizeResult:
    tell(f"{size:,} memories: taking them in")
    await fill(Home(folder / "home"), size)
    meter, line = CostMeter(), _Line(_LINE)
    provider = ScriptedProvider(meter.reply, name="meter", keep=0)
    house = Simulation(folder, provider, Roster.of([_OWNER]), start=_START, channels=[_LINE], embedder=embedder)
    house.channels[_LINE] = line
    tell(f"{size:,} memories: writing their files")
    async with house:
        tell(f"{size:,} memories: finding their words")
        await house.app.indexer.index_all()
        house.app.embedding.begin()
        await house.app.embedding.wait_idle()
        tell(f"{size:,} memories: talking")
        prompts = _prompts(house, Settings())
        hello = await prompts.build(*_message(house, "hello"))
        built, taken = await _talk(house, prompts, meter, line, size, turns)
    return _row(size, request_tokens(hello.request), meter.sizes, built, taken)


async def fill(home: Home, size: int) -> None:
    """Put so many memories into a new home, as an import does."""
    home.prepare()
    database = Database.open(home.database, home.backups)
    try:
        occasion = AdmitContext(_START, _START.date().isoformat(), "import")
        await database.write(
            lambda c: export.import_lines(c, memories.export_lines(size, _START), occasion, is_memory_file)
        )
    finally:
        await database.close()


def _prompts(house: Simulation, settings: Settings) -> PromptService:
    app = house.app
    builder = ContextBuilder(Identity(house.home.identity), house.zone, prompt_limits(settings), app.index)
    return PromptService(app.database, builder, app.memory_files, house.clock, app.embedding)


def _message(house: Simulation, text: str, number: int = 0) -> tuple[PendingMessage, Principal]:
    inbound = Inbound(_LINE, f"b{number}", _CHAT, _OWNER, text, house.clock.now())
    return PendingMessage(_FAR + number, inbound, "bench"), Access({_LINE: house.roster}).principal(inbound)


async def _talk(
    house: Simulation, prompts: PromptService, meter: CostMeter, line: _Line, size: int, turns: int
) -> tuple[_Watch, _Watch]:
    """Hold the conversation; what building each prompt took, and each whole turn."""
    rng, built, taken = Random(size), _Watch([], []), _Watch([], [])
    for number in range(turns):
        house.advance_to(house.clock.now() + _PAUSE)
        text, reply = _said(number, size, rng)
        wall, cpu = time.perf_counter(), time.process_time()
        await prompts.build(*_message(house, text, number))
        built.wall.append(time.perf_counter() - wall)
        built.cpu.append(time.process_time() - cpu)
        meter.expect(reply)
        wall, cpu = time.perf_counter(), time.process_time()
        await house.say(_LINE, _CHAT, _OWNER, text)
        taken.wall.append(line.answered - wall)
        taken.cpu.append(time.process_time() - cpu)
    return built, taken


def _said(number: int, size: int, rng: Random) -> tuple[str, str]:
    """A message and its answer: of four, two ask for something remembered, one tells something, one is small talk.

    Of the answers to small talk every other one notes how the owner likes things, or what the chat is about.
    """
    kind, round_ = number % _KINDS, number // _KINDS
    if kind == 1:
        tenant = memories.synthetic_memory(rng.randrange(size)).text.split()[0]
        new = f"room {size + number} of the old mill belongs to {tenant}"
        return f"By the way, {new}", f"Noted. <memory>{new}</memory>"
    if kind == _KINDS - 1:
        return _SMALL_TALK[round_ % len(_SMALL_TALK)], f"Vale.{_NOTED[round_ % len(_NOTED)].format(round_)}"
    return memories.synthetic_memory(
        rng.randrange(size)
    ).question, "Let me think: I believe I have told you all I know of it."


def _row(size: int, hello: int, sizes: Sequence[PromptCost], built: _Watch, taken: _Watch) -> SizeResult:
    whole = sum(each.prompt for each in sizes)
    shares = [each.repeated / each.before for each in sizes[1:]] or [1.0]
    growth = [after.prompt - before.prompt for before, after in pairwise(sizes)] or [0]
    return SizeResult(
        memories=size,
        turns=len(sizes),
        hello=hello,
        prompt=fmean(each.prompt for each in sizes),
        prompt_most=max(each.prompt for each in sizes),
        memory=fmean(each.memory for each in sizes),
        memory_most=max(each.memory for each in sizes),
        log=fmean(each.earlier_recalled for each in sizes),
        cached=sum(each.cached for each in sizes) / whole,
        repeated=median(shares),
        repeated_least=min(shares),
        growth=median(growth),
        build_cpu=Percentiles.of(built.cpu),
        build=Percentiles.of(built.wall),
        turn_cpu=Percentiles.of(taken.cpu),
        turn=Percentiles.of(taken.wall),
    )
