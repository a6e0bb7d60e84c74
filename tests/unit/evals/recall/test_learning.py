"""What is learned on the sets that ship: that it is learned from the examples, and held to what makes sense."""

import pytest

np = pytest.importorskip("numpy", reason="weights are learned with numpy, which is not installed")

from bench import learn_confidence, learn_weights  # noqa: E402 - needs numpy
from kenobot.cognitive.recall.results.trace import ConfidenceFeatures  # noqa: E402
from kenobot.cognitive.recall.search import confidence  # noqa: E402


def test_weights_move_towards_what_answers_and_stay_where_they_are_kept() -> None:
    """The second part tells the answers; the first is not to be learned."""
    generator = np.random.default_rng(1)
    examples = []
    for at in range(40):
        answers = np.zeros(8, np.bool_)
        answers[at % 8] = True
        rows = np.column_stack([generator.random(8), generator.random(8) + answers])
        examples.append(learn_weights.Example(rows, answers, str(at)))
    prior = np.array([0.5, 0.5])
    kept = learn_weights.fit(examples, prior, kept=(0,))
    assert kept[0] == 0.5
    assert kept[1] > 0.8
    assert learn_weights.recall_at(examples, kept, 1) > learn_weights.recall_at(examples, np.array([1.0, 0.0]), 1)
    assert learn_weights.cross_validate(examples, prior, (0,)) == 1


def test_what_was_not_looked_at_counts_as_missed() -> None:
    """A question of two answers, of which one was not found, is half answered."""
    example = learn_weights.Example(np.array([[1.0], [0.0]]), np.array([True, False]), "a", missing=1)
    assert learn_weights.recall_at([example], np.array([1.0])) == 0.5


def _examples(named: float, answered: int, others: int, rest: tuple[float, float]) -> list[learn_confidence.Example]:
    made = []
    for number, (truth, near) in enumerate([(True, rest[0])] * answered + [(False, rest[1])] * others):
        left = near if named else 0.0
        signs = ConfidenceFeatures(near=1.0, rest=left, named=named, apart=0.0, kind=0.5, unknown=0.0, lacks=0.0)
        row = (signs.near, signs.rest, signs.named, signs.apart, signs.kind, signs.unknown, signs.lacks)
        made.append(learn_confidence.Example(row, truth, f"{named} {number}"))
    return made


def test_how_many_have_names_is_not_learned() -> None:
    """Where most of those with names have no answer, and nothing else tells them apart, a name says nothing."""
    examples = [*_examples(1, 10, 30, (0.5, 0.5)), *_examples(0, 30, 10, (0, 0))]
    found = dict(zip((*confidence.FEATURE_NAMES, "always"), learn_confidence.fit(examples), strict=True))
    assert found["named"] == pytest.approx(0, abs=0.05)


def test_a_sign_that_tells_is_learned_and_one_against_sense_is_not() -> None:
    """Nearness without the names tells; were it the other way round in the set, it would count for nothing."""
    found = dict(
        zip((*confidence.FEATURE_NAMES, "always"), learn_confidence.fit(_examples(1, 20, 20, (1.5, -0.5))), strict=True)
    )
    assert found["rest"] > 0.5
    against = dict(
        zip((*confidence.FEATURE_NAMES, "always"), learn_confidence.fit(_examples(1, 20, 20, (-0.5, 1.5))), strict=True)
    )
    assert against["rest"] == 0
    assert learn_confidence.cross_validate(_examples(1, 20, 20, (1.5, -0.5)))[:20].min() > 0.5
