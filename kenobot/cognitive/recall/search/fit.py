"""Decide which memories are about a question at all, so that what is merely nearest is not shown as if it were.

By the judge's probability of a fit, from six features of a question and one memory. Without vectors there is nothing to
decide: words that match are about it.
"""

import math
from collections.abc import Mapping, Sequence

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.results.memory import RecalledMemory
from kenobot.cognitive.recall.results.trace import QuestionKind
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.recall.search.judge import FitFeatures, fit_probability
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.question.question import Question
from kenobot.language.words import terms

_TOLD_TOGETHER = frozenset({"member", "time"})


def fit_features(question: QuestionKind, parts: Mapping[str, float]) -> FitFeatures:
    """Extract the features of a memory. parts: see `RecalledMemory.relevance_parts`."""
    return FitFeatures(
        meaning=parts["meaning"],
        named=float(parts["who"] == 1),
        personal=float(question.personal),
        general=question.general,
        kind=float(parts["kind"] == 1),
        days=parts["then"] + max(0.0, parts["calendar"]),
    )


def keep_fitting(
    question: QuestionKind, ranked: Sequence[RecalledMemory], similarities: Mapping[int, float], sieve: RecallFilter
) -> list[RecalledMemory]:
    """Return the memories that are about the question; none where the best of them hardly is.

    similarities: of the records with a vector; the others are kept for their words. Neighbours go with those they were
    reached from; what was only told in the same hour must fit itself.
    """
    policy = sieve.query.policy.recall
    found = {each.record.id: _fit(question, each, similarities, policy) for each in ranked if not each.path}
    least = policy.fits_from if max(found.values(), default=0.0) >= policy.best_fits_from else math.inf
    kept: list[RecalledMemory] = []
    for each in ranked:
        fit = found.get(each.path[0].src if each.path else each.record.id, 0.0)
        if is_told_together(each):
            fit = min(fit, _similarity_fit(question, similarities.get(each.record.id, 0.0)))
        if fit >= least:
            kept.append(each)
        else:
            sieve.drop("record", each.record.id, "irrelevant")
    return kept


def is_told_together(memory: RecalledMemory) -> bool:
    """Return whether a memory was reached because it was told in the same box, or the same half hour."""
    return bool(memory.path) and any(step.type in _TOLD_TOGETHER for step in memory.path)


def keep_on_topic(question: Question, ranked: Sequence[RecalledMemory], sieve: RecallFilter) -> list[RecalledMemory]:
    """Drop what was only told together with another memory, and shares no word with that or with the message."""
    if not any(map(is_told_together, ranked)):
        return [*ranked]
    known = {each.record.id: each for each in ranked}
    asked = question.terms
    kept: list[RecalledMemory] = []
    for each in ranked:
        if is_told_together(each):
            about = asked | _topic(known[each.path[0].src])
            if about.isdisjoint(_topic(each)):
                sieve.drop("record", each.record.id, "irrelevant")
                continue
        kept.append(each)
    return kept


def _topic(memory: RecalledMemory) -> frozenset[str]:
    record = memory.record
    subject = "" if record.subject == OWNER_SUBJECT else record.subject
    return frozenset(terms(f"{subject} {record.text}"))


def turns_fit(question: QuestionKind, turns: Sequence[RankedTurn], policy: RecallPolicy) -> bool:
    """Return whether the nearest of some turns is about the question; one without a vector is for its words."""
    if any(each.near is None and each.relevance >= policy.min_relevance for each in turns):
        return True
    near = max((each.near for each in turns if each.near is not None), default=0.0)
    return _similarity_fit(question, near) >= policy.best_fits_from


def _similarity_fit(question: QuestionKind, similarity: float) -> float:
    """Estimate the probability of a fit by similarity alone."""
    features = FitFeatures(similarity, 0.0, float(question.personal), question.general, 0.0, 0.0)
    return fit_probability(features, question.model)


def _fit(question: QuestionKind, memory: RecalledMemory, measured: Mapping[int, float], policy: RecallPolicy) -> float:
    """Return how likely a memory is about the question; 1 where its subject is named, or its words are."""
    parts = memory.relevance_parts
    if "subject" in memory.ways or not parts or memory.record.id not in measured:
        return float(memory.relevance >= policy.min_relevance)
    if parts["words"] >= policy.fits_by_words_from:
        return 1.0
    return fit_probability(fit_features(question, parts), question.model)
