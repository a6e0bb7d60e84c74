"""`python -m bench.telegram`: where the time between a Telegram update and its answer goes.

The real `kenobot run` with the real clients, between an emulator of the Bot API and a stand-in for Anthropic's API that
answers at once. Beside it the same clients with nothing between them: what is left is KenoBot's own. A message takes
each of them two to four seconds, most of which are waited until nothing is left to do: five minutes in all, ten with
--against on a busy machine.
"""

import asyncio
import contextlib
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from bench import report
from bench.against import unpack
from bench.quick.process import Checkout
from bench.real_bot import Exchange, Line, conversation, open_line
from bench.report import Report
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.ports.clock import SystemClock
from kenobot.ports.json_value import Json
from kenobot.ports.messages import Inbound, Outbound
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Message, Request
from tests.integration.stand_in import KEY, TOKEN

_MESSAGES, _WARM = 48, 8
STAGES = (
    ("the update reaches the bot: long poll, HTTP, parsing", "said", "message:in"),
    ("it is stored", "message:in", "thinking:start"),
    ("its prompt is built and sent: recall, SDK, HTTP", "thinking:start", "asked"),
    ("the stand-in's own time", "asked", "answered"),
    ("the reply is read, checked and committed", "answered", "message:out"),
    ("it is sent: SDK, HTTP", "message:out", "sent"),
)


async def clients_alone(telegram_url: str, model_url: str) -> None:
    """Answer every update by the model, with KenoBot's clients and nothing else, until cancelled."""
    from kenobot.channels.telegram.channel import TelegramChannel
    from kenobot.providers import anthropic

    clock = SystemClock()
    settings = TelegramSettings.model_validate(
        {"token": TOKEN, "base_url": telegram_url, "owners": ["1"], "fragment_seconds": 0}
    )
    channel = TelegramChannel(settings, clock)
    provider = anthropic.build(
        anthropic.AnthropicSettings.model_validate({"api_key": KEY, "base_url": model_url}),
        PluginContext(Path(), clock, "bench"),
    )

    class Echo:
        async def __call__(self, inbound: Inbound) -> bool:
            request = Request((), (Message("user", (Block(inbound.text),)),))
            said = "".join([delta.text async for delta in provider.stream(request)])
            for part in channel.render(said):
                await channel.send(Outbound(0, channel.name, inbound.chat, part, ""))
            return True

        async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None: ...

        async def report(self, channel: str, problem: str) -> None: ...

    print("ready:", file=sys.stderr, flush=True)
    await channel.run(Echo())


def stage_seconds(home: Path, exchanges: Sequence[Exchange]) -> list[float]:
    """The median seconds of each of `STAGES`, by the home's audit trail."""
    with contextlib.closing(sqlite3.connect(home / "kenobot.db")) as connection:
        rows = connection.execute("SELECT trace, name, at FROM signal WHERE trace <> '' ORDER BY id").fetchall()
    turns: dict[str, dict[str, float]] = {}
    for trace, name, at in rows:
        turns.setdefault(trace, {}).setdefault(name, datetime.fromisoformat(at).timestamp())
    audited = sorted((turn for turn in turns.values() if "message:in" in turn), key=lambda turn: turn["message:in"])
    found: list[dict[str, float]] = []
    for exchange in exchanges:
        said, sent = exchange.times["said"], exchange.times["sent"]
        found += [turn | exchange.times for turn in audited if said <= turn["message:in"] <= sent]
    return [statistics.median(times[end] - times[begin] for times in found) for _, begin, end in STAGES]


async def _measure(count: int, embedder: str, revision: str) -> Report:
    """Say the same to all in turn. revision: another commit whose bot is measured beside this one's; "" is none."""

    def alone(telegram_url: str, model_url: str) -> list[str]:
        return [sys.executable, "-m", "bench.telegram", "--clients-alone", telegram_url, model_url]

    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as name:
        folder = Path(name)
        (folder / "alone").mkdir()
        async with contextlib.AsyncExitStack() as stack:
            bot = await stack.enter_async_context(open_line(folder, embedder, sleeps=False))
            clients = await stack.enter_async_context(open_line(folder / "alone", "none", alone))
            exchanges: dict[Line, list[Exchange]] = {bot: [], clients: []}
            if revision:
                unpack(revision, folder / "tree")
                checkout = Checkout.planted(folder / "tree", folder / "before")
                former = open_line(folder / "before", embedder, checkout=checkout, sleeps=False)
                before = await stack.enter_async_context(former)
                exchanges[before] = []
            began = time.monotonic()
            for at, text in enumerate(conversation(_WARM + count)):
                left = (time.monotonic() - began) / at * (_WARM + count - at) / 60 if at else 0.0
                show_progress(f"message {at} of {_WARM + count}" + (f", {left:.0f} more minutes" if at else ""))
                for line, found in exchanges.items():
                    found.append(await line.say(text))
            resident = [line.resident for line in exchanges if line is not clients]
        whole, alone_found, *others = (found[_WARM:] for found in exchanges.values())
        stages = stage_seconds(folder / "home", whole)
    show_progress()
    if others:
        return _compare(_figures(whole), _figures(others[0]), resident)
    return _report(whole, alone_found, stages, resident[0])


def _compare(now: Mapping[str, float], before: Mapping[str, float], resident: Sequence[float]) -> Report:
    """Put this tree's bot beside another commit's. resident: of the one and of the other."""
    now, before = ({**figures, "resident, MB": mb} for figures, mb in zip((now, before), resident, strict=True))
    rows = [(name, f"{before[name]:.1f}", f"{now[name]:.1f}", f"{now[name] / before[name]:.2f}") for name in now]
    record: dict[str, Json] = {"before": {**before}, "now": {**now}}
    return Report(("ms", "the other commit", "this tree", "ratio"), rows, [], [record], names_first=True)


def _report(whole: Sequence[Exchange], clients: Sequence[Exchange], stages: Sequence[float], resident: float) -> Report:
    figures, alone = _figures(whole), _figures(clients)
    rows = [(name, f"{figures[name]:.1f}", f"{alone[name]:.1f}") for name in figures]
    rows += [(f"of p50: {name}", f"{1000 * each:.1f}", "") for (name, _, _), each in zip(STAGES, stages, strict=True)]
    rows.append(("resident, MB", f"{resident:.0f}", ""))
    record: dict[str, Json] = {
        "kenobot": {**figures},
        "clients alone": {**alone},
        "stages, ms": {name: 1000 * each for (name, _, _), each in zip(STAGES, stages, strict=True)},
        "resident, MB": resident,
    }
    return Report(("ms", "KenoBot", "its clients alone"), rows, [], [record], names_first=True)


def _figures(found: Sequence[Exchange]) -> dict[str, float]:
    """Milliseconds."""
    times = [1000 * each.seconds for each in found]
    return {
        "from the update to sendMessage, p50": statistics.median(times),
        "p95": statistics.quantiles(times, n=20)[18],
        "CPU until the answer is sent, p50": statistics.median(1000 * each.cpu_answered for each in found),
        "CPU until all is quiet, p50": statistics.median(1000 * each.cpu for each in found),
        "CPU until all is quiet, mean": statistics.fmean(1000 * each.cpu for each in found),
    }


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["--clients-alone"]:
        asyncio.run(clients_alone(*given[1:]))
        return 0
    parser = report.make_parser("telegram", str(__doc__), plot=False)
    parser.add_argument("--messages", type=parse_up_to(10_000), default=_MESSAGES, metavar="N", help=f"({_MESSAGES})")
    parser.add_argument("--embedder", default="auto", metavar="NAME", help="as memory.embedder (auto)")
    parser.add_argument("--against", default="", metavar="REV", help="beside this commit's bot, in turn")
    return report.run(
        parser, argv, lambda given: (asyncio.run(_measure(given.messages, given.embedder, given.against)), None)
    )


if __name__ == "__main__":
    sys.exit(main())
