"""`python -m bench.peers`: what a turn, a start and rest cost other agents, beside KenoBot, in turn on this machine.

Each runs in a virtual environment of its own, which is made in a folder (`--folder`; else one that is removed), with
the released packages that are named below, as they come, and nothing set but where Telegram and the model are: an
emulator of the one and a stand-in for Anthropic's API that answers at once. It is no part of continuous integration,
which installs no other agents. Hermes Agent is not among them: its provider for Anthropic takes no other address.

Counted is process time, with children, until all is quiet, or for four seconds: some never are. *Start*: until it asks
Telegram for messages and all is quiet.
"""

import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import report
from bench.real_bot import Command, Exchange, Line, conversation, open_line
from bench.report import Report
from kenobot.cli.options import parse_up_to, show_progress
from kenobot.ports.json_value import Json
from tests.integration.stand_in import KEY, TOKEN

_MESSAGES, _WARM = 20, 4
_LONGEST = 4.0  # seconds that quiet is waited for

_NANOBOT = """\
import json, os, sys
from pathlib import Path
telegram, model, token, key = sys.argv[1:]
home = Path(os.environ["HOME"], ".nanobot")
home.mkdir(exist_ok=True)
(home / "config.json").write_text(json.dumps({
    "agents": {"defaults": {"model": "claude-opus-4-5", "provider": "anthropic"}},
    "providers": {"anthropic": {"apiKey": key, "apiBase": model}},
    "channels": {"telegram": {"enabled": True, "token": token, "allowFrom": ["*"]}},
    "gateway": {"port": 18791},
}))
from telegram.ext import ApplicationBuilder
build = ApplicationBuilder.build
ApplicationBuilder.build = lambda self: build(self.base_url(telegram))  # for which it has no setting
print("ready:", file=sys.stderr, flush=True)
sys.argv = ["nanobot", "gateway"]
from nanobot.cli.commands import app
app()
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another agent. packages: as pip takes them. program: starts it, and says "ready:" first."""

    name: str
    packages: tuple[str, ...]
    program: str

    def install(self, folder: Path) -> None:
        """Make its virtual environment, unless it is there."""
        if not (folder / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *self.packages], check=True)
        (folder / "start.py").write_text(self.program)

    def command(self, folder: Path, home: Path) -> Command:
        """Build what starts it with nothing of this process's environment but the path of programs."""
        home.mkdir(parents=True)

        def build(telegram_url: str, model_url: str) -> list[str]:
            environ = ["env", "-i", f"HOME={home}", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"]
            program = [str(folder / "bin" / "python"), str(folder / "start.py")]
            return [*environ, *program, telegram_url, model_url, TOKEN, KEY]

        return build


PEERS = (Peer("nanobot 0.3.5", ("nanobot-ai==0.3.5", "python-telegram-bot[socks,webhooks]==22.6"), _NANOBOT),)


async def _measure(folder: Path, names: Sequence[str], count: int, embedder: str) -> Report:
    peers = [peer for peer in PEERS if not names or peer.name.partition(" ")[0].lower() in names]
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="kenobot-peers-") as home:
        async with contextlib.AsyncExitStack() as stack:
            lines: dict[str, Line] = {}
            for name, command in _commands(folder, Path(home), peers).items():
                show_progress(f"{name} starts")
                (Path(home) / name).mkdir(exist_ok=True)
                line = lines[name] = await stack.enter_async_context(open_line(Path(home) / name, embedder, command))
                line.longest = _LONGEST
                figures[name] = {"start, CPU, s": await line.come_up(), "resident at rest, MB": line.resident}
            said: dict[str, list[Exchange]] = {name: [] for name in lines}
            for at, text in enumerate(conversation(_WARM + count)):
                show_progress(f"message {at} of {_WARM + count}")
                for name, line in lines.items():
                    said[name].append(await line.say(text))
            for name, line in lines.items():
                figures[name] |= _figures(said[name][_WARM:], line)
    show_progress()
    return _report(figures)


def _commands(folder: Path, homes: Path, peers: Sequence[Peer]) -> Mapping[str, Command | None]:
    """Map the name of each to what starts it, KenoBot first."""
    found: dict[str, Command | None] = {"KenoBot": None}
    for peer in peers:
        venv = folder / peer.name.partition(" ")[0].lower()
        show_progress(f"{peer.name} is installed")
        peer.install(venv)
        found[peer.name] = peer.command(venv, homes / peer.name / "home")
    return found


def _figures(said: Sequence[Exchange], line: Line) -> dict[str, float]:
    times = [1000 * each.seconds for each in said]
    return {
        "from the update to sendMessage, p50, ms": statistics.median(times),
        "CPU until the answer is sent, p50, ms": statistics.median(1000 * each.cpu_answered for each in said),
        "CPU until all is quiet, p50, ms": statistics.median(1000 * each.cpu for each in said),
        "CPU until all is quiet, mean, ms": statistics.fmean(1000 * each.cpu for each in said),
        "resident at the end, MB": line.resident,
    }


def _report(figures: Mapping[str, Mapping[str, float]]) -> Report:
    kinds = list(next(iter(figures.values())))
    rows = [(kind, *(f"{each[kind]:,.2f}" for each in figures.values())) for kind in kinds]
    record: dict[str, Json] = {name: {**each} for name, each in figures.items()}
    return Report(("", *figures), rows, [], [record], names_first=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("peers", str(__doc__), plot=False)
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="where they are installed (a folder that is removed)"
    )
    parser.add_argument("--messages", type=parse_up_to(1000), default=_MESSAGES, metavar="N", help=f"({_MESSAGES})")
    parser.add_argument("--embedder", default="none", metavar="NAME", help="of KenoBot, as memory.embedder (none)")
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME", help="these alone, such as nanobot")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="kenobot-peers-") as name:
        folder = given.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        return report.run(
            parser,
            argv,
            lambda given: (asyncio.run(_measure(folder, given.only, given.messages, given.embedder)), None),
        )


if __name__ == "__main__":
    sys.exit(main())
