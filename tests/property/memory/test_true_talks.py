"""Talks of true statements: nothing that was told and kept is lost or changed, whatever is said beside it.

TALKS says how many are held, FIRST_TALK which is the first of them; `make fuzz` holds two thousand new ones.
"""

import os
from random import Random

import pytest

from tests.property.effort import is_fuzzing
from tests.property.memory.talk_house import Counts, hold_talk, shorten
from tests.property.memory.true_talks import Talk

pytestmark = pytest.mark.long

_SHORT, _LONG = 40, 2000
_SHORTENED = 3  # talks with a harm whose needless messages are left out
_NIGHT = 10  # one talk in so many ends with a night


def _seeds() -> range:
    first = int(os.environ.get("FIRST_TALK") or (Random().randrange(10**9) if is_fuzzing() else 0))
    return range(first, first + int(os.environ.get("TALKS") or (_LONG if is_fuzzing() else _SHORT)))


async def test_what_is_told_stays() -> None:
    """Every fact that was kept is live, word for word, but for the one that an explicit form names."""
    counts, harms, seeds = Counts(), list[str](), _seeds()
    for seed in seeds:
        lines, night = [*Talk(Random(seed)).lines()], seed % _NIGHT == 0
        found = await hold_talk(lines, seed, counts, night=night)
        if found:
            least = lines if len(harms) > _SHORTENED else await shorten(lines, seed, night=night)
            harms.append("\n  ".join([f"FIRST_TALK={seed} TALKS=1", *found, f"least: {[each.text for each in least]}"]))
    print(f"talks {seeds.start} to {seeds.stop - 1}: {counts}; with a harm: {len(harms)}")
    assert not harms, f"{len(harms)} of {counts.talks} talks harmed what was told ({counts}):\n" + "\n".join(harms)
    assert counts.kept > counts.told * 0.6, f"too little is kept to mean anything: {counts}"
