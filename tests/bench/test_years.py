"""Simulated years: a short form of them is lived through, and their judge sees what is wrong."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from bench.report import TokenCaps
from bench.years import checks, plot
from bench.years.__main__ import main
from bench.years.run import WeekMetrics, YearsReport, simulate_years
from bench.years.talk import FactProbe, ScriptedMessage, TalkGenerator

LIMITS = TokenCaps(24_000, 5_300)
DAY = date(2026, 2, 14)
GOOD = WeekMetrics(7, 90, 100, 4_000_000, 200_000, 1_000_000, 50, 3_000, 4_000, 1_500, 2_000, 1.0, 1.0, 0, 0.1, 0.01)


def lived(*weeks: WeekMetrics, days: int = 0) -> YearsReport:
    """Years whose weeks are these, or so many like the good one, each a little more."""
    made = [
        replace(GOOD, day=7 * n, records=100 + n, database=4_000_000 + 100_000 * n) for n in range(1, days // 7 + 1)
    ]
    return YearsReport(TalkGenerator(1), list(weeks) or made or [GOOD])


def failures(years: YearsReport) -> list[str]:
    return checks.failures(years, LIMITS)


@pytest.mark.long
def test_memory_lives_through_five_weeks() -> None:
    """Told once on the first day and never again: known. Guessed then: gone. Nothing lost, and prompts stay small."""
    weeks: list[WeekMetrics] = []
    years = simulate_years(33, 2, weeks.append)
    assert checks.failures(years, LIMITS) == []
    assert years.weeks == weeks
    assert [week.day for week in weeks] == [7, 14, 21, 28, 33]
    assert [week.guesses for week in weeks][::4] == [3, 0]
    assert {week.first for week in weeks} == {1.0}
    assert years.facts_told > len(years.talk.first_day_facts)
    assert (years.lost_facts, years.unrecalled_facts, years.live_outdated) == ([], [], [])
    assert weeks[-1].records >= weeks[-1].live > weeks[0].live > 0
    assert all(week.night > 0 and week.turn > 0 and week.memory > 100 for week in weeks)


def test_talk_is_the_same_for_the_same_seed() -> None:
    """So many messages a day, in order, with the first day's own on top."""

    def said(seed: int) -> list[ScriptedMessage]:
        talk = TalkGenerator(50, seed)
        return [each for day in range(3) for each in talk.messages_of(DAY + timedelta(days=day), first=day == 0)]

    once = said(7)
    assert once == said(7) != said(8)
    talk = TalkGenerator(50)
    assert len(once) == 150 + len(talk.first_day_facts) + len(talk.guessed_facts)
    assert [each.at for each in once] == sorted(each.at for each in once)
    assert {each.kind for each in once} >= {"first", "guess", "later", "episode", "habit", "pad", "ask", "chatter"}
    assert all("{" not in text for each in once for text in (each.text, each.remember, each.chat_memory, each.working))


def test_a_correction_outdates_what_it_replaces() -> None:
    """What is true now is current, what was true before is outdated, until it is true again."""
    talk = TalkGenerator(50)
    corrections = [
        each for day in range(400) for each in talk.messages_of(DAY + timedelta(days=day)) if each.kind == "correction"
    ]
    current = {fact.text for fact in talk.current_facts.values()}
    assert len(corrections) > 8 * len(current)
    assert current
    assert current.isdisjoint(fact.text for fact in talk.outdated_facts)
    assert {each.remember for each in corrections} == current | {fact.text for fact in talk.outdated_facts}


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda years: years.unrecalled_facts.append("boat"),
            "told on the first day, and its question does not lead to it: boat",
        ),
        (lambda years: years.lost_facts.append("boat"), "told, never taken back, and not in memory: boat"),
        (lambda years: years.live_outdated.append("boat"), "outdated, and lives on: boat"),
        (lambda years: years.live_guesses.append("boat"), "guessed on the first day, and lives on: boat"),
    ],
)
def test_what_memory_did_wrong_is_named(spoil: Callable[[YearsReport], None], told: str) -> None:
    """A fact that is lost or not found, and one that should be gone."""
    years = lived(days=70)
    assert failures(years) == []
    spoil(years)
    assert failures(years) == [told]


def test_a_young_guess_may_still_live() -> None:
    """It has a month."""
    years = lived(days=28)
    years.live_guesses.append("boat")
    assert failures(years) == []


def test_more_lost_facts_than_can_be_named_are_counted() -> None:
    """The first few by their words."""
    years = lived(days=70)
    years.lost_facts += [f"boat {number}" for number in range(25)]
    assert len(failures(years)) == 11
    assert failures(years)[-1].endswith("15 more")


def test_what_is_not_bounded_is_named() -> None:
    """A prompt or its memory part that is too large, records that are gone, later facts that are not found."""
    assert failures(lived(replace(GOOD, prompt_most=24_001))) == ["a prompt had 24001 tokens, and may have 24000"]
    [told] = failures(lived(replace(GOOD, memory_most=5_301)))
    assert told.startswith("memory took 5301 tokens of a prompt")
    fewer = replace(GOOD, day=14, records=99)
    assert failures(lived(GOOD, fewer)) == ["day 14: there are fewer records than before"]
    [told] = failures(lived(replace(GOOD, later=0.85)))
    assert "only 85% were found" in told


def test_a_disk_that_grows_ever_faster_is_named_and_a_steady_one_is_not() -> None:
    """What the last quarter added a week is held against the second."""
    steady = lived(days=364)
    assert failures(steady) == []
    faster = [replace(week, database=4_000_000 + 3_000 * week.day**2) for week in steady.weeks]
    [told] = failures(lived(*faster))
    assert told.startswith("the disk grew ")
    larger = [replace(week, prompt=1_000 + 20 * week.day, prompt_most=23_000) for week in steady.weeks]
    [told] = failures(lived(*larger))
    assert told.startswith("prompts had ")


def test_the_table_shows_some_weeks_and_all_failures() -> None:
    """The first and the last week are among them."""
    years = lived(days=700)
    years.facts_told, years.lost_facts = 12, ["boat"]
    text = checks.report_of(years, failures(years), rows=5).as_markdown
    rows = [line for line in text.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert [row.split()[1] for row in rows] == ["7", "182", "357", "525", "700"]
    assert "12 facts were told that should live; 11 do." in text
    assert text.endswith("- told, never taken back, and not in memory: boat")


@pytest.fixture
def years(monkeypatch: pytest.MonkeyPatch) -> YearsReport:
    """The years that the command will have lived through."""
    made = lived(days=21)

    def lives(_days: int, _per_day: int, tell: Callable[[WeekMetrics], None]) -> YearsReport:
        for week in made.weeks:
            tell(week)
        return made

    monkeypatch.setattr("bench.years.run.simulate_years", lives)
    return made


def test_the_command_shows_writes_and_fails(
    years: YearsReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table between the marks of a page; with --json a week an object; exit code 1 when something is wrong."""
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- years: begin -->\n<!-- years: end -->\nb\n", "utf-8")
    assert main(["--days", "21", "--write", str(page)]) == 0
    assert "| 21 | 90 | 103 |" in page.read_text("utf-8")
    years.talk.later_facts.append(FactProbe("boat", "Which boat?"))
    years.lost_facts.append("boat")
    capsys.readouterr()
    assert main(["--json"]) == 1
    *weeks, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert [week["day"] for week in weeks] == [7, 14, 21]
    assert last["failures"] == ["told, never taken back, and not in memory: boat"]
    assert main(["--days", "0"]) == 2


def test_a_plot_without_its_library_says_what_to_install(
    years: YearsReport, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any day is lived through."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["--plot", str(tmp_path / "years.png")]) == 78
    said = capsys.readouterr()
    assert "pip install 'kenobot[plots]'" in said.err
    assert said.out == ""


def test_a_plot_is_a_picture(tmp_path: Path) -> None:
    """Where there is a library that draws."""
    pytest.importorskip("matplotlib")
    file = tmp_path / "years.png"
    plot.draw(lived(days=70).weeks, str(file))
    assert file.read_bytes().startswith(b"\x89PNG")
