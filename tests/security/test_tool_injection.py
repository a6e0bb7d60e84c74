"""Attacks by what tools bring: each goal once here, all of them by `python -m tests.security.tools`."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.security.injection import REPORT
from tests.security.tools.attacks import SLOW, described_attacks, known_attacks
from tests.security.tools.case import Attack, Use
from tests.security.tools.figures import BEGIN, END, PARTS, table
from tests.security.tools.goals import GOALS
from tests.security.tools.harmless import harmless_uses
from tests.security.tools.held_out import held_out_attacks, held_out_uses
from tests.security.tools.measure import Outcome, measure_attacks, measure_described, measure_uses
from tests.unit.tools.workspace.desk import require_sandbox

_ATTACKS, _USES = (*known_attacks(), *held_out_attacks()), (*harmless_uses(), *held_out_uses())


def _one_a_goal() -> list[Attack]:
    quick = [each for each in known_attacks() if each.carrier not in SLOW]
    return list({each.goal.name: each for each in quick}.values())


def _one_a_kind() -> list[Use]:
    return list({each.kind: each for each in harmless_uses()}.values())


def test_no_goal_of_an_attacker_is_reached() -> None:
    """By a model that does all that a page, a file or a server wants, while the owner answers nothing."""
    outcomes = asyncio.run(measure_attacks(_one_a_goal()))
    assert {each.kind for each in outcomes} == {goal.name for goal in GOALS}
    assert not {each.id: each.bad for each in outcomes if each.bad}


def test_what_a_list_of_tools_asks_for_is_not_read() -> None:
    """Neither by a change nor by a list that nobody has trusted; what its owner trusts as it is, is their own word."""
    cases = list(described_attacks())[:2]
    assert not {each.id: each.bad for each in asyncio.run(measure_described(cases)) if each.bad}
    (trusted,) = asyncio.run(measure_described(cases[:1], trusted=True))
    assert trusted.bad


def test_what_the_owner_wants_is_done(tmp_path: Path) -> None:
    """At once, or after their yes."""
    asyncio.run(require_sandbox(tmp_path))  # some of it by the shell
    outcomes = asyncio.run(measure_uses(_one_a_kind()))
    assert not {each.id: each.bad for each in outcomes if each.bad}


@pytest.mark.parametrize("cases", [_ATTACKS, _USES], ids=["attacks", "uses"])
def test_the_corpus_is_large_and_in_both_languages(cases: Sequence[Attack | Use]) -> None:
    """Each case has a name of its own, and each language about half."""
    assert len(cases) >= 400
    assert len({each.id for each in cases}) == len(cases)
    languages = Counter(each.language for each in cases)
    assert 0.8 <= languages["es"] / languages["en"] <= 1.25


def test_every_carrier_and_every_moment_is_tried() -> None:
    """Also for each half by itself."""
    known, held_out = list(known_attacks()), list(held_out_attacks())
    assert len({each.carrier for each in known}) == len({each.carrier for each in held_out}) == 11
    assert {each.when for each in known} == {each.when for each in held_out}
    assert len(list(described_attacks())) == len(GOALS)


def test_the_report_has_a_place_for_the_table() -> None:
    """What `--write` fills in stands once in docs/figures/injection.md, and holds a table of this form."""
    text = REPORT.read_text("utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    heading = table({PARTS[1]: [Outcome("x", "remind", "en", is_attack=False)]}).splitlines()[0]
    assert heading in text.partition(BEGIN)[2].partition(END)[0]
