"""`python -m bench.tools`: what tools cost where they are on, and how much of a prompt's beginning stays cached."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from statistics import median

from bench import report
from bench.report import Report
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.core import plugins
from kenobot.core.token_estimate import estimate_tokens
from kenobot.gateway.access import Roster
from kenobot.ports.provider import Reply, Request, ToolCall, ToolResult
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

_DESCRIPTION = """\
The same conversation with no tools, with those that are on by themselves, and with all that ship; a scripted model, no
network. In the second and the third some answers call a tool first.

tokens: of the schemas. cached: share of the input tokens of all requests but the first with which the request before
began, byte for byte, schemas and system part first; how often these two changed is counted as well. CPU of turns in
which no tool is called: the median of a conversation, and the best of several, played in turn; more than 3 % above that
without tools is a failure, as are less than 95 % cached.
"""
_START = datetime(2026, 2, 14, 9, tzinfo=UTC)
_PAUSE = timedelta(minutes=1)
_MOST_DEARER, _LEAST_CACHED = 1.03, 0.95
_CALLED = {
    4: ToolCall("a", "clock", {}),
    9: ToolCall("b", "memory_search", {"query": "sister"}),
    14: ToolCall("c", "agenda", {}),
}
_WARM = 3  # turns that load what turns need


@dataclass(slots=True)
class Talk:
    """What one conversation came to. changes: requests whose schemas or system part differ from those before.

    seconds: of CPU, a turn without a call each.
    """

    tokens: int = 0
    whole: int = 0
    cached: int = 0
    changes: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ToolsRow:
    """What tools cost. cached: 0 to 1. cpu: milliseconds a turn."""

    tools: str
    offered: int
    tokens: int
    cached: float
    changes: int
    cpu: float


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("tools", _DESCRIPTION, plot=False)
    parser.add_argument("--turns", type=parse_up_to(10_000), default=20, help="messages of the conversation (20)")
    parser.add_argument("--rounds", type=parse_up_to(1000), default=5, help="how often each is played (5)")
    return report.run(parser, argv, _measure)


def _measure(arguments: argparse.Namespace) -> tuple[Report, None]:
    configs = {"none": "[tools]\nenabled = []\n", "default": "", "all": all_tools()}
    talks: dict[str, list[Talk]] = {name: [] for name in configs}
    offered = dict.fromkeys(configs, 0)
    for round_ in range(arguments.rounds):
        for name, config in configs.items():
            show_progress(f"round {round_ + 1} of {arguments.rounds}: {name}")
            with tempfile.TemporaryDirectory(prefix="kenobot-tools-") as folder:
                talk, offered[name] = asyncio.run(
                    hold_talk(Path(folder), config, arguments.turns, calls=name != "none")
                )
            talks[name].append(talk)
    show_progress()
    rows = [
        ToolsRow(
            name,
            offered[name],
            played[0].tokens,
            sum(each.cached for each in played) / sum(each.whole for each in played),
            max(each.changes for each in played),
            1000 * min(median(each.seconds) for each in played),
        )
        for name, played in talks.items()
    ]
    return _report(rows), None


def all_tools() -> str:
    names = ", ".join(f'"{name}"' for name in plugins.names("kenobot.tools"))
    hosts = '[tools.http_request.hosts."api.example.com"]\n'
    return f'[tools]\nenabled = [{names}]\n{hosts}[tools.workspaces]\nnotes = "/srv/notes"\n'


async def hold_talk(folder: Path, config: str, turns: int, *, calls: bool) -> tuple[Talk, int]:
    """Hold the conversation. Returns what it came to, and how many tools were offered."""
    seconds: list[float] = []
    called: ToolCall | None = None

    def answer(request: Request) -> str | Reply:
        nonlocal called
        call, called = called, None
        return "Vale, gracias por contármelo." if call is None else Reply("", "tool_use", calls=(call,))

    provider = ScriptedProvider(answer)
    async with Simulation(folder, provider, Roster.of(["1"]), start=_START, config=config) as bot:
        for turn in range(turns):
            bot.advance_to(bot.clock.now() + _PAUSE)
            called = _CALLED.get(turn) if calls else None
            began = time.process_time()
            await bot.say("fake", "1", "1", f"This is what I did this morning, part {turn}: I went to the mill.")
            if turn not in _CALLED and turn >= _WARM:
                seconds.append(time.process_time() - began)
    return _count(provider.requests, seconds), len(provider.requests[-1].tools)


def _count(requests: Sequence[Request], seconds: list[float]) -> Talk:
    """Count tokens of all requests but the first, which no cache serves, and what the one before began with."""
    talk = Talk(estimate_tokens(_schemas(requests[-1])), seconds=seconds)
    sent = [list(_parts(request)) for request in requests]
    for before, parts in pairwise(sent):
        same = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(parts, before, strict=False))]
        talk.whole += sum(map(estimate_tokens, parts))
        talk.cached += sum(map(estimate_tokens, same))
    own = [(_schemas(request), *(block.text for block in request.system)) for request in requests]
    talk.changes = sum(one != other for one, other in pairwise(own))
    return talk


def _schemas(request: Request) -> str:
    return "\n".join(str((tool.name, tool.description, tool.schema)) for tool in request.tools)


def _parts(request: Request) -> Iterable[str]:
    """Yield what a request consists of, in the order in which providers keep it."""
    yield _schemas(request)
    yield from (block.text for block in request.system)
    for message in request.messages:
        for block in message.blocks:
            match block:
                case ToolCall() | ToolResult():
                    yield str(block)
                case _:
                    yield getattr(block, "text", "")


def _report(rows: Sequence[ToolsRow]) -> Report:
    none = next(row for row in rows if row.tools == "none")
    failures = [
        f"{row.tools}: {100 * row.cached:.1f} % are cached."
        for row in rows
        if row.tools != "none" and row.cached < _LEAST_CACHED
    ]
    default = next(row for row in rows if row.tools == "default")
    if default.cpu > _MOST_DEARER * none.cpu:
        failures.append(f"A turn takes {default.cpu:.2f} ms with the default tools and {none.cpu:.2f} ms without.")
    return Report(
        heads=("tools", "offered", "schemas, tokens", "cached", "beginnings that changed", "turn, ms CPU"),
        rows=[
            (
                row.tools,
                str(row.offered),
                f"{row.tokens:,}",
                f"{100 * row.cached:.1f} %",
                str(row.changes),
                f"{row.cpu:.2f}",
            )
            for row in rows
        ],
        failures=failures,
        records=[asdict(row) for row in rows],
        names_first=True,
    )


if __name__ == "__main__":
    sys.exit(main())
