"""Lives through the years, day by day and night by night, and measures every week what has become of memory."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from bench.years.provider import PromptTokens, YearsModel
from bench.years.talk import FactProbe, ScriptedMessage, TalkGenerator
from kenobot.gateway.access import Roster
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

_START = datetime(2026, 2, 14, tzinfo=UTC)
_CONFIG = """\
[bot]
timezone = "{zone}"

[context]
memory_tokens = {tokens}

[sleep]
hour = 4

[budget.purposes.sleep]
daily_tokens = 1
"""
_OWNER, _LINE, _CHAT, _OTHER = "1", "telegram", "1", "2"
_SCOPES = ("owner",)
_NIGHT = 4  # the hour at which the schedule is followed; the real one looks more often, and messages wake it as well
_A_WEEK = 7
_SAMPLE = 20  # later facts that are asked for every week


@dataclass(frozen=True, slots=True)
class WeekMetrics:
    """What a week came to. day: its last, counted from 1. live, records: live ones, and all. Sizes are bytes.

    prompt, memory: tokens, the mean of the week's turns; prompt_most, memory_most: of the largest one. first, later:
    shares of the facts of the first day, and of some of later days, that recall finds. guesses: how many of the first
    day's it finds. night, turn: mean seconds that one took, on this machine.
    """

    day: int
    live: int
    records: int
    database: int
    tree: int
    index: int
    files: int
    prompt: float
    prompt_most: int
    memory: float
    memory_most: int
    first: float
    later: float
    guesses: int
    night: float
    turn: float

    @property
    def disk(self) -> int:
        return self.database + self.tree + self.index


@dataclass(slots=True)
class YearsReport:
    """All weeks, and memory as it is in the end.

    facts_told: facts that should live. lost_facts: those that do not. unrecalled_facts: those of the first day that
    are not found. live_outdated, live_guesses: what should not live any more, and does.
    """

    talk: TalkGenerator
    weeks: list[WeekMetrics] = field(default_factory=list)
    facts_told: int = 0
    lost_facts: list[str] = field(default_factory=list)
    unrecalled_facts: list[str] = field(default_factory=list)
    live_outdated: list[str] = field(default_factory=list)
    live_guesses: list[str] = field(default_factory=list)

    @property
    def days(self) -> int:
        return self.weeks[-1].day if self.weeks else 0


@dataclass(slots=True)
class _Times:
    nights: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)


def simulate_years(days: int, per_day: int, tell: Callable[[WeekMetrics], None], seed: int = 7) -> YearsReport:
    """Live through so many days with so many messages each, in a folder that is gone afterwards. tell: of each week."""
    with tempfile.TemporaryDirectory(prefix="kenobot-years-") as folder:
        return asyncio.run(live(Path(folder), TalkGenerator(per_day, seed), days, tell))


async def live(
    folder: Path,
    talk: TalkGenerator,
    days: int,
    tell: Callable[[WeekMetrics], None],
    last: Callable[[Simulation], Awaitable[None]] | None = None,
) -> YearsReport:
    """Live through so many days of talk in a folder. last: what else is done with the home in the end."""
    model, years, times, rng = YearsModel(), YearsReport(talk), _Times(), Random(11)
    house = Simulation(
        folder,
        ScriptedProvider(model.reply, name="companion", rule_based=False, keep=0),
        Roster.of([_OWNER]),
        start=_START,
        channels=[_LINE],
        config=_CONFIG.format(zone=talk.zone.key, tokens=talk.memory_tokens),
    )
    async with house:
        for number in range(1, days + 1):
            today = _START + timedelta(days=number - 1)
            await _day(house, model, list(talk.messages_of(today.date(), first=number == 1)), today, times)
            if number % _A_WEEK == 0 or number == days:
                years.weeks.append(await _week(house, model, talk, number, times, rng))
                tell(years.weeks[-1])
                model.sizes.clear()
                times = _Times()
        await _end(house, years)
        if last is not None:
            await last(house)
    return years


# ── a day ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _day(
    house: Simulation, model: YearsModel, says: list[ScriptedMessage], today: datetime, times: _Times
) -> None:
    """The night before, what is on the bot's schedule besides, and what is said on a day."""
    house.advance_to(today.replace(hour=_NIGHT))
    began, nights = time.perf_counter(), await _nights(house)
    await house.run_schedule()
    if await _nights(house) > nights:
        times.nights.append(time.perf_counter() - began)
    for said in says:
        house.advance_to(said.at)
        model.expect(said)
        began = time.perf_counter()
        await house.say(_LINE, _OTHER if said.in_other_chat else _CHAT, _OWNER, said.text, name="Adrian")
        times.turns.append(time.perf_counter() - began)


async def _nights(house: Simulation) -> int:
    rows = await house.app.database.read(lambda c: c.execute("SELECT coalesce(max(id), 0) FROM sleep_run").fetchone())
    return int(rows[0])


# ── a week ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _week(
    house: Simulation, model: YearsModel, talk: TalkGenerator, day: int, times: _Times, rng: Random
) -> WeekMetrics:
    held = [(form, status) for form, _, status, _ in await house.records() if form != "box"]
    tree = [path.stat().st_size for path in house.home.memory.rglob("*") if path.is_file()]
    later = rng.sample(talk.later_facts, min(_SAMPLE, len(talk.later_facts)))
    sizes = model.sizes or [PromptTokens(0, 0)]
    return WeekMetrics(
        day=day,
        live=sum(status == "active" for _, status in held),
        records=len(held),
        database=_size(house.home.database),
        tree=sum(tree),
        index=_size(house.home.index),
        files=len(tree),
        prompt=sum(size.whole for size in sizes) / len(sizes),
        prompt_most=max(size.whole for size in sizes),
        memory=sum(size.memory for size in sizes) / len(sizes),
        memory_most=max(size.memory for size in sizes),
        first=1 - len(await _missed(house, talk.first_day_facts)) / len(talk.first_day_facts),
        later=1 - len(await _missed(house, later)) / len(later) if later else 1.0,
        guesses=len(talk.guessed_facts) - len(await _missed(house, talk.guessed_facts)),
        night=_mean(times.nights),
        turn=_mean(times.turns),
    )


async def _missed(house: Simulation, facts: Sequence[FactProbe]) -> list[str]:
    """The facts that their questions do not lead to, for the owner in a chat in which nothing was told."""
    return [fact.text for fact in facts if fact.text not in (await house.recall_text(fact.question, _SCOPES))[0]]


def _size(path: Path) -> int:
    """A database's bytes, with what has not been put into its place yet."""
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _end(house: Simulation, years: YearsReport) -> None:
    """Look for everything that was ever told, in memory itself and by asking for it."""
    talk, records = years.talk, await house.records()
    living = "\n".join(text for form, _, status, text in records if status == "active" and form != "summary")
    facts = [*talk.first_day_facts, *talk.later_facts, *talk.current_facts.values()]
    years.facts_told = len(facts)
    years.lost_facts = [fact.text for fact in facts if fact.text not in living]
    years.unrecalled_facts = await _missed(house, talk.first_day_facts)
    years.live_guesses = [fact.text for fact in talk.guessed_facts if fact.text in living]
    years.live_outdated = [fact.text for fact in talk.outdated_facts if fact.text in living]
