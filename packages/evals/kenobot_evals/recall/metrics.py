"""Figures of a ranking: what share of the answer is among the first, and where it stands. Pure.

Recall, nDCG and MRR as TREC has them, each answering unit worth the same; means over the questions that have an answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from statistics import fmean, quantiles
from types import MappingProxyType

DEPTHS = (5, 10, 20)
_NDCG = 10


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """One question's figures. recall, hit: by depth, 0 to 1. rank: the first answering unit's place, 0 for none.

    session_recall: the share of the sessions of what answers, by depth; None where that is in none.
    """

    category: str
    recall: Mapping[int, float]
    hit: Mapping[int, float]
    ndcg: float
    rank: int
    session_recall: Mapping[int, float] | None = None


@dataclass(frozen=True, slots=True)
class MeanScores:
    """Means over questions, from 0 to 1."""

    questions: int
    recall: Mapping[int, float] = field(default_factory=dict)  # bounded: the data of one run; turn
    hit: Mapping[int, float] = field(default_factory=dict)  # bounded: the data of one run; turn
    ndcg: float = 0.0
    mrr: float = 0.0
    session_recall: Mapping[int, float] = field(default_factory=dict)  # bounded: the data of one run; turn


def score_ranking(
    ranking: Sequence[str], gold: Iterable[str], category: str, sessions: Mapping[str, int] = MappingProxyType({})
) -> QuestionScore:
    """Return how well a ranking answers a question. gold: what answers it, at least one unit. sessions: of units."""
    wanted = frozenset(gold)
    places = [at for at, key in enumerate(dict.fromkeys(ranking), 1) if key in wanted]
    found = {depth: sum(place <= depth for place in places) for depth in DEPTHS}
    best = sum(1 / log2(at + 1) for at in range(1, min(len(wanted), _NDCG) + 1))
    gain = sum(1 / log2(place + 1) for place in places if place <= _NDCG)
    return QuestionScore(
        category,
        {depth: count / len(wanted) for depth, count in found.items()},
        {depth: float(count > 0) for depth, count in found.items()},
        gain / best,
        places[0] if places else 0,
        _session_recall(ranking, {sessions[key] for key in wanted if key in sessions}, sessions),
    )


def _session_recall(
    ranking: Sequence[str], wanted: set[int], sessions: Mapping[str, int]
) -> Mapping[int, float] | None:
    first = list(dict.fromkeys(ranking))
    found = {depth: wanted & {sessions[key] for key in first[:depth] if key in sessions} for depth in DEPTHS}
    return {depth: len(some) / len(wanted) for depth, some in found.items()} if wanted else None


def mean_scores(scored: Sequence[QuestionScore]) -> MeanScores:
    """Return the means of some questions' figures."""
    if not scored:
        return MeanScores(0)
    inside = [each.session_recall for each in scored if each.session_recall is not None]
    return MeanScores(
        len(scored),
        {depth: fmean(each.recall[depth] for each in scored) for depth in DEPTHS},
        {depth: fmean(each.hit[depth] for each in scored) for depth in DEPTHS},
        fmean(each.ndcg for each in scored),
        fmean(1 / each.rank if each.rank else 0.0 for each in scored),
        {depth: fmean(each[depth] for each in inside) for depth in DEPTHS} if inside else {},
    )


def scores_by_category(scored: Sequence[QuestionScore]) -> dict[str, MeanScores]:
    """Return the figures of each category, and of all together under "all"."""
    names = sorted({each.category for each in scored})
    return {name: mean_scores([each for each in scored if each.category == name]) for name in names} | {
        "all": mean_scores(scored)
    }


def roc_auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Compute the area under the curve (Hanley and McNeil, 1982): how often one of `right` exceeds one of `wrong`."""
    if not right or not wrong:
        return 0.0
    pairs = sum((one > other) + 0.5 * (one == other) for one in right for other in wrong)
    return pairs / (len(right) * len(wrong))


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile; zeros for nothing."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (0.0, 0.0)
    cuts = quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[94]
