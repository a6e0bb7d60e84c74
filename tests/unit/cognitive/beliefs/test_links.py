"""How sure a link is, whatever numbers are read or asked."""

import math

import pytest

from kenobot.cognitive.beliefs.links import decay_confidence, raise_confidence, read_confidence
from kenobot.cognitive.policy.beliefs import GraphPolicy

_BAD = (math.nan, math.inf, -math.inf)


@pytest.mark.parametrize("number", [None, *_BAD])
def test_a_link_without_a_usable_confidence_is_sure(number: float | None) -> None:
    """Missing, no number, or without end: as one that was written without any; others stay within 0 and 1."""
    assert read_confidence(number) == 1.0
    assert (read_confidence(-0.5), read_confidence(1.7)) == (0.0, 1.0)


@pytest.mark.parametrize("growth", [-0.2, *_BAD])
def test_a_repeat_never_changes_confidence_by_a_growth_that_is_none(growth: float) -> None:
    """A negative one, or no number, adds nothing."""
    assert raise_confidence(0.6, growth) == 0.6


@pytest.mark.parametrize("number", _BAD)
def test_a_link_does_not_sink_by_a_policy_that_is_no_number(number: float) -> None:
    """Whether the floor or the step is none: confidence stays as it is."""
    assert decay_confidence(0.9, 400, GraphPolicy(min_confidence=number)) == 0.9
    assert decay_confidence(0.9, 400, GraphPolicy(loss_per_period=number)) == 0.9
