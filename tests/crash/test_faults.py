"""Short forms of what `make crash` plays beside kills: stops, a second instance, a power cut, damaged files."""

import pytest

from tests.crash import damage, outputs, power, stops
from tests.crash.damage import Case
from tests.crash.tools import no_freeze
from tests.crash.world import Lab

pytestmark = [pytest.mark.crash, pytest.mark.asyncio(loop_scope="session")]


async def test_sigterm_at_each_stage_and_a_second_instance_cost_nothing(lab: Lab) -> None:
    """It ends with 0, sends what is nearly ready, answers the rest once after a restart; a second one is refused."""
    lines = await stops.play(lab, stops.SHORT)
    assert [what for line in lines for what in line.broken] == []
    assert [line.times for line in lines] == [len(stops.SHORT.stages), len(stops.SHORT.early), stops.SHORT.seconds]
    assert sum(line.lost + line.doubled for line in lines) == 0


async def test_a_power_cut_takes_nothing_that_was_acknowledged(lab: Lab) -> None:
    """Two cuts: what Telegram and people had been told is on the disk that the next start gets."""
    if missing := no_freeze():
        pytest.skip(f"power cannot be cut here: {missing}")
    line = await power.play(lab, cuts=2, worlds=1)
    assert line.broken == []
    assert (line.times, line.lost, line.doubled) == (2, 0, 0)


async def test_damaged_files_are_told_in_plain_words_or_lived_with_and_never_written_over(lab: Lab) -> None:
    """A database of nothing but zeros, broken settings, and all memory files with flipped bits."""
    chosen = [Case(("database",), "zeroed"), Case(("settings",), "truncated"), Case(damage.TEXTS, "flipped bits")]
    line = await damage.play(lab, chosen)
    assert line.broken == []
    assert (line.times, line.lost) == (3, 0)


async def test_a_chat_whose_output_fails_ends_and_the_next_one_prints_its_answers(lab: Lab) -> None:
    """With 1 and in one line; nothing that was taken in is lost or answered twice."""
    [line] = await outputs.play(lab, rounds=1)
    assert line.broken == []
    assert (line.lost, line.doubled) == (0, 0)
    assert line.times and line.messages
