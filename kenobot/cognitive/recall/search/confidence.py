"""Estimate the probability that memory holds the answer to a question, by a logistic regression, and classify it.

Its weights are `confidence.json`, made by `python -m bench.learn_confidence`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.question import answers
from kenobot.cognitive.recall.results.memory import ConfidenceLevel, RecalledMemory
from kenobot.cognitive.recall.results.trace import ConfidenceFeatures, RecallTrace
from kenobot.cognitive.recall.scoring.relevance import proper_names, proper_names_text
from kenobot.cognitive.recall.scoring.weights import record_weights
from kenobot.language.words import words

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex

_NEXT = 9  # memories that the best is compared with
CONFIDENCE_LEVELS: tuple[ConfidenceLevel, ...] = ("none", "low", "medium", "high")
"""The levels, the least first."""

FEATURE_NAMES = tuple(each.name for each in fields(ConfidenceFeatures))
OTHER_MODELS = "others"
"""Key of the weights for models without weights of their own."""


def answer_probability(
    vectors: "VectorIndex", text: str, ranked: Sequence[RecalledMemory], trace: RecallTrace | None
) -> float | None:
    """Estimate the probability that `ranked` answers a question; None where none of it has a vector."""
    best = next((each.record.id for each in ranked if each.relevance_parts), None)
    names = proper_names_text(text)
    rest = vectors.similarity_without_names(text, names, best) if names and best is not None else None
    signs = confidence_features(text, ranked, rest)
    if trace is not None:
        trace.confidence_features = signs
    return None if signs is None else probability(signs, vectors.models[0])


def confidence_features(text: str, memories: Sequence[RecalledMemory], rest: float | None) -> ConfidenceFeatures | None:
    """Extract the features of `memories`, best first; None when vectors were not searched.

    rest: similarity of the best without the names of the question, where known.
    """
    fitted = [each for each in memories if each.relevance_parts]
    if not fitted:
        return None
    weights, best = record_weights(), fitted[0]
    worth = [sum(weights[name] * value for name, value in each.relevance_parts.items()) for each in fitted[: _NEXT + 1]]
    names = {word for name in proper_names(text) for word in words(name)}
    said = {word for each in memories for word in words(each.record.text)} if names else set()
    return ConfidenceFeatures(
        best.relevance_parts["meaning"],
        0.0 if rest is None else rest,
        float(rest is not None),
        worth[0] - sum(worth[1:]) / len(worth[1:]) if len(worth) > 1 else 0.0,
        best.relevance_parts["kind"],
        sum(name not in said for name in names) / len(names) if names else 0.0,
        float(answers.lacks_answer(answers.asked_type(text), text, best.record.text)),
    )


@lru_cache(1)
def learned_weights() -> Mapping[str, Mapping[str, float]]:
    """Read the weights of each feature and of "always", in log-odds, by the id of the model."""
    text = resources.files(__package__).joinpath("confidence.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, float]] = json.loads(text)["weights"]
    return found


def probability(signs: ConfidenceFeatures, model: str) -> float:
    """Compute the probability of an answer. model: of the vectors."""
    by = learned_weights().get(model) or learned_weights()[OTHER_MODELS]
    odds = by["always"] + sum(by[name] * value for name, value in zip(FEATURE_NAMES, astuple(signs), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def confidence_level(score: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Classify the relevance of the best of what was found."""
    if score <= 0:
        return "none"
    return "low" if score < policy.low_up_to else "medium" if score < policy.high_from else "high"


def answer_level(likely: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Classify the probability that a memory answers the question."""
    if likely < policy.none_below:
        return "none"
    return "low" if likely < policy.low_below else "medium" if likely < policy.medium_below else "high"


def talk_level(relevance: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Classify the relevance of the best turn quoted: "medium" at most.

    Turns about the same people and things are as relevant to a question that none of them answers.
    """
    return min("medium", confidence_level(relevance, policy), key=CONFIDENCE_LEVELS.index)
