"""What the years came to: whether disk and prompts stay bounded, and what was told is still known. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise

from bench.report import Report, TokenCaps
from bench.years.run import WeekMetrics, YearsReport
from kenobot.ports.json_value import Json

_STEADY = 1.5  # what a week of the last quarter may add to the disk, times what one of the second quarter did
_SAME = 1.25  # the prompts of the last quarter, times those of the second
_WEEKS = 12  # from which on quarters mean something
_RECALLED = 0.9
_GUESSES = 32  # days after which a guess that nobody confirmed is gone
_MEGABYTE = 1_000_000
_NAMED = 10


def failures(years: YearsReport, limits: TokenCaps) -> list[str]:
    """What is not as it should be after the years, one plain sentence each."""
    return [*_kept(years), *_bounded(years.weeks, limits)]


def _kept(years: YearsReport) -> Iterator[str]:
    yield from (
        f"told on the first day, and its question does not lead to it: {text}" for text in years.unrecalled_facts
    )
    yield from (f"told, never taken back, and not in memory: {text}" for text in years.lost_facts[:_NAMED])
    if len(years.lost_facts) > _NAMED:
        yield f"told, never taken back, and not in memory: {len(years.lost_facts) - _NAMED} more"
    yield from (f"outdated, and lives on: {text}" for text in years.live_outdated)
    if years.days > _GUESSES:
        yield from (f"guessed on the first day, and lives on: {text}" for text in years.live_guesses)
    weeks = years.weeks
    yield from (
        f"day {after.day}: there are fewer records than before"
        for before, after in pairwise(weeks)
        if after.records < before.records
    )
    if (share := _mean([week.later for week in weeks])) < _RECALLED:
        yield f"of the facts of later days, only {share:.0%} were found when asked for"


def _bounded(weeks: Sequence[WeekMetrics], limits: TokenCaps) -> Iterator[str]:
    most = max(week.prompt_most for week in weeks)
    if most > limits.prompt:
        yield f"a prompt had {most} tokens, and may have {limits.prompt}"
    most = max(week.memory_most for week in weeks)
    if most > limits.memory:
        yield f"memory took {most} tokens of a prompt, and may take {limits.memory}"
    if len(weeks) < _WEEKS:
        return
    quarter = len(weeks) // 4
    second, last = weeks[quarter : 2 * quarter], weeks[-quarter:]
    for what, early, late, times in (
        ("the disk grew", _growth(second), _growth(last), _STEADY),
        ("prompts had", _mean([week.prompt for week in second]), _mean([week.prompt for week in last]), _SAME),
    ):
        if late > times * early:
            yield f"{what} {late:,.0f} a week in the last quarter, {early:,.0f} in the second: more than {times} times"


def _growth(weeks: Sequence[WeekMetrics]) -> float:
    """Bytes a week, from the first to the last of the weeks."""
    days = weeks[-1].day - weeks[0].day
    return 7 * (weeks[-1].disk - weeks[0].disk) / days if days else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ── for people and programs ──────────────────────────────────────────────────────────────────────────────────────────

_HEADS = (
    *("day", "live", "all", "database MB", "files MB", "index MB", "prompt", "most", "memory", "most"),
    *("first day", "later", "guesses", "night ms", "turn ms"),
)


def report_of(years: YearsReport, failures: Sequence[str], rows: int = 16) -> Report:
    """The years as a table of at most so many weeks."""
    return Report(
        heads=_HEADS,
        rows=[_cells(week) for week in _spread(years.weeks, rows)],
        failures=failures,
        records=[{"told": years.facts_told, "failures": [*failures]}],
        note=f"{years.facts_told} facts were told that should live; {years.facts_told - len(years.lost_facts)} do.",
    )


def _spread(weeks: Sequence[WeekMetrics], rows: int) -> list[WeekMetrics]:
    """The first, the last, and some between them at even distances."""
    if len(weeks) <= rows:
        return [*weeks]
    return [weeks[round(number * (len(weeks) - 1) / (rows - 1))] for number in range(rows)]


def _cells(week: WeekMetrics) -> list[str]:
    sizes = (f"{size / _MEGABYTE:.1f}" for size in (week.database, week.tree, week.index))
    tokens = (f"{week.prompt:.0f}", str(week.prompt_most), f"{week.memory:.0f}", str(week.memory_most))
    found = (f"{week.first:.0%}", f"{week.later:.0%}", str(week.guesses))
    return [
        *(str(week.day), str(week.live), str(week.records), *sizes, *tokens, *found),
        *(f"{1000 * week.night:.0f}", f"{1000 * week.turn:.0f}"),
    ]


def week_as_json(week: WeekMetrics) -> dict[str, Json]:
    """A week, for programs."""
    return asdict(week)
