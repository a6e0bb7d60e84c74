"""Many cases in one test: all of them run, and those that fail are told."""

import pytest

from tests.cases import each


@each("number, word", [(1, "one"), (2, "two"), (3, "three")])
def _check(number: int, word: str, seen: list[int]) -> None:
    seen.append(number)
    if word == "one":
        raise ValueError(word)
    if word == "two":
        pytest.fail(word)


def test_a_case_that_fails_hides_no_other() -> None:
    """Each case is tried, and each failure says which it was."""
    seen: list[int] = []
    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases") as told:
        _check(seen=seen)
    assert seen == [1, 2, 3]
    notes = [error.__notes__ for error in told.value.exceptions]
    assert notes == [["case: number=1, word='one'"], ["case: number=2, word='two'"]]


@each("word", lambda: ["late"])
async def test_cases_are_found_when_a_test_runs(word: str) -> None:
    """A function is asked for them then, also before a test that waits."""
    assert word == "late"
