"""Judge what was found for a question: whether it is about it, so that it is shown, and whether it answers it.

Logistic regressions over the features of a question and an item. "show" weighs every candidate by six features, and
"answer" the first few shown by the table of `answer_features`; the best of them decides. Both have weights for each
model of vectors that they were learned with. "speakers" takes the place of "answer" where people talk with each other:
there, who says it counts. An item that certainly does not hold the type asked for is no answer. Each gives a
probability; the policy's `best_fits_from` and `none_below` are the thresholds of showing, and of saying that it is not
known. The weights are `judge.json`, made by `python -m bench.learn_judge`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources
from itertools import islice
from operator import attrgetter

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.language.question import answers
from kenobot.language.question.answer_features import Features, JudgedItem, JudgedQuestion, item_features
from kenobot.language.question.question import Question
from kenobot.ports.recall import ConfidenceLevel

WORDS_ALONE = "words"
"""Key of the weights for a search without vectors."""

OTHER_MODELS = "others"
"""Key of the weights for models without weights of their own."""

MOST_JUDGED = 5
"""Items, best first."""

CONFIDENCE_LEVELS: tuple[ConfidenceLevel, ...] = ("none", "low", "medium", "high")
"""The levels, the least first."""

MOST_ODDS = 30.0
"""Bound of odds, as their logarithm."""


@dataclass(frozen=True, slots=True)
class FitFeatures:
    """Describe a question and one memory. Each but `general` speaks for a fit."""

    meaning: float  # similarity as a share of a usual answer's
    named: float  # 1 where the memory speaks of whom the question names
    personal: float  # 1 where the question says "I" or "my"
    general: float  # -1 for a question about a person's own affairs, 1 for one of general knowledge
    kind: float  # 1 where the memory holds the kind of answer that is asked for
    days: float  # how close the memory comes to the days that the question names


FIT_NAMES = tuple(each.name for each in fields(FitFeatures))
_fit_values = attrgetter(*FIT_NAMES)  # as `astuple`, which copies each: a question fits dozens of memories


@dataclass(frozen=True, slots=True)
class SpeakerFeatures:
    """Describe how well turns match a question that names a speaker. Each speaks for an answer."""

    own: float  # share of the question's words, names apart, that the best turn of or about a speaker named has
    behind: float  # by how much that is less than the share of the best turn of another, negated
    best: float  # the share of the best turn of anybody
    told: float  # 1 where a speaker named says that one, or it speaks of them


SPEAKER_NAMES = tuple(each.name for each in fields(SpeakerFeatures))
_speaker_values = attrgetter(*SPEAKER_NAMES)


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """Weights of features by name, in log-odds, and of the numbers of a question's vector."""

    always: float
    features: Mapping[str, float]
    vector: Sequence[float] = ()

    def item_odds(self, features: Features) -> float:
        """Sum the features of an item up."""
        return self.always + sum([self.features[name] * value for name, value in features.items()])

    def question_odds(self, row: Sequence[float] | None) -> float:
        """Weigh a question's vector."""
        if row is None or len(row) != len(self.vector):
            return 0.0
        return float(sum(weight * value for weight, value in zip(self.vector, row, strict=True)))


@dataclass(frozen=True, slots=True)
class JudgeWeights:
    """The weights of all three regressions; of "show" and "answer" by the id of the model."""

    show: Mapping[str, Mapping[str, float]]
    answer: Mapping[str, AnswerWeights]
    speakers: Mapping[str, float]


@lru_cache(1)
def learned_weights() -> JudgeWeights:
    """Read the weights."""
    told = json.loads(resources.files(__package__).joinpath("judge.json").read_text("utf-8"))
    answer = {model: AnswerWeights(**each) for model, each in told["answer"].items()}
    return JudgeWeights(told["show"], answer, told["speakers"])


def fit_probability(features: FitFeatures, model: str) -> float:
    """Estimate the probability that a memory is about the question."""
    weights = learned_weights().show
    return _weigh(weights.get(model) or weights[OTHER_MODELS], FIT_NAMES, _fit_values(features))


def answer_probability(judged: JudgedQuestion, model: str, row: Sequence[float] | None = None) -> float | None:
    """Estimate the probability that the best item answers the question; None without items, 0 where none of them may.

    row: the question's vector, where there is one. model: of the vectors, or `WORDS_ALONE`.
    """
    if not judged.items:
        return None
    weights = learned_weights().answer
    by = weights.get(model) or weights[OTHER_MODELS]
    odds = [by.item_odds(each) for each in item_features(judged) if may_answer(each)]
    return _probability(max(odds) + by.question_odds(row)) if odds else 0.0


def may_answer(features: Features) -> bool:
    """Return whether an item may hold the type of answer that is asked for."""
    return not features["lacks"]


def speaker_probability(features: SpeakerFeatures) -> float:
    """Estimate the probability that turns of several people answer a question about one of them."""
    return _weigh(learned_weights().speakers, SPEAKER_NAMES, _speaker_values(features))


def answered_by_texts(question: Question, texts: Sequence[str], policy: RecallPolicy) -> bool:
    """Return whether one of some texts, best first, answers a question, by words alone."""
    able = (each for each in texts if not answers.lacks_answer(question.answer_type, question.text, each))
    items = [JudgedItem(each) for each in islice(able, MOST_JUDGED)]
    likely = answer_probability(JudgedQuestion(question, items), WORDS_ALONE)
    return likely is not None and likely >= policy.none_below


def _weigh(weights: Mapping[str, float], names: Sequence[str], values: Sequence[float]) -> float:
    return _probability(
        weights["always"] + sum(weights[name] * value for name, value in zip(names, values, strict=True))
    )


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-MOST_ODDS, min(MOST_ODDS, odds))))


# ── levels ───────────────────────────────────────────────────────────────────────────────────────────────────────


def relevance_level(relevance: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Classify the relevance of the best of what was found."""
    if relevance <= 0:
        return "none"
    return "low" if relevance < policy.low_up_to else "medium" if relevance < policy.high_from else "high"


def talk_level(relevance: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Classify the relevance of the best turn quoted: "medium" at most.

    Turns about the same people and things are as relevant to a question that none of them answers.
    """
    return min("medium", relevance_level(relevance, policy), key=CONFIDENCE_LEVELS.index)


def answer_level(likely: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Classify the probability that something found answers the question."""
    if likely < policy.none_below:
        return "none"
    return "low" if likely < policy.low_below else "medium" if likely < policy.medium_below else "high"
