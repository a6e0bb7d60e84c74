"""The quick bench: it plays a whole bot in a process of its own, in any checkout."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bench.quick.__main__ import table
from bench.quick.play import COMMANDS, DIGEST, PREFIX, TALK, Plan, Played, Stage
from bench.quick.process import Checkout, Running
from bench.quick.scene import step_name
from tests.soak.probe import WITHIN_MS, ProbeResult, report

pytestmark = pytest.mark.long

_ROOT = Path(__file__).resolve().parents[2]
_SMALL = Plan(
    1, sequential=10, parallel=50, remembered=50, single=0, past_turns=200, past_memories=50, quiet_seconds=0.6
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    stage = Stage(_ROOT, tmp_path_factory.mktemp("quick"), _SMALL)
    digested = stage.digest()
    played = stage.play(["empty", "lived"])
    return replace(played, figures={**digested, **played.figures})


def test_each_home_has_every_figure_and_the_commands_are_measured_once(played: Played) -> None:
    of_homes = {PREFIX[home] + key for home in played.steps for key in TALK if not key.startswith("single_")}

    assert set(played.figures) == {*COMMANDS, *of_homes, DIGEST}


def test_no_figure_of_a_bot_that_answered_is_nothing(played: Played) -> None:
    nothing = {key for key, value in played.figures.items() if value <= 0}

    assert nothing <= {"long_steps", "lived_long_steps"}


def test_the_process_itself_causes_no_more_of_a_pause_than_there_is(played: Played) -> None:
    assert played.figures["own_pause_ms"] <= played.figures["pause_ms"]


def test_a_turn_takes_no_less_than_its_median_and_names_the_longest_step(played: Played) -> None:
    assert played.figures["p99_ms"] >= played.figures["p50_ms"]
    assert all(played.steps.values())


def test_every_step_above_two_milliseconds_is_named(played: Played) -> None:
    for home, found in played.long_steps.items():
        assert sum(found.values()) == played.figures[f"{PREFIX[home]}long_steps"]


async def test_a_step_is_named_by_its_task_and_by_what_this_waits_for() -> None:
    async def inner() -> None:
        await asyncio.get_running_loop().create_future()

    async def outer() -> None:
        await inner()

    task = asyncio.create_task(outer())
    await asyncio.sleep(0)
    named = step_name(asyncio.Handle(task.cancel, (), asyncio.get_running_loop()))
    task.cancel()

    assert named == f"{outer.__qualname__} … {inner.__qualname__}"


def test_the_table_shows_every_key_and_what_it_means(played: Played) -> None:
    shown = "\n".join(table(played))

    assert all(key in shown and meaning in shown for key, meaning in {**COMMANDS, **TALK}.items())


def test_a_setting_is_known_by_its_section(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "kenobot.toml").write_text(
        "# x\n[loop]\n# days = 1\n\n[memory]\n# Words.\n# embedder = 'a'\n"
    )
    checkout = Checkout(tmp_path, tmp_path)

    assert checkout.knows("memory", "embedder")
    assert not checkout.knows("memory", "days")


def test_a_command_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    checkout = Checkout.planted(_ROOT, tmp_path / "plugins")

    with pytest.raises(RuntimeError, match="unknown command 'nonsense'"):
        checkout.once("nonsense")


def test_each_command_of_a_probe_is_answered_and_counted(tmp_path: Path) -> None:
    checkout = Checkout.planted(_ROOT, tmp_path / "plugins")

    with Running(checkout, tmp_path / "home", "none") as bot:
        times = bot.probe(1.0)

    assert len(times) == 20
    assert min(times) > 0


@pytest.mark.parametrize(
    ("worst", "finished", "passed"),
    [(WITHIN_MS - 1, True, True), (WITHIN_MS + 1, True, False), (WITHIN_MS - 1, False, False)],
)
def test_a_probe_passes_when_the_work_ended_and_nobody_waited(worst: float, finished: bool, passed: bool) -> None:
    result = ProbeResult("a night runs", (1.0,) * 50 + (worst,) * 50, finished)

    assert result.passed is passed
    assert ("**no**" in report([result])) is not passed


def test_a_bot_that_cannot_start_is_told_with_the_place_of_its_last_words(tmp_path: Path) -> None:
    checkout = Checkout.planted(_ROOT, tmp_path / "plugins")
    (checkout.plugins / "bench_plugins.py").write_text("raise RuntimeError('broken')\n")

    with pytest.raises(RuntimeError, match=r"did not start: .*home\.log"), Running(checkout, tmp_path / "home", "none"):
        pass

    assert "broken" in (tmp_path / "home.log").read_text("utf-8")
