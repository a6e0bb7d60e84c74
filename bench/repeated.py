"""`python -m bench.repeated`: what of a request the next one repeats, in bytes of what Anthropic's API is sent.

Conversations of thirty turns, a minute apart, in homes of their own, with a model that answers at once. *Paid* are the
input tokens of the whole conversation, of which those that a provider's prompt cache serves count a tenth.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from bench import report
from bench.cost import memories
from bench.cost.prompt_cost import CostMeter
from bench.cost.run import fill
from bench.report import Report
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.core.settings.home import Home
from kenobot.gateway.access import Roster
from kenobot.ports.json_value import Json
from kenobot.ports.provider import Reply, Request
from kenobot.providers.anthropic import request_payload
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

_TURNS = 30
_START, _LATE = (datetime(2026, 2, 14, hour, 45, tzinfo=UTC) for hour in (9, 23))
_PAUSE = timedelta(minutes=1)
_LINE, _CHAT, _OWNER = "telegram", "1", "1"
_TALK = (
    "I have just watered the tomatoes on the balcony.",
    "La lluvia no para hoy, qué día más gris.",
    "This coffee is better than the one of yesterday.",
    "Acabo de ordenar los libros de la estantería.",
    "The neighbours are repainting their fence again.",
    "Hoy he ido andando al mercado y he vuelto en bici.",
)
_CACHED_COST = 0.1  # of what a token costs that is not served by a cache


@dataclass(frozen=True, slots=True)
class Conversation:
    """A kind of conversation. asking: how many of its messages ask for something remembered, of ten."""

    name: str
    memories: int
    asking: int
    start: datetime = _START


_CONVERSATIONS = (
    Conversation("talk, empty home", 0, 0),
    Conversation("talk, 1,000 memories", 1000, 0),
    Conversation("half questions, 1,000 memories", 1000, 5),
    Conversation("questions only, 1,000 memories", 1000, 10),
    Conversation("talk over a change of the day, empty home", 0, 0, _LATE),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What a conversation came to. repeated: shares of a request that the next one begins with. growth: in bytes."""

    name: str
    growth: float
    repeated: float
    repeated_least: float
    paid: float


class _ByteMeter(CostMeter):
    """Keeps what each request sends, without the marks of the cache, which move."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def reply(self, request: Request) -> Reply:
        system, messages = request_payload(request)
        parts: list[tuple[str, Any]] = [("system", block) for block in system]
        parts += [(message["role"], block) for message in messages for block in message["content"]]
        self.sent.append("\n".join(json.dumps(_without_mark(*part), ensure_ascii=False) for part in parts).encode())
        return super().reply(request)


def _without_mark(role: str, block: Any) -> dict[str, Any]:
    return {"role": role, **{key: value for key, value in block.items() if key != "cache_control"}}


def _share_repeated(before: bytes, after: bytes) -> float:
    """Return how much of a request the next one begins with, 0 to 1."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))) / len(before)


async def _hold(folder: Path, kind: Conversation, turns: int) -> Row:
    if kind.memories:
        await fill(Home(folder / "home"), kind.memories)
    meter, rng = _ByteMeter(), Random(kind.memories + kind.asking)
    provider = ScriptedProvider(meter.reply, name="meter", keep=0)
    house = Simulation(folder, provider, Roster.of([_OWNER]), start=kind.start, channels=[_LINE], embedder="none")
    async with house:
        await house.app.indexer.index_all()
        for number in range(turns):
            house.advance_to(house.clock.now() + _PAUSE)
            asks = number * kind.asking % 10 >= 10 - kind.asking if kind.asking else False
            asked = memories.synthetic_memory(rng.randrange(max(1, kind.memories))).question
            meter.expect("Of course: a usual answer of one sentence.")
            await house.say(_LINE, _CHAT, _OWNER, asked if asks else _TALK[number % len(_TALK)])
    shares = [_share_repeated(before, after) for before, after in pairwise(meter.sent)]
    sizes = list(map(len, meter.sent))
    growth = median((after - before) / 2 for before, after in zip(sizes, sizes[2:], strict=False))  # of two messages
    paid = sum(size.prompt - (1 - _CACHED_COST) * size.cached for size in meter.sizes)
    return Row(kind.name, growth, median(shares), min(shares), paid)


def _measure(turns: int) -> Report:
    rows: list[Row] = []
    for kind in _CONVERSATIONS:
        show_progress(kind.name)
        with tempfile.TemporaryDirectory(prefix="kenobot-repeated-") as folder:
            rows.append(asyncio.run(_hold(Path(folder), kind, turns)))
    show_progress()
    heads = ("", "grows a turn by, bytes", "repeated of the request before, median", "least", "input tokens, paid")
    cells = [
        (row.name, f"{row.growth:,.0f}", f"{row.repeated:.1%}", f"{row.repeated_least:.1%}", f"{row.paid:,.0f}")
        for row in rows
    ]
    records: list[dict[str, Json]] = [asdict(row) for row in rows]
    return Report(heads, cells, [], records, names_first=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("repeated", str(__doc__), plot=False)
    parser.add_argument("--turns", type=parse_up_to(1000), default=_TURNS, metavar="N", help=f"of each ({_TURNS})")
    return report.run(parser, argv, lambda given: (_measure(given.turns), None))


if __name__ == "__main__":
    sys.exit(main())
