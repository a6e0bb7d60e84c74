"""The score: one function, each part bounded and explained."""

import math

import pytest

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.scoring.score import (
    ScoreFeatures,
    choose_most_valuable,
    diversify,
    feedback_delta,
    fuse_relevance,
    score,
)
from kenobot.cognitive.recall.search.judge import relevance_level

_POLICY = RecallPolicy()


def test_the_weights_are_the_seeds() -> None:
    """.50 relevance, .20 importance, .10 recency, .05 stability, .15 subject."""
    known = ScoreFeatures(relevance=0.8, importance=0.5, idle_days=30, stability=2.5, mentioned=True)
    parts = score(known, _POLICY).parts
    assert {name: round(part, 3) for name, part in parts.items()} == {
        "relevance": 0.4,
        "importance": 0.1,
        "recency": 0.05,
        "stability": 0.025,
        "subject": 0.15,
    }


def test_an_insight_counts_half() -> None:
    """Whatever it is made of."""
    plain, insight = ScoreFeatures(relevance=1), ScoreFeatures(relevance=1, category="insight")
    assert score(insight, _POLICY).value == pytest.approx(0.5 * score(plain, _POLICY).value)


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf, -3.0, 99.0])
def test_strange_numbers_make_no_strange_scores(strange: float) -> None:
    """No NaN, and nothing beyond the sum of the weights."""
    known = ScoreFeatures(
        strange, importance=strange, idle_days=0 if math.isnan(strange) else abs(strange), stability=strange
    )
    assert -0.2 <= score(known, _POLICY).value <= 1


def test_doubt_costs_and_trust_pays() -> None:
    """Disputed below stale below candidate below validated below active; faded confidence costs too."""
    values = [
        score(ScoreFeatures(relevance=0.5, lifecycle=state, verification=word, current_confidence=effective),
        _POLICY).value for state, word, effective in [
            ("active", "disputed", 1.0), ("stale", "", 1.0), ("", "", 0.1), ("candidate", "", 1.0), ("", "", 1.0),
            ("validated", "", 1.0), ("active", "", 1.0),
        ]
    ]  # fmt: skip
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_a_yes_adds_and_a_no_takes_up_to_a_cap() -> None:
    """No number of either decides alone."""
    assert [round(feedback_delta(up, down, _POLICY), 2) for up, down in ((1, 0), (9, 0), (0, 1), (0, 9), (-3, 0))] == [
        0.05, 0.15, -0.1, -0.3, 0,
    ]  # fmt: skip


def test_two_signs_are_worth_more_than_either_and_never_more_than_all() -> None:
    """Words and meaning."""
    assert fuse_relevance(0.4, None) == 0.4
    assert 0.6 < fuse_relevance(0.4, 0.6) < 1
    assert fuse_relevance(1, 1) == 1
    assert fuse_relevance(0, 0.7) == 0.7


def test_what_repeats_what_stands_there_comes_later() -> None:
    """By the words they share."""
    items = [(0.95, frozenset("abc")), (0.94, frozenset("abc")), (0.93, frozenset("xyz"))]
    assert diversify(items, 0.7, 3) == [0, 2, 1]
    assert diversify(items, 1.0, 3) == [0, 1, 2]


def test_packing_takes_what_is_worth_most_for_the_room() -> None:
    """Two small memories rather than one large one, and one large one rather than many worthless ones."""
    items = [("large", 0.5, 100), ("small", 0.4, 50), ("other", 0.4, 50), ("tiny", 0.01, 1)]
    assert choose_most_valuable(items, 100) == ["small", "other"]
    assert choose_most_valuable([("large", 0.9, 100), ("tiny", 0.02, 1)], 100) == ["large"]
    assert choose_most_valuable(items, 201) == ["large", "small", "other", "tiny"]
    assert len(choose_most_valuable([(str(n), 1.0, 1000) for n in range(20)], 9000)) >= 8
    assert choose_most_valuable(items, 0) == []


def test_confidence_has_four_levels() -> None:
    """none only where nothing was found."""
    assert [relevance_level(value, _POLICY) for value in (0, 0.2, 0.4, 0.8)] == ["none", "low", "medium", "high"]
