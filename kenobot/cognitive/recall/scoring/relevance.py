"""Score the relevance of records for a question, by meaning, words and the features of the question.

The features are named in `scoring.weights`. The best candidate scores 1, the others by their distance from it.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import date

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates.by_words import LexicalHit
from kenobot.cognitive.recall.scoring.weights import record_weights
from kenobot.language.dates import DateRange, calendar_names
from kenobot.language.question import answers
from kenobot.language.question.question import Question
from kenobot.language.words import fold, words
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record

_EITHER = 0.5


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """Features of a question besides its words. people: names, folded. subjects: as records write them."""

    people: frozenset[str]
    subjects: frozenset[str]
    answer_kinds: frozenset[answers.AnswerKind]
    days: DateRange | None
    calendar_names: frozenset[str]
    negative: bool


def question_features(asked: Question, names: Sequence[str], subjects: frozenset[str], today: date) -> QuestionFeatures:
    """Extract the features of a question. names: of people it means without naming them."""
    people = asked.names.union(word for name in names for word in words(name))
    return QuestionFeatures(
        frozenset(word for word in people if len(word) > 1),
        subjects,
        asked.answer_kinds,
        asked.find_days(today),
        asked.calendar_names,
        asked.is_negative,
    )


def score_relevance(
    question: QuestionFeatures,
    records: Mapping[int, Record],
    hits: Mapping[int, LexicalHit],
    similarities: Mapping[int, float],
    policy: RecallPolicy,
) -> dict[int, tuple[float, dict[str, float]]]:
    """Score the relevance of each record, 0 to 1, with its features by the names of the weights.

    similarities: see `SimilarityCalibration.share`.
    """
    said = {number: frozenset(words(each.text)) for number, each in records.items()} if question.people else {}
    known = {name for name in question.people if any(name in of for of in said.values())}
    weights = record_weights()
    found: dict[int, tuple[float, dict[str, float]]] = {}
    for number, each in records.items():
        hit = hits.get(number)
        named = each.subject in question.subjects or bool(known and known & said[number])
        parts = {
            "meaning": similarities.get(number) or 0.0,
            "words": hit.relevance if hit is not None else 0.0,
            "who": float(named) if known or question.subjects else _EITHER,
            "kind": answers.kind_score(question.answer_kinds, each.text),
            "then": _score_day(question.days, each.day),
            "calendar": _on_those_days(question.calendar_names, each.text),
            "down": float(question.negative and answers.is_negative(each.text)),
        }
        found[number] = (sum(weights[name] * value for name, value in parts.items()), parts)
    best = max((worth for worth, _ in found.values()), default=0.0)
    return {number: (math.exp(policy.falloff * (worth - best)), parts) for number, (worth, parts) in found.items()}


def _score_day(days: DateRange | None, day: str) -> float:
    """Score how close the day of a record lies to the days of a question."""
    if days is None:
        return 0.0
    try:
        return days.closeness(date.fromisoformat(day))
    except ValueError:
        return 0.0


def _on_those_days(wanted: frozenset[str], text: str) -> float:
    """Return 1 where a text names a day or month of the question, -1 where it names only others."""
    if not wanted:
        return 0.0
    named = {each for each in calendar_names(fold(text)) if each.split()[0] in {other.split()[0] for other in wanted}}
    return 0.0 if not named else 1.0 if wanted & named else -1.0
