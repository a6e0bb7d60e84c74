"""Calibrate the cosines of a model, which puts unrelated texts at 0.1, or at 0.8.

A model embeds once the same questions and answers, pairs of statements that look alike and say different things, and
questions about nothing in particular, whose common part is removed from every query, and questions of general
knowledge, which no memory answers. The calibrations of models that ship are made by `python -m bench.learn_scales`.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import NamedTuple

from kenobot.cognitive.beliefs.value import clamp
from kenobot.cognitive.policy.recall import MeaningPolicy
from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.ports.frozen import dataclass

COMMON_SHARE_REMOVED = 0.75
"""The share of what a question has in common with others that is removed from it."""

_SAME = 1e-3  # length of a direction that is none
_SAFELY = 0.1  # of the way from the nearest look-alike to the same words


@dataclass(frozen=True, slots=True)
class SimilarityCalibration:
    """Cosines of a model. unrelated, answer: mean of a question with other answers, and with its own.

    apart: mean of statements about different things. alike: above those of statements that look alike and say different
    things. common: what questions have in common, as rows of 16-bit floats: their mean, then at right angles the
    directions of each language; empty where nothing is removed. general: the mean of questions of general knowledge,
    as 16-bit floats; empty where it is not known.
    """

    unrelated: float
    answer: float
    apart: float
    alike: float
    common: bytes = b""
    general: bytes = b""

    def query_similarity(self, cosine: float) -> float:
        """Scale the cosine of a passage and a query: 0 unrelated, 1 its usual answer, and beyond."""
        return self.query_similarities({0: cosine})[0]

    def query_similarities(self, cosines: Mapping[int, float]) -> dict[int, float]:
        """Scale the cosines of passages and a query, by id; see `query_similarity`."""
        unrelated, span = self.unrelated, max(1e-6, self.answer - self.unrelated)
        return {number: (cosine - unrelated) / span for number, cosine in cosines.items()}

    def statement_similarity(self, cosine: float, policy: AdmitPolicy) -> float:
        """Scale the cosine of two statements to the bands of admission: look-alikes stay below `repeat_above`."""
        if cosine >= self.alike:
            return clamp(
                policy.repeat_above + (1 - policy.repeat_above) * (cosine - self.alike) / max(1e-6, 1 - self.alike)
            )
        return clamp(policy.repeat_above * (cosine - self.apart) / max(1e-6, self.alike - self.apart))

    def to_json(self) -> str:
        """Encode for `parse_calibration`."""
        numbers = (self.unrelated, self.answer, self.apart, self.alike)
        return json.dumps([*numbers, *(base64.b64encode(rows).decode("ascii") for rows in (self.common, self.general))])


class _Texts(NamedTuple):
    """The texts of `calibration_texts.json`; shipped calibrations are of these, so none may change.

    answered: questions, each with its answer. alike: statements that differ in the one word that counts. common:
    questions about nothing in particular, those of each language; the languages count the same. general: questions of
    general knowledge, in the same languages.
    """

    answered: list[tuple[str, str]]
    alike: list[tuple[str, str]]
    common: list[list[str]]
    general: list[list[str]]


@lru_cache(1)
def _texts() -> _Texts:
    return _Texts(**json.loads(_read_packaged("calibration_texts.json")))


def _read_packaged(name: str) -> str:
    return resources.files("kenobot.cognitive.recall.vectors").joinpath(name).read_text("utf-8")


@lru_cache(1)
def load_calibrations() -> dict[str, SimilarityCalibration]:
    """Read the calibrations of the models that ship, so that the first question does not wait for them."""
    return {
        model: scale
        for model, told in json.loads(_read_packaged("scales.json"))["models"].items()
        if (scale := parse_calibration(told)) is not None
    }


def relevance_from_similarity(share: float, policy: MeaningPolicy) -> float:
    """Scale a `SimilarityCalibration.query_similarity` to relevance, 0 to 1."""
    return clamp((share - policy.relevant_from) / (policy.fully_relevant_from - policy.relevant_from))


def parse_calibration(told: str) -> SimilarityCalibration | None:
    """Decode a calibration; None when the text is none."""
    try:
        found = json.loads(told)
        numbers, common = [float(each) for each in found[:4]], base64.b64decode(found[4], validate=True)
        general = base64.b64decode(found[5], validate=True) if len(found) > 5 else b""
    except (ValueError, TypeError, IndexError, KeyError, binascii.Error):
        return None
    unrelated, answer, apart, alike = numbers
    return SimilarityCalibration(unrelated, answer, apart, alike, common, general)


def calibration_queries() -> tuple[str, ...]:
    """Return the texts that a model embeds as queries."""
    return (*(question for question, _ in _texts().answered), *chain(*_texts().common, *_texts().general))


def calibration_passages() -> tuple[str, ...]:
    """Return the texts that it embeds as passages."""
    return (*(answer for _, answer in _texts().answered), *chain.from_iterable(_texts().alike))


def calibrate(asked: Sequence[Sequence[float]], stated: Sequence[Sequence[float]]) -> SimilarityCalibration:
    """Calibrate by the vectors of `calibration_queries` and `calibration_passages`."""
    import numpy as np  # noqa: PLC0415 - loaded with the embedder

    texts, queries, passages = _texts(), np.asarray(asked, np.float64), np.asarray(stated, np.float64)
    count = len(texts.answered)
    ends = np.cumsum([count, *map(len, texts.common), *map(len, texts.general)])
    means = [each.mean(axis=0) for each in np.split(queries, ends)[1:-1]]
    languages = means[: len(texts.common)]
    common = [np.mean(languages, axis=0)]
    for mean in languages:  # Gram and Schmidt
        way = mean - common[0]
        for known in common[1:]:
            way = way - (way @ known) * known
        if (length := float(np.linalg.norm(way))) > _SAME:
            common.append(way / length)
    ways = np.asarray(common[1:]).reshape(-1, queries.shape[1])
    questions = queries[:count]
    shared = common[0] + ((questions - common[0]) @ ways.T) @ ways
    questions = questions - COMMON_SHARE_REMOVED * shared  # as `VectorIndex` does
    answers, pairs = passages[:count], passages[count:]
    found, apart = questions @ answers.T, answers @ answers.T
    highest = float((pairs[::2] * pairs[1::2]).sum(axis=1).max())
    return SimilarityCalibration(
        unrelated=float(found[~np.eye(count, dtype=bool)].mean()),
        answer=float(found.diagonal().mean()),
        apart=float(apart[np.tril_indices(count, -1)].mean()),
        alike=highest + _SAFELY * (1 - highest),
        common=np.asarray(common, "<f2").tobytes(),
        general=np.mean(means[len(texts.common) :], axis=0).astype("<f2").tobytes(),
    )
