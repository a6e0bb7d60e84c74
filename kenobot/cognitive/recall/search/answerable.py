"""Judge whether what was found answers a question, by a logistic regression over the question and each of it.

What a near miss has is the person or the thing that is asked about, and not what is asked of it: "my boss is Moira" for
"where does Moira live?". So the features are which words of the question an item covers, by stems or by how near each
word comes to it in meaning; which slots the question wants filled (a day, a price, a place) and the item fills; whose
affairs both speak of; and where the question's vector lies, for some things are often asked and seldom told. The best
item decides. Its weights are `answerable.json`, made by `python -m bench.learn_answerable`, for each model that it was
learned with and for words alone.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from kenobot.cognitive.recall.question import answers, slots
from kenobot.cognitive.recall.results.trace import JudgedQuestion
from kenobot.cognitive.recall.scoring.relevance import proper_names
from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.relations import (
    names_other_relationship,
    names_relationship,
    names_same_relationship,
)
from kenobot.language.words import fold, stems, words

WORDS_ALONE = "words"
"""Key of the weights for a search without vectors."""

MOST_JUDGED = 5
"""Items, best first."""

Features = Mapping[str, float]

_MOST_WORDS = 8  # of a question whose vectors are made
_REACHED = 0.9  # similarity at which a word counts as told in other words
_FAR, _CLOSE = 0.3, 0.8  # reach of a word
_OWN = lazy.regex(r"\b(?:my|mi|mis|i|me|yo|tengo|mi[oa]|i'm|i've|our|nuestr[oa]s?)\b")
_OF_OTHERS = lazy.regex(r"\b\w+['’]s\b|\b(?:del?) [A-ZÁÉÍÓÚ]|\b(?:his|her|su|sus|their|he|she)\b")


@lru_cache(128)
def asked_words(question: str) -> tuple[str, ...]:
    """List the words of a question that mean something, folded, as they stand."""
    return tuple(dict.fromkeys(word for word in words(question) if word not in STOPWORDS))[:_MOST_WORDS]


def item_features(judged: JudgedQuestion) -> list[Features]:
    """Extract the features of each item."""
    comparison = _Comparison(judged)
    return [comparison.features(at) for at in range(len(judged.items))]


class _Comparison:
    """What is known of all items of a question at once."""

    def __init__(self, judged: JudgedQuestion) -> None:
        question = judged.question
        self._judged, self._words = judged, asked_words(question)
        names = {word for name in proper_names(question) for word in words(name)}
        form = slots.words_of_form(question)
        self._named = [word in names for word in self._words]
        self._content = [at for at, word in enumerate(self._words) if word not in form and len(word) > 2]
        asked = [frozenset(stems(word)) for word in self._words]
        said = [frozenset(stem for word in words(item.text) for stem in stems(word)) for item in judged.items]
        self._covered = [[not stem.isdisjoint(of) for stem in asked] for of in said]
        self._near = [[item.word_near.get(word, 0.0) for word in self._words] for item in judged.items]
        self._reach = [
            [max(float(has), min(1.0, max(0.0, near / _REACHED))) for has, near in zip(*rows, strict=True)]
            for rows in zip(self._covered, self._near, strict=True)
        ]
        self._slots = slots.asked_slots(question)
        self._filled = [self._slots & slots.filled_slots(item.text) for item in judged.items]
        self._of_question = self._question_features()

    def features(self, at: int) -> Features:
        """Return the features of one item by name."""
        return {
            **self._of_question,
            **self._nearness(at),
            **self._coverage(at),
            **self._content_coverage(at),
            **self._slot_features(at),
            **self._of_whom(at),
        }

    def _question_features(self) -> dict[str, float]:
        judged = self._judged
        likely = 0.5 if judged.likely is None else min(0.98, max(0.02, judged.likely))
        return {
            "lacking": float(judged.lacking),
            "likely": math.log(likely / (1 - likely)),
            "general": judged.general,
            "asked words": float(len(self._words)),
            "asked names": float(sum(self._named)),
            "asked content": float(len(self._content)),
            "length": min(3.0, len(judged.question) / 40),
            "mark": float(judged.question.rstrip().endswith("?")),
            "nothing asked": float(not self._slots),
            "relative": float(names_relationship(judged.question)),
        }

    def _nearness(self, at: int) -> dict[str, float]:
        near = [item.near for item in self._judged.items]
        filling = max((each for each, slot in zip(near, self._filled, strict=True) if slot), default=0.0)
        return {
            "near": near[at],
            "lead": near[at] - max((each for other, each in enumerate(near) if other != at), default=0.0),
            "place": float(at),
            "filling near": filling,
            "filling lead": filling - near[at],
        }

    def _coverage(self, at: int) -> dict[str, float]:
        """How many of all words of the question an item has, and how near it comes to them."""
        covered, reach, near = self._covered[at], self._reach[at], self._near[at]
        anywhere = [any(has) for has in zip(*self._covered, strict=True)]
        rare = [1 / (1 + sum(has)) for has in zip(*self._covered, strict=True)]
        elsewhere = sum(found and not here for found, here in zip(anywhere, covered, strict=True))
        lowest = sorted(reach)[:2]
        return {
            "covered": _mean(covered),
            "covered words": float(sum(covered)),
            "covered rare": sum(part for part, has in zip(rare, covered, strict=True) if has) / max(1e-9, sum(rare)),
            "uncovered": float(len(covered) - sum(covered)),
            "elsewhere": float(elsewhere),
            "nowhere": float(len(anywhere) - sum(anywhere)),
            "reach least": min(reach, default=0.5),
            "reach lowest two": _mean(lowest, 0.5),
            "reach": _mean(reach, 0.5),
            "word near least": min(near, default=0.0),
            "word near": _mean(near),
            "word near most": max(near, default=0.0),
        }

    def _content_coverage(self, at: int) -> dict[str, float]:
        """The same of the words that say what the question is about, apart from those that say what it wants of it."""
        content = self._content
        reach, near = [self._reach[at][word] for word in content], [self._near[at][word] for word in content]
        names = [self._reach[at][word] for word in content if self._named[word]]
        others = [self._reach[at][word] for word in content if not self._named[word]]
        best = [max(row[word] for row in self._near) for word in content]
        better = [most - here for most, here in zip(best, near, strict=True)]
        furthest = [max(row[word] for row in self._reach) for word in content]
        return {
            "content reach least": min(reach, default=0.5),
            "content reach second": sorted(reach)[1] if len(reach) > 1 else 0.8,
            "content reach": _mean(reach, 0.5),
            "names reach": min(names, default=0.7),
            "others reach least": min(others, default=0.5),
            "others reach": _mean(others, 0.5),
            "far words": float(sum(each < _FAR for each in reach)),
            "close words": float(sum(each > _CLOSE for each in reach)),
            "first reach": reach[0] if reach else 0.5,
            "last reach": reach[-1] if reach else 0.5,
            "content near least": min(near, default=0.3),
            "content near": _mean(near, 0.3),
            "nearer elsewhere most": max(better, default=0.0),
            "nearer elsewhere": _mean(better),
            "reach anywhere least": min(furthest, default=0.7),
        }

    def _slot_features(self, at: int) -> dict[str, float]:
        question, text = self._judged.question, self._judged.items[at].text
        filled, names = self._filled[at], slots.new_names(question, text)
        found = {f"{name} filled": float(name in filled) for name in slots.slot_names()}
        found |= {f"{name} open": float(name in self._slots - filled) for name in slots.slot_names()}
        for name in ("who", "where", "kind"):
            found[f"{name} without a name"] = float(name in self._slots and not names)
        return found | {
            "filled": float(len(filled)),
            "open": float(len(self._slots - filled)),
            "none filled": float(bool(self._slots) and not filled),
            "new names": float(min(3, names)),
            "who with a name": float("who" in self._slots and names > 0),
            "lacks": float(answers.lacks_answer(answers.asked_type(question), question, text)),
            "kind": answers.kind_score(answers.asked_kinds(question), text),
            "said": min(3.0, len(words(text)) / 8),
        }

    def _of_whom(self, at: int) -> dict[str, float]:
        question, text = self._judged.question, self._judged.items[at].text
        own, told_own = _OWN.search(fold(question)) is not None, _OWN.search(fold(text)) is not None
        return {
            "own": float(own),
            "own, of others": float(own and _OF_OTHERS.search(text) is not None),
            "own, of own": float(own and told_own),
            "others, of own": float(not own and told_own),
            "other relative": float(names_other_relationship(question, text)),
            "same relative": float(names_same_relationship(question, text)),
        }


def _mean(values: Sequence[float], default: float = 0.0) -> float:
    return sum(values) / len(values) if values else default


def answer_odds(judged: JudgedQuestion, model: str, row: Sequence[float] | None = None) -> float | None:
    """Compute the odds, as their logarithm, that an item answers the question; None for a model without weights.

    row: the question's vector, where there is one. model: of the vectors, or `WORDS_ALONE`.
    """
    learned = learned_weights().get(model)
    if learned is None or not judged.items:
        return None
    best = max(learned.score(features) for features in item_features(judged))
    return best if row is None else best + learned.question_score(row)


def is_answered(judged: JudgedQuestion, model: str, row: Sequence[float] | None = None) -> bool | None:
    """Return whether the odds that an item answers the question suffice; see `answer_odds`."""
    odds = answer_odds(judged, model, row)
    return None if odds is None else odds >= learned_weights()[model].least


@dataclass(frozen=True, slots=True)
class LearnedWeights:
    """Weights of features by name, in log-odds, and of the numbers of a question's vector. least: odds of an answer."""

    always: float
    least: float
    features: Mapping[str, float]
    vector: Sequence[float] = ()

    def score(self, features: Features) -> float:
        """Sum the features up."""
        return self.always + sum(self.features[name] * value for name, value in features.items())

    def question_score(self, row: Sequence[float]) -> float:
        """Weigh a question's vector."""
        if len(row) != len(self.vector):
            return 0.0
        return float(sum(weight * value for weight, value in zip(self.vector, row, strict=True)))


@lru_cache(1)
def learned_weights() -> Mapping[str, LearnedWeights]:
    """Read the weights by the id of the model."""
    text = resources.files(__package__).joinpath("answerable.json").read_text("utf-8")
    return {model: LearnedWeights(**told) for model, told in json.loads(text)["weights"].items()}
