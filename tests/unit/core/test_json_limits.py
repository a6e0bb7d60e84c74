"""JSON from outside is bounded before anything walks through it."""

import pytest

from kenobot.core.json_limits import DEEPEST, MOST_CHARS, find_excess


def _nest(depth: int, *, as_object: bool) -> object:
    value: object = "x"
    for _ in range(depth):
        value = {"a": value} if as_object else [value]
    return value


@pytest.mark.parametrize("as_object", [True, False])
@pytest.mark.parametrize(
    ("depth", "fits"), [(0, True), (DEEPEST, True), (DEEPEST + 1, False), (900, False), (50_000, False)]
)
def test_depth_is_bounded(depth: int, fits: bool, as_object: bool) -> None:
    """However deep it is, the look at it ends."""
    excess = find_excess(_nest(depth, as_object=as_object))
    assert excess == ("" if fits else f"they are nested more than {DEEPEST} levels deep")


@pytest.mark.parametrize(
    "value",
    [
        "x" * MOST_CHARS,
        {"x" * MOST_CHARS: 1},
        [None] * MOST_CHARS,
        [[""] * 1000] * 200,
        {"a": ["x" * 50_000] * 4},
    ],
    ids=["text", "key", "list", "lists", "texts"],
)
def test_size_is_bounded(value: object) -> None:
    """Long texts and keys, and many short values."""
    assert find_excess(value) == f"they are longer than {MOST_CHARS} characters"


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400, -(10**400)])
def test_what_no_json_holds_is_refused(value: float) -> None:
    """`1e999` is read as infinity, and written as what is no JSON."""
    assert find_excess({"a": [value]}) == "they hold a number that is too large"


@pytest.mark.parametrize(
    "value",
    [{}, [], None, True, "", 10**300, -1.5, {"a": [{"b": [1, 2.5, None, "ñ"]}]}, [[]] * 1000, "x" * 100_000],
)
def test_what_tools_are_given_fits(value: object) -> None:
    """Wide and flat values, long texts and large numbers."""
    assert find_excess(value) == ""
