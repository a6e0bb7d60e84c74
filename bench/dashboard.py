"""`python -m bench.dashboard`: what the dashboard costs with 100,000 memories and 20,000 turns.

The real `kenobot run` with the channel http, a model that costs nothing, and made-up vectors. A program logs in as a
browser does and asks for each page, filter, search and the graph, some times in turn: the milliseconds until all of the
answer is there, the CPU of the bot's process meanwhile, and the longest step of its event loop. Then turns, with and
without a dashboard open beside them, some of each in turn: the CPU of each. Pages of an open one ask for the badge of
health once a minute, as htmx has them do.
"""

import argparse
import asyncio
import contextlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import httpx

from bench import report
from bench.large_home import PEOPLE, configure, make_home
from bench.memory import language_samplers, queries
from bench.process_usage import cpu_seconds, is_at_work, resident_mb
from bench.quick.scene import sentence
from bench.report import Report
from kenobot.core.settings.home import Home
from kenobot.storage import api_keys, browser_sessions
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_http.api.scopes import SCOPES, new_secret

_PAGE_MS, _SEARCH_MS, _GRAPH_MS = 100.0, 150.0, 1000.0  # what is aimed at
_SHARE = 0.05  # by which a turn may become dearer
_BADGE_SECONDS, _TABS = 60.0, 3  # of an open dashboard
_BLOCK, _REST = 20, 0.4  # turns in turn with and without it; seconds between two
_LOOK, _CALM = 0.1, 15
_STARTS, _RESTS = 600.0, 60.0  # seconds that it may take to start, and to come to rest


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. limit: milliseconds that are aimed at."""

    name: str
    path: str
    limit: float = _PAGE_MS


@dataclass(frozen=True, slots=True)
class Timed:
    """What one kind of request took, in milliseconds: the wall's and the process's CPU. step: the loop's longest."""

    name: str
    limit: float
    requests: int
    first: float
    p50: float
    worst: float
    cpu_p50: float
    cpu_worst: float
    step: float
    step_of: str
    kilobytes: float


@dataclass(frozen=True, slots=True)
class Turns:
    """The CPU of a turn in milliseconds. badge: of what an open page asks for once a minute."""

    alone: float
    beside: float
    badge: float

    @property
    def share(self) -> float:
        return self.beside / self.alone - 1


def main(argv: Sequence[str] | None = None) -> int:
    parser = report.make_parser("dashboard", str(__doc__), plot=False)
    parser.add_argument("--records", type=int, default=100_000, help="memories (100000)")
    parser.add_argument("--turns", type=int, default=20_000, help="turns that were talked (20000)")
    parser.add_argument("--times", type=int, default=7, help="requests of each kind (7)")
    parser.add_argument("--beside", type=int, default=200, help="turns with and without an open dashboard, each (200)")
    parser.add_argument("--home", metavar="FOLDER", help="keep the home here, and use it again")
    parser.add_argument("--only", default="", metavar="WORD", help="requests whose name holds this, and no turns")
    return report.run(parser, argv, lambda given: (_measure(given), None))


def _measure(given: argparse.Namespace) -> Report:
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        home = Home(Path(given.home or folder).absolute() / "home")
        if not home.database.exists():
            asyncio.run(make_home(home, given.records, given.turns, datetime.now(UTC)))
        with _Bot(home) as bot:
            asked = [each for each in _list_requests(given.records, given.turns, bot) if given.only in each.name]
            timed = _time_requests(bot, asked, given.times)
            turns = None if given.only else _compare_turns(bot, given.beside)
            megabytes = resident_mb(bot.pid)
    return _report(timed, turns, megabytes)


def _report(timed: Sequence[Timed], turns: Turns | None, megabytes: float) -> Report:
    heads = ("asked for", "aim", "p50", "worst", "first", "CPU p50", "CPU worst", "loop's longest step", "KB")
    rows = [
        (
            each.name,
            f"{each.limit:.0f}",
            *(f"{value:.0f}" for value in (each.p50, each.worst, each.first, each.cpu_p50, each.cpu_worst)),
            f"{each.step:.0f} {each.step_of}" if each.step else "",
            f"{each.kilobytes:.0f}",
        )
        for each in timed
    ]
    failures = [
        f"{each.name}: {each.p50:.0f} ms, {each.limit:.0f} at most are aimed at."
        for each in timed
        if each.p50 > each.limit
    ]
    note = f"Milliseconds. The bot has {megabytes:.0f} MB in memory at the end."
    if turns is not None:
        note += (
            f" A turn takes {turns.alone:.2f} ms of CPU, beside an open dashboard {turns.beside:.2f} "
            f"({turns.share:+.1%}); an open page asks for {turns.badge:.1f} ms a minute."
        )
        if turns.share > _SHARE:
            failures.append(f"Turns cost {turns.share:.1%} more beside an open dashboard, {_SHARE:.0%} at most.")
    records = [asdict(each) for each in timed] + ([asdict(turns)] if turns is not None else [])
    return Report(heads, rows, failures, records, note, names_first=True)


# ── the bot ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Bot:
    """A `kenobot run` over the home, a browser that is logged in, and a program with a key."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._steps = home.path / "steps.log"
        self._read = 0

    def __enter__(self) -> "_Bot":
        port = _find_port()
        configure(self.home, port)
        self._steps.unlink(missing_ok=True)
        link, key = asyncio.run(_let_in(self.home))
        self._log = (self.home.path / "run.log").open("ab")
        command = [sys.executable, "-m", "kenobot", "run", "--home", str(self.home.path)]
        tree = Path(__file__).resolve().parents[1]
        self._process = subprocess.Popen(command, cwd=tree, stdout=self._log, stderr=self._log)
        base = f"http://127.0.0.1:{port}"
        self.browser = httpx.Client(base_url=f"{base}/dashboard", timeout=60, trust_env=False)
        self.program = httpx.Client(
            base_url=base, timeout=60, trust_env=False, headers={"Authorization": f"Bearer {key}"}
        )
        self._wait_until_served()
        self.wait_until_quiet()
        self.browser.post("/login", data={"link": link}, headers={"Origin": base})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def cpu(self) -> float:
        """Milliseconds of CPU so far."""
        return 1000 * cpu_seconds(self.pid)

    def _wait_until_served(self) -> None:
        until = time.monotonic() + _STARTS
        while True:
            with contextlib.suppress(httpx.TransportError):
                self.browser.get("/login")
                return
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"The bot did not start: {self._log.name} has its last words.")
            time.sleep(_LOOK)

    def wait_until_quiet(self) -> None:
        """Wait until it uses next to no CPU."""
        until, calm, seen = time.monotonic() + _RESTS, 0, self.cpu
        while calm < _CALM and time.monotonic() < until:
            time.sleep(_LOOK)
            now = self.cpu
            calm, seen = (calm + 1 if now - seen < 3 and not is_at_work(self.pid) else 0), now

    def read_steps(self) -> tuple[float, str]:
        """Return the longest step of the event loop since the last call, in milliseconds, and what it was."""
        if not self._steps.exists():
            return 0.0, ""
        with self._steps.open() as file:
            file.seek(self._read)
            lines = file.read().splitlines()
            self._read = file.tell()
        found = [(float(each.partition(" ")[0]), each.partition(" ")[2]) for each in lines]
        return max(found, default=(0.0, ""))


def _find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def _let_in(home: Home) -> tuple[str, str]:
    """Make a link for a browser and a key for a program."""
    secret, now = new_secret(), datetime.now(UTC)

    def write(connection: Connection) -> str:
        connection.execute("DELETE FROM api_key")
        api_keys.add_key(connection, "bench", secret, "owner", SCOPES, now)
        return browser_sessions.make_link(connection, now)

    database = Database.open(home.database, home.backups)
    try:
        return await database.write(write), secret
    finally:
        await database.close()


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _list_requests(records: int, turns: int, bot: _Bot) -> list[Asked]:
    """List what is asked for: each page with what narrows it."""
    rng = Random(7)
    today = datetime.now(UTC).date()
    month, year = today - timedelta(days=30), today - timedelta(days=365)
    then = (today - timedelta(days=300)).isoformat()
    pages = {
        "Today": ["/"],
        "Chat": ["/chat", "/chat?session=telegram-3"],
        "Reminders": ["/reminders"],
        "Memories": ["/memories"],
        "Memories, deep": [f"/memories?cursor={records // 2}"],
        "Memories of a person": [f"/memories?subject=person{rng.randrange(PEOPLE)}" for _ in range(3)],
        "Memories of a form": [
            f"/memories?form={form}" for form in ("note", "episode", "procedure", "profile", "entity")
        ],
        "Memories of an origin": [f"/memories?source={name}" for name in ("tag", "import", "sleep", "command", "none")],
        "Memories of a state": [f"/memories?status={name}" for name in ("superseded", "forgotten", "expired", "all")],
        "Memories of some days": [
            f"/memories?first={then}&last={then}",
            f"/memories?first={month}&last={today}",
            "/memories?first=2001-01-01&last=2001-02-01",
            f"/memories?last={year}",
        ],
        "Memories, all filters": [f"/memories?first={year}&last={month}&source=import&form=episode&subject=person9"],
        "A memory": [f"/memories/{rng.randint(1, records)}" for _ in range(3)],
        "The people to choose from": ["/memories/subjects"],
        "Why": ["/why", "/why?session=telegram-3", f"/why?cursor={turns}"],
        "Why of a reply": [f"/why/{turns - number}" for number in (1, 50)] + [f"/why/{turns // 2}"],
        "Timeline by day": ["/timeline?by=day"],
        "Timeline by week": ["/timeline"],
        "Timeline by month": ["/timeline?by=month"],
        "Timeline of an end": ["/timeline?happening=forgotten", "/timeline?happening=replaced"],
        "Timeline of a person": ["/timeline?by=month&subject=person9"],
        "Timeline, back on a day": [f"/timeline/then?day={then}"],
        "People": ["/people", "/people?detail=memories"],
        "People, one": ["/people?subject=person9"],
        "Nights": ["/nights"],
        "A night": ["/nights/700"],
        "Tools": ["/tools"],
        "Mail": ["/mail"],
        "Cost": ["/cost", "/cost?days=365"],
        "Health": ["/health", "/health?days=1", "/health?days=30"],
        "Settings": ["/settings", "/settings/bot.name"],
        "Access": ["/access"],
        "Badge of health": ["/health/badge"],
        "API: health": ["/v1/health"],
        "API: metrics": ["/v1/metrics"],
        "API: status": ["/v1/status"],
    }
    asked = [Asked(name, path) for name, paths in pages.items() for path in paths]
    asked.append(Asked("Graph of topics", "/people/graph", _GRAPH_MS))
    asked.append(Asked("Graph of 10,000 memories", "/people/graph?detail=memories", _GRAPH_MS))
    for kind, texts in queries(language_samplers(Random(20261129)), rng).items():
        paths = (f"/memories?{httpx.QueryParams({'q': text[:1900]})}" for text in texts[:3])
        asked += [Asked(f"Search, {kind}", path, _SEARCH_MS) for path in paths]
    absent = queries(language_samplers(Random(20261129)), rng)["as people write"][0]
    asked.append(Asked("Why not", f"/why?{httpx.QueryParams({'q': absent})}", _SEARCH_MS))
    return asked


def _time_requests(bot: _Bot, asked: Sequence[Asked], times: int) -> list[Timed]:
    """Ask for each some times, those of one name in turn."""
    names = dict.fromkeys(each.name for each in asked)
    return [_time_kind(bot, [each for each in asked if each.name == name], times) for name in names]


def _time_kind(bot: _Bot, asked: Sequence[Asked], times: int) -> Timed:
    bot.read_steps()
    walls, cpus, size = list[float](), list[float](), 0
    for _ in range(times):
        for each in asked:
            wall, cpu, size = _ask(bot, each)
            walls.append(wall)
            cpus.append(cpu)
    step, step_of = bot.read_steps()
    return Timed(
        name=asked[0].name,
        limit=asked[0].limit,
        requests=len(walls),
        first=walls[0],
        p50=statistics.median(walls),
        worst=max(walls[1:], default=walls[0]),
        cpu_p50=statistics.median(cpus),
        cpu_worst=max(cpus),
        step=step,
        step_of=step_of,
        kilobytes=size / 1000,
    )


def _ask(bot: _Bot, asked: Asked) -> tuple[float, float, int]:
    """Return the milliseconds of a request, those of CPU, and the bytes of its answer."""
    client = bot.program if asked.path.startswith("/v1") else bot.browser
    before, began = bot.cpu, time.perf_counter()
    answer = client.get(asked.path)
    took = 1000 * (time.perf_counter() - began)
    if answer.status_code != 200:
        raise RuntimeError(f"{asked.path} was answered by {answer.status_code}")
    return took, bot.cpu - before, len(answer.content)


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _compare_turns(bot: _Bot, count: int) -> Turns:
    """Have so many turns without and with an open dashboard, in blocks by turns."""
    alone, beside = list[float](), list[float]()
    badges = [_ask(bot, Asked("", "/health/badge"))[1] for _ in range(20)]
    tabs = _Tabs(bot)
    for number in range(2 * count // _BLOCK + 2):
        is_open = number % 2 == 1
        spent = _spend_on_block(bot, tabs if is_open else None, number)
        if number > 1:  # the first two warm up
            (beside if is_open else alone).append(spent / _BLOCK)
    return Turns(statistics.median(alone), statistics.median(beside), statistics.median(badges))


class _Tabs:
    """Pages that are open, each of which asks for the badge once a minute while it is."""

    def __init__(self, bot: _Bot) -> None:
        self._bot = bot
        self._open_seconds = [_BADGE_SECONDS * number / _TABS for number in range(_TABS)]

    def pass_time(self, seconds: float) -> None:
        """Count the seconds that they were open, and ask for what is due."""
        for number, before in enumerate(self._open_seconds):
            self._open_seconds[number] = before + seconds
            if self._open_seconds[number] >= _BADGE_SECONDS:
                self._open_seconds[number] -= _BADGE_SECONDS
                self._bot.browser.get("/health/badge", headers={"HX-Request": "true"})


def _spend_on_block(bot: _Bot, tabs: _Tabs | None, block: int) -> float:
    """Return the CPU of a block of turns, with what follows them."""
    bot.wait_until_quiet()
    before = bot.cpu
    for number in range(_BLOCK):
        began = time.monotonic()
        text = sentence(block // 2 * _BLOCK + number)
        answer = bot.program.post("/v1/conversations/bench/messages", json={"text": f"{text} ({block})"})
        answer.raise_for_status()
        time.sleep(_REST)
        if tabs is not None:
            tabs.pass_time(time.monotonic() - began)
    bot.wait_until_quiet()
    return bot.cpu - before


if __name__ == "__main__":
    sys.exit(main())
