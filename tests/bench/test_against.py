"""Two commits compared in pairs: what counts as worse, and what a busy machine does to it."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.against import (
    CPU_RATIO,
    GATED,
    HOMES,
    PAUSE_MS,
    PAUSES,
    Pair,
    baseline,
    collect_pairs,
    judge,
    main,
    sure_ratio,
    table,
    unpack,
)
from bench.quick.__main__ import ROOT
from bench.quick.play import COMMANDS, DIGEST, PREFIX, TALK

_KEYS = (*COMMANDS, *(PREFIX[home] + key for home in HOMES for key in TALK), DIGEST)


def _figures(changed: Mapping[str, float] | None = None) -> dict[str, float]:
    return {**dict.fromkeys(_KEYS, 10.0), **(changed or {})}


def _pairs(key: str, *values: float) -> list[Pair]:
    return [Pair(_figures(), _figures({key: value})) for value in values]


def test_the_same_twice_fails_nothing() -> None:
    assert judge([Pair(_figures(), _figures())] * 3) == []


@pytest.mark.parametrize("key", GATED)
def test_more_cpu_in_all_pairs_fails_and_names_the_figure(key: str) -> None:
    worse = 10 * (CPU_RATIO + 0.1)

    failures = judge(_pairs(key, worse, worse + 20, worse))

    assert len(failures) == 1
    assert failures[0].startswith(f"{key} is ")


@pytest.mark.parametrize("key", GATED)
def test_what_cost_no_more_in_one_pair_of_three_is_the_machine(key: str) -> None:
    assert judge(_pairs(key, 50.0, 10.0, 10.0)) == []
    assert judge(_pairs(key, 50.0, 10.0, 50.0)) == []


def test_both_slower_in_one_pair_is_the_machine() -> None:
    slow = dict.fromkeys(GATED, 1000.0)

    assert judge([Pair(_figures(), _figures()), Pair(_figures(slow), _figures(slow))]) == []


@pytest.mark.parametrize("key", PAUSES)
def test_a_long_pause_fails_only_when_it_comes_in_every_run(key: str) -> None:
    assert judge(_pairs(key, PAUSE_MS + 50, PAUSE_MS + 1, PAUSE_MS + 20))
    assert judge(_pairs(key, PAUSE_MS + 50, PAUSE_MS - 1, PAUSE_MS + 20)) == []


def test_before_anything_fails_as_many_pairs_again_are_measured() -> None:
    worse = _pairs(GATED[0], *[10 * (CPU_RATIO + 0.1)] * 6)

    assert len(collect_pairs(worse.__getitem__, 3, lambda: True)) == 6


def test_a_pair_that_turns_the_judgement_is_the_last() -> None:
    pairs = _pairs(GATED[0], 50.0, 50.0, 50.0, 50.0, 10.0, 50.0)

    found = collect_pairs(pairs.__getitem__, 3, lambda: True)

    assert len(found) == 5
    assert judge(found) == []


def test_no_pair_is_begun_when_the_time_is_over() -> None:
    times = iter([True, False])

    assert len(collect_pairs(_pairs(GATED[0], 10.0, 10.0, 10.0).__getitem__, 3, lambda: next(times))) == 2


def test_milliseconds_of_the_clock_are_held_to_nothing() -> None:
    clock = [key for key in _KEYS if key.endswith(("p50_ms", "p99_ms", "start_ms", "chat_ms")) or key in ("pause_ms",)]

    assert judge([Pair(_figures(), _figures(dict.fromkeys(clock, 10_000.0)))] * 3) == []


def test_pairs_that_differ_widely_fail_only_where_their_medians_do_too() -> None:
    key = PREFIX["lived"] + "memory_cpu_ms"
    pairs = [Pair(_figures({key: before}), _figures({key: now})) for before, now in ((8, 11), (10, 12.4), (12, 16))]

    assert judge(pairs) == []
    assert judge([*pairs, *_pairs(key, 14, 14, 14)])


def test_what_was_nothing_before_has_no_ratio() -> None:
    pairs = [Pair(_figures({"long_steps": 0.0}), _figures())]

    assert sure_ratio(pairs, "long_steps") is None
    assert any(line.startswith("long_steps") for line in table("abc", pairs))


def test_the_baseline_is_one_commit() -> None:
    assert len(baseline()) == 40
    assert set(baseline()) <= set("0123456789abcdef")


def test_a_commit_is_unpacked_whole(tmp_path: Path) -> None:
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        pytest.skip("no repository here")

    unpack("HEAD", tmp_path / "tree")

    assert (tmp_path / "tree" / "pyproject.toml").is_file()
    assert (tmp_path / "tree" / "kenobot" / "cognitive").resolve() == (tmp_path / "tree" / "cognitive").resolve()


def test_a_commit_that_is_not_here_is_a_plain_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-commit"]) == 78
    assert "no-such-commit" in capsys.readouterr().err


def test_a_baseline_that_cannot_be_had_is_told_and_fails_nobody(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("bench.against.ROOT", tmp_path)

    assert main(["--short"]) == 0
    assert baseline() in (told := capsys.readouterr().err)
    assert "Nothing was compared" in told


def test_without_git_nothing_is_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert main(["--short"]) == 0
    assert "Git is not installed" in capsys.readouterr().err


def test_continuous_integration_compares_with_the_baseline() -> None:
    assert "\nmake bench-against SHORT=1 " in (ROOT / ".ci" / "run").read_text("utf-8")


def test_without_time_nothing_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--short", "--seconds", "-5"]) == 0
    assert "nothing was compared" in capsys.readouterr().err
