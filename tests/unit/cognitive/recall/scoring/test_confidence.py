"""How sure memory is of an answer: what is said of it to the model, and by what it goes."""

from dataclasses import replace

import pytest

pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.render import render_search as render
from kenobot.cognitive.recall.search.judge import answer_level, talk_level
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration
from kenobot.cognitive.recall.vectors.texts import VectorKey
from kenobot.cognitive.recall.vectors.vector_search import VectorIndex
from tests.unit.cognitive.recall.house import Memory

WIDE = SimilarityCalibration(unrelated=0.0, answer=0.5, apart=0.0, alike=0.9)


def test_the_level_goes_by_how_likely_an_answer_is() -> None:
    """From "none" to "high", by the thresholds of the policy."""
    policy = DEFAULT.recall
    assert answer_level(policy.none_below - 0.01, policy) == "none"
    assert answer_level(policy.none_below, policy) == "low"
    assert answer_level(policy.low_below, policy) == "medium"
    assert answer_level(policy.medium_below, policy) == "high"


@pytest.mark.parametrize(
    ("relevance", "level"), [(0.0, "none"), (0.1, "low"), (0.5, "medium"), (0.9, "medium"), (1.0, "medium")]
)
def test_talk_is_never_sure_of_an_answer(relevance: float, level: str) -> None:
    """Turns that share every word with a question may answer another one."""
    assert talk_level(relevance, DEFAULT.recall) == level


def _placed(memory: Memory, rows: dict[str, tuple[int, list[float]]], texts: dict[str, list[float]]) -> None:
    """Vectors of records and of questions, by hand. rows: by text, the record's number and its vector."""
    import numpy as np

    meaning = VectorIndex(("m",))
    meaning.set_calibration("m", WIDE)
    for number, row in rows.values():
        meaning.put("record", "m", [VectorKey(number, "owner", "owner")], np.array([row], np.float32))
    meaning.cache("m", "query", list(texts), list(texts.values()))
    memory.index.vectors = meaning


async def test_what_cannot_hold_the_answer_is_doubted_however_near(memory: Memory) -> None:
    """A weight is no weight without a number; the same words with one may be the answer."""
    walk = await memory.learn("The dog is walked by the river")
    _placed(
        memory,
        {"walk": (walk, [0.6, 0.8, 0, 0])},
        {"How much does the dog weigh?": [0.6, 0.8, 0, 0], "Where is the dog walked?": [0.6, 0.8, 0, 0]},
    )
    known = await memory.recall("Where is the dog walked?")
    unknown = await memory.recall("How much does the dog weigh?")
    assert known.answer_probability is not None and unknown.answer_probability is not None
    assert unknown.answer_probability < DEFAULT.recall.none_below < known.answer_probability


async def test_the_model_is_told_in_plain_words_that_memory_may_not_hold_it(memory: Memory) -> None:
    """Above what comes near; what is likely stands without a word, and so does what nobody asked for."""
    job = await memory.learn("Declan works as a sound engineer")
    _placed(memory, {"job": (job, [1, 0, 0, 0])}, {"What is his job?": [0.9, 0.43589, 0, 0]})
    pack = await memory.recall("What is his job?")
    assert pack.memories
    assert render(replace(pack, level="none", answer_probability=0.1)).startswith("_What follows may only come near")
    assert render(replace(pack, level="low", answer_probability=0.4)).startswith("_It is uncertain")
    assert render(replace(pack, level="high", answer_probability=0.9)).startswith("### Remembered")
    assert render(replace(pack, level="low", answer_probability=None)).startswith("### Remembered")


async def test_without_vectors_and_without_a_question_nothing_is_claimed(memory: Memory) -> None:
    """It cannot be told."""
    await memory.learn("Declan works as a sound engineer")
    assert (await memory.recall("What does Declan work as?")).answer_probability is None
