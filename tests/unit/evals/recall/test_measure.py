"""The figures are those that the field means by their names."""

import pytest

from kenobot_evals.recall.metrics import percentiles, roc_auc, score_ranking, scores_by_category


def test_recall_is_the_share_of_the_answer_among_the_first() -> None:
    """Each answering unit counts the same; a hit is any of them."""
    found = score_ranking([f"x{at}" for at in range(5)] + ["a"], ["a", "b"], "kind")
    assert (dict(found.recall), dict(found.hit), found.rank) == (
        {5: 0.0, 10: 0.5, 20: 0.5},
        {5: 0.0, 10: 1.0, 20: 1.0},
        6,
    )


def test_ndcg_is_one_for_the_best_order_and_less_for_others() -> None:
    """1/log2(place + 1) for each, against the best that could be."""
    assert score_ranking(["a", "b", "x"], ["a", "b"], "kind").ndcg == 1.0
    assert score_ranking(["x", "a"], ["a"], "kind").ndcg == pytest.approx(0.6309, abs=1e-4)


def test_a_unit_counts_once() -> None:
    """A ranking that repeats itself gains nothing."""
    assert score_ranking(["a", "a"], ["a", "b"], "kind").recall[5] == 0.5


def test_means_are_over_questions() -> None:
    """By category, and all together."""
    scored = [
        score_ranking(["a"], ["a"], "one"),
        score_ranking(["x"], ["a"], "two"),
        score_ranking(["x", "a"], ["a"], "two"),
    ]
    found = scores_by_category(scored)
    assert (found["one"].mrr, found["two"].mrr, found["all"].mrr) == (1.0, 0.25, 0.5)
    assert found["two"].recall[5] == 0.5


def test_percentiles_of_few() -> None:
    """Of one it is that one."""
    assert percentiles([]) == (0.0, 0.0)
    assert percentiles([3.0]) == (3.0, 3.0)
    assert percentiles([1.0, 2.0, 3.0])[0] == 2.0


def test_the_area_under_the_curve_is_how_often_the_right_one_is_greater() -> None:
    """One for a perfect score, a half for one that tells nothing, nothing for nothing."""
    assert roc_auc([0.9, 0.8], [0.1, 0.2]) == 1
    assert roc_auc([0.5], [0.5, 0.5]) == 0.5
    assert roc_auc([0.1], [0.2]) == 0
    assert roc_auc([], [0.2]) == 0


def test_session_recall_is_the_share_of_the_sessions_of_the_answer() -> None:
    """Any unit of a right session counts, once a session; units without one have no figure."""
    sessions = {"a": 0, "b": 1, "x": 1, "y": 2}
    found = score_ranking(["y", "x", "x"], ["a", "b"], "kind", sessions)
    assert found.session_recall == {5: 0.5, 10: 0.5, 20: 0.5}
    assert score_ranking(["n"], ["n"], "kind", sessions).session_recall is None
    means = scores_by_category([found, score_ranking(["n"], ["n"], "kind", sessions)])["all"]
    assert (means.questions, means.session_recall[10]) == (2, 0.5)
