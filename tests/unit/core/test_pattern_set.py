"""The owner's own patterns mean what they mean everywhere, and cost linear time whatever they are."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenobot.core.pattern_set import MAX_PATTERNS, InvalidPattern, PatternSet
from tests.cost import assert_linear

_PLENTY = 10**6
_CHARS = st.sampled_from(["a", "b", "c", "ñ", ".", r"\w", r"\s", r"\d", r"\W", "[ab]", "[^a]", "[a-c\\d]", " ", r"\."])
_EDGES = st.sampled_from(["^", "$", r"\b", r"\B"])
_REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda both: f"(?:{both[0]}|{both[1]})"),
        st.tuples(inner, _REPEATS).map(lambda both: f"(?:{both[0]}){both[1]}"),
        st.tuples(_EDGES, inner).map("".join),
        st.tuples(inner, _EDGES).map("".join),
    )


_PATTERNS = st.recursive(_CHARS, _grown, max_leaves=6).filter(str.strip)


@settings(max_examples=150)
@given(_PATTERNS, st.text("abcñ Z1\n.", min_size=1, max_size=10))
def test_a_pattern_means_what_it_means_to_python(pattern: str, text: str) -> None:
    r"""What both languages can say is found in the same texts. (In an empty one, Python finds no \B; we do.)"""
    wanted = re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None
    assert PatternSet([pattern]).search(text, _PLENTY) == wanted


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b", "(.*)*x", r"(\w+\s*)+z", "(a?){40}a{40}", ".*.*.*.*.*z"])
def test_a_catastrophic_pattern_costs_linear_time(pattern: str) -> None:
    """What would keep a backtracking matcher busy for years is over at once."""
    automaton = PatternSet([pattern])
    assert_linear(lambda text: automaton.search(text, 2500), "a" * 2000 + "!")


def test_work_is_bounded_for_a_text_of_ever_new_characters() -> None:
    """A text that the automaton has no state for yet ends its search instead of growing it."""
    automaton = PatternSet([r"(\w+\s*)+x{3}z"] * 10)
    text = "".join(map(chr, range(0x4E00, 0x8000)))
    assert not automaton.search(text, 2500)
    assert_linear(lambda part: automaton.search(part, 2500), text)


def test_states_are_forgotten() -> None:
    """What was built for one text after the other is thrown away before there is much of it."""
    automaton = PatternSet([r"a.{30}b"])
    for number in range(60):
        automaton.search("".join(chr(0x4E00 + (number * 400 + at) % 20_000) for at in range(400)), _PLENTY)
    assert automaton._moves <= 10_001


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("(a", "( without its end"),
        ("a)", ") without its ("),
        ("[a", "[ without its end"),
        ("[b-a]", "ends before it begins"),
        ("*a", "nothing to repeat"),
        ("a**", "two repeat signs"),
        ("a{3,2}", "whose end comes before its beginning"),
        ("a{51}", "more than 50"),
        ("^*", "a repeated edge"),
        (r"(a)\1", "not supported"),
        ("(?=a)", "not supported"),
        ("(?P<x>a)", "not supported"),
        ("a\\", "without its end"),
        ("x" * 201, "longer than 200"),
        ("(" * 30 + "a" + ")" * 30, "groups more than 20 deep"),
        ("((a{50}){50}){50}", "too long"),
    ],
)
def test_what_cannot_be_used_is_refused_in_plain_words(pattern: str, problem: str) -> None:
    """The owner is told what is wrong, at the start, instead of waiting for a signal that never comes."""
    with pytest.raises(InvalidPattern) as caught:
        PatternSet([pattern])
    assert problem in str(caught.value)


def test_there_may_be_fifty() -> None:
    """The number of patterns has a limit, too."""
    assert PatternSet(["bitte merken"] * MAX_PATTERNS).search("Bitte merken: Tabs", _PLENTY)
    with pytest.raises(InvalidPattern):
        PatternSet(["a"] * (MAX_PATTERNS + 1))


def test_any_of_them_is_enough() -> None:
    """Patterns are alternatives; none matches nothing."""
    assert PatternSet(["standup notes", r"bitte\s+merken"]).search("So: bitte  merken!", _PLENTY)
    assert not PatternSet(["standup notes", r"bitte\s+merken"]).search("merken, bitte", _PLENTY)
    assert not PatternSet([]).search("anything", _PLENTY)
