"""Where the time of answers goes is stored with each turn, and `kenobot stats` sums it up."""

import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kenobot.cli import main
from kenobot.core.percentiles import distribution, percentile
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Delta, Request
from kenobot.storage.turn_stats import group_turns, last_turn, read_turns
from kenobot_testing.clock import START, EagerClock, ManualClock
from tests.scene import Scene


class Slow:
    """A provider whose first word takes two seconds and the rest of its answer three more, on the test's clock."""

    name = "slow"
    rule_based = False

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.failures = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        await self.clock.sleep(2)
        if self.failures:
            self.failures -= 1
            raise Unavailable("down")
        yield Delta("Well, ")
        await self.clock.sleep(3)
        yield Delta("then.", "end_turn", None, "slow-1")


async def test_each_turn_keeps_where_its_time_went(tmp_path: Path) -> None:
    """What the model took is told apart from its first word; a failed call is a retry; delivery is on the disk."""
    clock = EagerClock()
    provider = Slow(clock)
    async with Scene(tmp_path, provider=provider, clock=clock) as scene:
        await scene.say("Hello")
        first = await scene.app.database.read(last_turn)
        provider.failures = 1
        await scene.say("Again")
        second = await scene.app.database.read(last_turn)
    assert first is not None
    assert second is not None
    assert (first.phases["first word"], first.phases["model"], first.retries) == (2000, 5000, 0)
    assert (first.channel, first.model, first.millis) == ("telegram", "slow-1", 5000)
    assert "delivery" in first.phases
    assert second.retries == 1
    assert second.phases["pauses"] > 0
    assert second.millis is not None
    assert second.millis >= 7000


async def test_the_times_of_a_window_are_summed_by_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only turns of the window count; --json and --csv have the same figures; without any the exit code is 2."""
    clock = EagerClock()
    async with Scene(tmp_path, provider=Slow(clock), clock=clock) as scene:
        await scene.say("Hello")
        await scene.say("/status")
        rows = await scene.app.database.read(lambda connection: read_turns(connection, START))
        later = clock.now() + timedelta(days=2)
        none = await scene.app.database.read(lambda connection: read_turns(connection, later))
    assert [group.turns for group in group_turns(rows, "hour", ZoneInfo("UTC"))] == [1]
    assert none == []

    def run(clock: Clock, *words: str) -> tuple[int, str]:
        code = main(["--home", str(tmp_path / "home"), "stats", *words], clock)
        return code, capsys.readouterr().out

    code, told = run(clock, "--json")
    figures = json.loads(told)
    assert code == 0
    assert figures["all"]["times"]["p95"] == 5000
    assert figures["messages"]["ends"] == {"answered": 2}
    code, told = run(clock, "--csv", "--by", "model")
    table = list(csv.DictReader(io.StringIO(told)))
    assert (code, table[0]["model"], table[0]["phase"], table[0]["p50"]) == (0, "slow-1", "whole", "5000")
    code, told = run(clock)
    assert code == 0
    assert "5.0 s" in told
    assert run(ManualClock(START + timedelta(days=40)))[0] == 2


async def test_the_times_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a picture with each group and phase by name; where it cannot be written, a plain line says so."""
    pytest.importorskip("matplotlib", reason="nothing draws: pip install 'kenobot[plots]'")
    clock = EagerClock()
    async with Scene(tmp_path, provider=Slow(clock), clock=clock) as scene:
        await scene.say("Hello")
    for name, begins in (("times.svg", b"<?xml"), ("times.png", b"\x89PNG")):
        file = tmp_path / name
        assert main(["--home", str(tmp_path / "home"), "stats", "--by", "model", "--plot", str(file)], clock) == 0
        assert str(file) in capsys.readouterr().out
        assert file.read_bytes().startswith(begins)
    drawn = (tmp_path / "times.svg").read_text("utf-8")
    assert all(name in drawn for name in ("slow-1", "first word", "p95"))
    wrong = str(tmp_path / "none" / "times.svg")
    assert main(["--home", str(tmp_path / "home"), "stats", "--plot", wrong], clock) == 78
    assert "cannot be written" in capsys.readouterr().err


def test_percentiles_are_values_that_were_measured() -> None:
    """By the nearest rank, as for few values there is nothing between two of them."""
    assert distribution([]) == (0, 0, 0, 0, 0, 0)
    assert distribution([30, 10, 20]) == (3, 20, 20, 30, 30, 30)
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([7], 0.01) == 7
