"""The one order of trust: every pair, the words it does not know, and what a room asks of it."""

from itertools import product
from typing import get_args

from kenobot.ports.identity import LEAST_TRUSTED_FIRST, QUOTED_TRUST, Trust, least_trusted, parse_trust, trust_rank
from tests.cases import each


def test_the_order_names_every_trust_once() -> None:
    assert sorted(LEAST_TRUSTED_FIRST) == sorted(get_args(Trust))


@each(("one", "other"), [*product(LEAST_TRUSTED_FIRST, repeat=2)])
def test_what_draws_on_two_is_trusted_as_the_lesser(one: Trust, other: Trust) -> None:
    lesser = min(one, other, key=("forward", "tool", "model", "guest", "owner").index)
    assert least_trusted((one, other), "owner") == least_trusted((other, one), "owner") == lesser
    assert (trust_rank(one) < trust_rank(other)) == (lesser == one != other)


def test_words_it_does_not_know_are_left_out() -> None:
    assert least_trusted(("stranger", "guest"), "tool") == "guest"
    assert least_trusted((), "model") == least_trusted(("stranger",), "model") == "model"
    assert parse_trust("owner", "forward") == "owner"
    assert parse_trust("stranger", "forward") == "forward"


def test_quotations_are_trusted_least() -> None:
    assert set(LEAST_TRUSTED_FIRST[: len(QUOTED_TRUST)]) == QUOTED_TRUST
