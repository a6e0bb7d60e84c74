"""Judge what was found for a question: whether it is about it, so that it is shown, and whether it answers it.

Logistic regressions over the features of a question and an item. "show" weighs every candidate by six features, and
"answer" the first few shown by the table of `answer_features`; the best of them decides. Both have weights for each
model of vectors that they were learned with. "speakers" takes the place of "answer" where people talk with each other:
there, who says it counts. An item that certainly does not hold the type asked for is no answer. Each gives a
probability; the policy's `best_fits_from` and `none_below` are the thresholds of showing, and of saying that it is not
known. The weights are `judge.json`, made by `python -m bench.learn_judge`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from importlib import resources
from itertools import islice
from operator import attrgetter

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, FoundItem, MemoryQuery, RecalledMemory
from kenobot.cognitive.recall.results.trace import JudgedTrace
from kenobot.cognitive.recall.scoring.weights import probability, weigh
from kenobot.cognitive.recall.search.speakers import SPEAKER_NAMES, SpeakerFeatures, speaker_features
from kenobot.language.question import answers
from kenobot.language.question.answer_features import Features, JudgedItem, JudgedQuestion, item_features
from kenobot.language.question.question import Question
from kenobot.language.question.search_terms import ParsedQuery
from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import ConfidenceLevel, ItemKey

WORDS_ALONE = "words"
"""Key of the weights for a search without vectors."""

OTHER_MODELS = "others"
"""Key of the weights for models without weights of their own."""

MOST_JUDGED = 5
"""Items, best first."""

_MOST_JUDGED_EACH = 8  # memories that are judged one by one

CONFIDENCE_LEVELS: tuple[ConfidenceLevel, ...] = ("none", "low", "medium", "high")
"""The levels, the least first."""


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
def load_weights() -> JudgeWeights:
    """Read the weights."""
    told = json.loads(resources.files(__package__).joinpath("judge.json").read_text("utf-8"))
    answer = {model: AnswerWeights(**each) for model, each in told["answer"].items()}
    return JudgeWeights(told["show"], answer, told["speakers"])


def fit_probability(features: FitFeatures, model: str) -> float:
    """Estimate the probability that a memory is about the question."""
    weights = load_weights().show
    return weigh(weights.get(model) or weights[OTHER_MODELS], FIT_NAMES, _fit_values(features))


def answer_probability(judged: JudgedQuestion, model: str, row: Sequence[float] | None = None) -> float | None:
    """Estimate the probability that the best item answers the question; None without items, 0 where none of them may.

    row: the question's vector, where there is one. model: of the vectors, or `WORDS_ALONE`.
    """
    return max(item_probabilities(judged, model, row), default=None)


def item_probabilities(judged: JudgedQuestion, model: str, row: Sequence[float] | None = None) -> list[float]:
    """Estimate for each item the probability that it answers the question; 0 for one that may not."""
    weights = load_weights().answer
    by = weights.get(model) or weights[OTHER_MODELS]
    of_question = by.question_odds(row)
    return [
        probability(by.item_odds(each) + of_question) if may_answer(each) else 0.0
        for each in (item_features(judged) if judged.items else ())
    ]


def may_answer(features: Features) -> bool:
    """Return whether an item may hold the type of answer that is asked for."""
    return not features["lacks"]


def speaker_probability(features: SpeakerFeatures) -> float:
    """Estimate the probability that turns of several people answer a question about one of them."""
    return weigh(load_weights().speakers, SPEAKER_NAMES, attrgetter(*SPEAKER_NAMES)(features))


def is_answered_by(question: Question, texts: Sequence[str], policy: RecallPolicy) -> bool:
    """Return whether one of some texts, best first, answers a question, by words alone."""
    able = (each for each in texts if not answers.lacks_answer(question.answer_type, question.text, each))
    items = [JudgedItem(each) for each in islice(able, MOST_JUDGED)]
    likely = answer_probability(JudgedQuestion(question, items), WORDS_ALONE)
    return likely is not None and likely >= policy.none_below


def judge_found(index: SideIndex, query: MemoryQuery, parsed: ParsedQuery, found: Sequence[FoundItem]) -> float | None:
    """Estimate the probability that the first of what is shown answers the question; None where that is not known.

    Not of requests, nor of what only asks, nor of a question in other letters than Latin, nor, by words alone, of items
    in such, nor of talk of several people but where it is denied that it is the one asked about who says it.
    """
    if query.question.asks_for_work:
        return None
    talk = [each for each in found if isinstance(each, Excerpt)]
    if len(talk) == len(found) and (said := speaker_features(parsed, talk)) is not None:
        likely = speaker_probability(said)
        return likely if likely < query.policy.recall.none_below else None
    chosen = [each for each in found if not each.only_asks][:MOST_JUDGED]
    quoted = [each for each in chosen if isinstance(each, Excerpt)]
    if quoted and all(each.turn.line.name for each in quoted):
        return None
    if not chosen or not query.question.is_latin:
        return None
    question, vectors = query.question, index.vectors
    if vectors is None or not _is_measured(index, query):
        if not all(answers.is_latin(each.text) for each in chosen):
            return None
        items = [JudgedItem(each.text, turn=isinstance(each, Excerpt)) for each in chosen]
        model, row, judged = WORDS_ALONE, None, JudgedQuestion(question, items)
    else:
        model, row = vectors.models[0], vectors.query_row(query.text)
        items = _measure(index, question, chosen)
        judged = JudgedQuestion(question, items, vectors.generality(query.text))
    if query.trace is not None:
        query.trace.judged = JudgedTrace(judged, tuple(each.key for each in chosen), model, row)
    return answer_probability(judged, model, row)


def judge_memories(
    index: SideIndex, query: MemoryQuery, memories: Sequence[RecalledMemory]
) -> Mapping[int, float] | None:
    """Estimate for each of the first memories shown, by its record, the probability that it answers the question.

    None where that is not known: without vectors. As many are compared at once as were when it was learned: those
    behind the first five are each compared with the first four.
    """
    chosen = [each for each in memories if not each.only_asks][:_MOST_JUDGED_EACH]
    if not chosen or not _is_measured(index, query):
        return None
    first = chosen[:MOST_JUDGED]
    likely = _judge_at_once(index, query, first)
    for each in chosen[MOST_JUDGED:]:
        likely[each.record.id] = _judge_at_once(index, query, [*first[:-1], each])[each.record.id]
    return likely


def _judge_at_once(index: SideIndex, query: MemoryQuery, chosen: Sequence[RecalledMemory]) -> dict[int, float]:
    question, vectors = query.question, index.vectors
    assert vectors is not None
    judged = JudgedQuestion(question, _measure(index, question, chosen), vectors.generality(query.text))
    likely = item_probabilities(judged, vectors.models[0], vectors.query_row(query.text))
    return {each.record.id: share for each, share in zip(chosen, likely, strict=True)}


def _is_measured(index: SideIndex, query: MemoryQuery) -> bool:
    """Return whether a question was compared with what was found by vectors."""
    return index.vectors is not None and query.as_of is None and index.vectors.has_query_vector(query.text)


def _measure(index: SideIndex, question: Question, items: Sequence[FoundItem]) -> list[JudgedItem]:
    """Measure how near items are to a question and to each of its words."""
    whole = _nearness(index, question.text, items)
    near = {word.text: _nearness(index, word.text, items) for word in question.words}
    return [
        JudgedItem(
            each.text,
            whole.get(each.key, 0.0),
            {word: rows[each.key] for word, rows in near.items() if each.key in rows},
            isinstance(each, Excerpt),
            each.relevance,
        )
        for each in items
    ]


def _nearness(index: SideIndex, text: str, items: Sequence[FoundItem]) -> dict[ItemKey, float]:
    """Measure how near items are to a text; nothing of those without a vector, or where the text has none."""
    if index.vectors is None:
        return {}
    keys = [each.key for each in items]
    found: dict[ItemKey, float] = {}
    for shelf in ("record", "turn"):
        if numbers := [number for kind, number in keys if kind == shelf]:
            near = index.vectors.similarities(shelf, text, None, 0, also=numbers)
            found |= {(shelf, number): share for number, share in near.items()}
    return found


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
