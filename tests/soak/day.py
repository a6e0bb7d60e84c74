"""`python -m tests.soak.day`: a day and the calm morning after it, in 20 minutes, with what goes wrong in a year.

A real `kenobot run` on a clock a hundred times as fast (libfaketime), against a Telegram server nobody here wrote and a
stand-in for Anthropic. Five people write by day and less by night; the model and Telegram fail, hang and refuse, the
process is killed and stopped, the disk fills. The codes of gates are told and asked for hours later, when the
conversation shows them no more: the stand-in answers only with what the prompt shows. Fails when a message is lost or
doubled, a code is wrong, `kenobot status` names no cause while something is wrong or one afterwards, or resident
memory grows by more than 5 % of its mean a day once nothing goes wrong any more.
"""

import argparse
import asyncio
import contextlib
import json
import re
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from tests.crash.checker import Verdict, check
from tests.crash.tools import faketime, mounted, no_mount
from tests.crash.world import Model, World, until
from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import Entry
from tests.integration.stand_in import OWNER, Telegram
from tests.soak.document import DOCUMENT, placed
from tests.soak.sample import Sample, look

COMMAND = "python -m tests.soak.day"
_FAST = 100  # times as fast as the machine's clock
_HOUR = 3600.0 / _FAST  # seconds of the machine
_BEGIN = datetime(2026, 3, 2, 7, tzinfo=UTC)
_GROWTH = 0.05  # of the mean, a day
_CALM = 23  # the hour from which on memory is watched: nothing goes wrong any more, and what that loads is loaded
_TOO_LATE = "NOT WITHIN TWO HOURS"
_WELL_AGAIN = 30.0  # minutes after which the status should say so
_GONE, _MUTE = "it does not run", "it does not answer"
_PEOPLE = 5
_BY_DAY, _BY_NIGHT = 30, 4  # messages an hour
_NIGHT = range(23, 31)  # hours of the clock, from midnight on 24 more
_CODE = re.compile(r"code of gate (\d+) is (\d{4})")
_ASKED = re.compile(r"What is the code of gate (\d+)\?")
_PATIENT = {  # what is a deadline elsewhere is a hundredth of it here
    "AnthropicSettings.connect_seconds": 300,
    "AnthropicSettings.idle_seconds": 300,
    "AnthropicSettings.total_seconds": 3000,
    "TelegramSettings.poll_seconds": 1,
    "TelegramSettings.request_seconds": 300,
    "wiring.TURN_SECONDS": 6000,
}
_EXTRA = """\
[sleep]
hour = 3
[backup]
every_hours = 6
keep = 2
[watch]
disk_mb = 8
"""


class GateModel(Model):
    """Answers the question for a gate's code with the one that the prompt shows last, and all else by its tag.

    codes: what it answered, by the question's tag.
    """

    def __init__(self) -> None:
        super().__init__()
        self.codes: dict[str, str] = {}

    def _entry(self, said: str) -> Entry:
        prompt = json.dumps(self.requests[-1], ensure_ascii=False)
        entry = super()._entry(said)
        if told := _CODE.search(said):
            return {**entry, "reply": f"{entry['reply']} <memory>The {told[0]}</memory>"}
        if asked := _ASKED.search(said):
            shown = [code for gate, code in _CODE.findall(prompt) if gate == asked[1]]
            self.codes[said.split(maxsplit=1)[0]] = shown[-1] if shown else "unknown"
        return entry


@dataclass
class Day:
    """The world of a day and what was seen in it.

    expected: the code that each question should be answered with. dishonest: what the status said, and should not have.
    """

    world: World
    began: float = field(default_factory=time.monotonic)
    codes: dict[int, str] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    dishonest: list[str] = field(default_factory=list)

    @property
    def hours(self) -> float:
        """Hours since the day began."""
        return (time.monotonic() - self.began) / _HOUR

    @property
    def now(self) -> datetime:
        return _BEGIN + timedelta(hours=self.hours)

    def seconds(self) -> float:
        """The day's time, since 1970."""
        return self.now.timestamp()

    async def start(self) -> None:
        """Start a life, on the day's clock."""
        self.world.bot.environ |= self._clock()
        await self.world.bot.start()

    def _clock(self) -> dict[str, str]:
        _, environ = faketime()
        return {**environ, "TZ": "UTC", "FAKETIME": f"@{self.now:%Y-%m-%d %H:%M:%S} x{_FAST}"}

    async def rest(self, minutes: float) -> None:
        await asyncio.sleep(minutes / 60 * _HOUR)

    def look(self) -> None:
        bot = self.world.bot
        if bot.process is not None and bot.process.returncode is None:
            answered = len(self.world.tags) - len(self.world.unanswered())
            self.samples.append(look(bot.process.pid, bot.home, self.hours * 3600, answered))


# ── what people say ──────────────────────────────────────────────────────────────────────────────────────────────────


async def _talk(day: Day, hours: float) -> None:
    """People write, more by day than by night; each hour a gate's code is told, and an older one asked for."""
    rng, world = day.world.rng, day.world
    while day.hours < hours:
        by_night = (day.now.hour in _NIGHT) or (day.now.hour + 24 in _NIGHT)
        messages = _BY_NIGHT if by_night else _BY_DAY
        gate = len(day.codes) + 1
        code = f"{rng.randrange(10_000):04d}"
        await world.say_this(f"Remember: the code of gate {gate} is {code}")
        for number in range(messages):
            await day.rest(60 / messages)
            if number == messages // 2 and gate > 3:
                asked = rng.randrange(1, gate - 2)
                day.expected[await world.say_this(f"What is the code of gate {asked}?")] = day.codes[asked]
            else:
                await world.say()
        day.codes[gate] = code


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────

Fault = Callable[[Day], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def _model_overloaded(day: Day) -> AsyncIterator[None]:
    day.world.model.script = [{"status": 529, "error": "overloaded_error"}]
    yield
    day.world.model.script = []


@asynccontextmanager
async def _model_hangs(day: Day) -> AsyncIterator[None]:
    day.world.model.script = [{"hang": True}]
    yield
    day.world.model.script = []


@asynccontextmanager
async def _model_fails(day: Day) -> AsyncIterator[None]:
    day.world.model.script = [{"status": 500, "error": "api_error"}]
    yield
    day.world.model.script = []


def _telegram_says(status: int) -> Fault:
    @asynccontextmanager
    async def outage(day: Day) -> AsyncIterator[None]:
        day.world.telegram.faults.outage = status
        yield
        day.world.telegram.faults.outage = 0

    return outage


@asynccontextmanager
async def _killed(day: Day) -> AsyncIterator[None]:
    await day.world.bot.kill()
    yield
    await day.start()


@asynccontextmanager
async def _stands_still(day: Day) -> AsyncIterator[None]:
    day.world.bot.signal(signal.SIGSTOP)
    yield
    day.world.bot.signal(signal.SIGCONT)


@asynccontextmanager
async def _disk_full(day: Day) -> AsyncIterator[None]:
    ballast = day.world.home.parent / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    yield
    ballast.unlink()


_TIMETABLE: Sequence[tuple[float, str, float, Fault, Collection[str]]] = (
    (1.5, "the model is overloaded (529)", 40, _model_overloaded, {"provider"}),
    (3.2, "kill -9, and five minutes of nothing", 5, _killed, {_GONE}),
    (4.5, "Telegram answers 502", 30, _telegram_says(502), {"poll", "channel", "outbox"}),
    (6.3, "the model hangs in the middle of its answers", 15, _model_hangs, {"provider", "queue"}),
    (8.1, "kill -9, and ten minutes of nothing", 10, _killed, {_GONE}),
    (9.5, "Telegram answers 429", 20, _telegram_says(429), {"poll", "channel", "outbox"}),
    (11.0, "the disk is full", 20, _disk_full, {"disk"}),
    (13.0, "kill -9, and an hour of nothing", 60, _killed, {_GONE}),
    (15.5, "the model fails (500)", 20, _model_fails, {"provider"}),
    (17.5, "the process stands still (SIGSTOP)", 30, _stands_still, {_MUTE}),
    (19.0, "the model is overloaded (529)", 90, _model_overloaded, {"provider"}),
    (21.5, "Telegram answers 502", 60, _telegram_says(502), {"poll", "channel", "outbox"}),
)
"""When, what, for how many minutes, and one of which causes `kenobot status` should name before it is over."""


async def _status(day: Day) -> set[str]:
    """The causes that `kenobot status` names now; empty when it says that all is well."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", "--home", str(day.world.home), "status", "--json"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    printed, _ = await process.communicate()
    match process.returncode:
        case 3:
            return {_GONE}
        case 4:
            return {_MUTE}
    return {cause["check"] for cause in json.loads(printed)["causes"]}


async def _go_wrong(day: Day, hours: float, skipped: Sequence[str], progress: Callable[[str], None]) -> None:
    for at, name, minutes, fault, causes in _TIMETABLE:
        if at >= hours:
            return
        if name in skipped:
            continue
        await asyncio.sleep(max(0.0, (at - day.hours) * _HOUR))
        progress(f"{day.now:%H:%M} {name}, {minutes:g} minutes")
        async with fault(day):
            await day.rest(minutes)
            told = await _status(day)
        behind, took = await _caught_up(day)
        await day.rest(_WELL_AGAIN)
        left = await _status(day)
        day.dishonest += [f"{name}: {sorted(told)}"] if not told & set(causes) else []
        day.dishonest += [f"after {name}: {sorted(left)}"] if left else []
        said = f"{', '.join(sorted(told)) or 'healthy'} | {', '.join(sorted(left)) or 'healthy'}"
        day.seen.append(f"| {at:g} h | {name} | {minutes:g} | {behind} | {took} | {said} |")


async def _caught_up(day: Day) -> tuple[int, str]:
    """How many messages wait now, and how long it takes until all of these are answered."""
    behind, began = set(day.world.unanswered()), day.hours
    if not await until(lambda: not behind & day.world.unanswered(), 2 * _HOUR):
        return len(behind), _TOO_LATE
    return len(behind), f"{(day.hours - began) * 60:.0f} minutes after its end"


# ── the whole day ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class DayOutcome:
    """What came of it. growth: of resident memory a day, as a share of its mean, while the last process lived."""

    hours: float
    verdict: Verdict
    right: int
    wrong: tuple[str, ...]
    faults: tuple[str, ...]
    dishonest: tuple[str, ...]
    samples: tuple[Sample, ...]
    growth: float
    missing: str

    @property
    def good(self) -> bool:
        late = any(_TOO_LATE in line for line in self.faults)
        return self.verdict.holds and not (self.wrong or self.dishonest or late) and self.growth <= _GROWTH


async def play(folder: Path, hours: float, seed: int, progress: Callable[[str], None]) -> DayOutcome:
    """Live through a day of `hours` with its home in the new `folder`."""
    missing = no_mount("tmpfs")
    async with contextlib.AsyncExitStack() as stack:
        if not missing:
            await stack.enter_async_context(mounted("tmpfs", "none", "size=96m", folder))
        telegram = await stack.enter_async_context(Telegram())
        model = await stack.enter_async_context(GateModel())
        bot = Bot(folder / "home", telegram, model.url, extra=_EXTRA, constants=_PATIENT)
        people = tuple(str(int(OWNER) + number) for number in range(_PEOPLE))
        bot.configure(owners=people)
        day = Day(World(telegram, model, bot, Random(seed), people))
        telegram.now = day.seconds
        await day.start()
        try:
            await _live(day, hours, progress, skipped=("the disk is full",) if missing else ())
        finally:
            await bot.terminate()
        wrong = [
            f"{tag}: {model.codes.get(tag)} for {code}"
            for tag, code in day.expected.items()
            if model.codes.get(tag) != code
        ]
        late = [sample for sample in day.samples if sample.seconds >= _CALM * 3600]
        return DayOutcome(
            hours=day.hours,
            verdict=check(day.world),
            right=len(day.expected) - len(wrong),
            wrong=tuple(wrong),
            faults=tuple(day.seen),
            dishonest=tuple(day.dishonest),
            samples=tuple(day.samples),
            growth=_growth(late),
            missing=missing,
        )


async def _live(day: Day, hours: float, progress: Callable[[str], None], skipped: Sequence[str]) -> None:
    async def watch() -> None:
        while True:
            await day.rest(20)
            day.look()

    watcher = asyncio.create_task(watch())
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_talk(day, hours))
            group.create_task(_go_wrong(day, hours, skipped, progress))
        await day.world.settles(2 * _HOUR)
    finally:
        watcher.cancel()


def _growth(samples: Sequence[Sample]) -> float:
    """Least squares: the slope of resident memory a day, over its mean. 0 with fewer than ten samples."""
    if len(samples) < 10:
        return 0.0
    days = [sample.seconds / 86_400 for sample in samples]
    middle, mean = sum(days) / len(days), sum(sample.rss for sample in samples) / len(samples)
    slope = sum((at - middle) * (sample.rss - mean) for at, sample in zip(days, samples, strict=True))
    return slope / sum((at - middle) ** 2 for at in days) / mean


def report(outcome: DayOutcome, seed: int) -> str:
    """The figures as Markdown."""
    verdict, asked = outcome.verdict, outcome.right + len(outcome.wrong)
    every = outcome.samples[:: max(1, len(outcome.samples) // 12)]
    return "\n".join(
        [
            f"{outcome.hours:.0f} hours on a clock {_FAST} times as fast, {verdict.messages:,} messages of {_PEOPLE} "
            f"people, seed {seed}: **{len(verdict.lost)} lost, {len(verdict.doubled)} doubled, {len(verdict.wrong)} "
            f"out of place**; {verdict.repeated_parts} answers reached Telegram twice, {verdict.repeated_calls} calls "
            f"of the model were repeated. Asked for what was told hours before: **{outcome.right} of {asked} right**. "
            f"Resident memory from hour {_CALM} on: {outcome.growth:+.1%} a day (at most {_GROWTH:+.0%}).",
            *(
                [f"Unexpected: {outcome.verdict}; {outcome.wrong[:5]!r}; {outcome.dishonest!r}"]
                if not outcome.good
                else []
            ),
            *([f"The disk was not filled: {outcome.missing}."] if outcome.missing else []),
            "",
            "| at | what went wrong | minutes | unanswered at its end | all of these answered "
            "| status before its end | half an hour after |",
            "|---" * 7 + "|",
            *outcome.faults,
            "",
            "| hour | answered | RSS, MB | descriptors | threads | database, MB |",
            "|---" * 6 + "|",
            *(
                f"| {each.seconds / 3600:.1f} | {each.answered:,} | {each.rss:.1f} | {each.descriptors} "
                f"| {each.threads} | {each.database:.1f} |"
                for each in every
            ),
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--hours", type=float, default=30, help="how long it lasts (30)")
    parser.add_argument("--seed", type=int, default=20260302, help="of what is said, and by whom")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures/soak.md")
    given = parser.parse_args()
    if missing := faketime()[0]:
        print(f"{COMMAND}: {missing}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="kenobot-day-") as folder:
        (where := Path(folder) / "disk").mkdir()
        outcome = asyncio.run(play(where, given.hours, given.seed, lambda text: print(text, flush=True)))
    print("\n" + report(outcome, given.seed))
    if given.write:
        DOCUMENT.write_text(placed(DOCUMENT.read_text("utf-8"), COMMAND, report(outcome, given.seed)), "utf-8")
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(main())
