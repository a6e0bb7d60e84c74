"""What a turn makes the bot do, counted: what is held to which bound, and how it is shown."""

import sys
import tomllib

from bench.counts import BOUNDS, GATED, judge, table, to_toml
from bench.quick.__main__ import ROOT
from bench.quick.count import COUNTS, KINDS
from bench.quick.counted import _Thread

_COUNTS = {kind: dict.fromkeys(COUNTS, 1000.0) for kind in KINDS}


def _changed(kind: str, key: str, value: float) -> dict[str, dict[str, float]]:
    return {**_COUNTS, kind: {**_COUNTS[kind], key: value}}


def test_every_count_of_a_single_turn_is_held_to_a_bound() -> None:
    bounds = tomllib.loads(BOUNDS.read_text("utf-8"))

    assert {kind: tuple(held) for kind, held in bounds.items()} == GATED
    assert all(bound > 0 for held in bounds.values() for bound in held.values())


def test_what_is_written_holds_what_was_counted() -> None:
    assert judge(_COUNTS, tomllib.loads(to_toml(_COUNTS))) == []


def test_a_count_that_rises_by_more_than_a_tenth_fails_and_is_named() -> None:
    bounds = tomllib.loads(to_toml(_COUNTS))

    assert judge(_changed("single", "statements", 1099.0), bounds) == []
    [failure] = judge(_changed("single", "statements", 1101.0), bounds)
    assert "SQL statements: 1,101.0" in failure


def test_turns_in_a_row_may_waver_more() -> None:
    bounds = tomllib.loads(to_toml(_COUNTS))

    assert judge(_changed("row", "calls", 1299.0), bounds) == []
    assert judge(_changed("row", "calls", 1301.0), bounds)
    assert judge(_changed("row", "reads", 5000.0), bounds) == []


def test_what_the_clock_sets_off_is_no_rise() -> None:
    bounds = {"single": {"reads": 3.0, "callbacks": 50.0}}

    assert judge({"single": {"reads": 7.0, "callbacks": 60.0}}, bounds) == []
    assert len(judge({"single": {"reads": 7.1, "callbacks": 60.1}}, bounds)) == 2


def test_the_table_shows_every_kind_and_count_and_beside_another_commit_the_ratio() -> None:
    shown = "\n".join(table(_COUNTS, _changed("single", "calls", 2000.0)))

    assert all(word in shown for word in (*KINDS, *COUNTS, *COUNTS.values()))
    assert "(0.50)" in shown


def test_a_call_is_counted_for_the_function_that_makes_it() -> None:
    def work() -> None:
        len([])

    thread = _Thread("loop")
    before = sys.getprofile()
    sys.setprofile(thread.note)
    work()
    sys.setprofile(before)

    assert thread.called[work.__code__] == 2


def test_continuous_integration_counts() -> None:
    assert "\nmake bench-counts\n" in (ROOT / ".ci" / "run").read_text("utf-8")
