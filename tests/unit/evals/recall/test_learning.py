"""What is learned on the sets that ship: that it is learned from the examples, and held to what makes sense."""

from dataclasses import astuple, replace

import pytest

np = pytest.importorskip("numpy", reason="weights are learned with numpy, which is not installed")

from bench import learn_judge, learn_weights  # noqa: E402 - needs numpy
from bench.regression import Example  # noqa: E402
from kenobot.cognitive.recall.search import judge  # noqa: E402
from kenobot_evals.recall import datasets  # noqa: E402


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
    assert learn_weights.cross_validate(examples, prior, (0,)) == [1, 1, 1]


def test_what_talk_hardly_tells_apart_is_held_to_the_round_weights() -> None:
    """Of pulls by which as much is found in what was left out, the strongest is taken."""
    rows, answers = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([True, False])
    examples = [learn_weights.Example(rows, answers, str(at)) for at in range(3)]
    pull, found = learn_weights.choose_pull(examples, np.array([1.0, 0.5]))
    assert pull == max(learn_weights.PULLS)
    assert found == [1, 1, 1]


def test_what_was_not_looked_at_counts_as_missed() -> None:
    """A question of two answers, of which one was not found, is half answered."""
    example = learn_weights.Example(np.array([[1.0], [0.0]]), np.array([True, False]), "a", missing=1)
    assert learn_weights.recall_at([example], np.array([1.0])) == 0.5


def test_a_small_memory_is_asked_what_it_answers_and_what_it_does_not() -> None:
    """Every note is in one part, with those that replace it; what a part does not answer has no answer there."""
    for whole in datasets.load("own"):
        parts = datasets.few_notes(whole)
        assert sorted(note.key for part in parts for note in part.passages) == sorted(n.key for n in whole.passages)
        for part in parts:
            known = {note.key for note in part.passages}
            assert all(note.replaces in {"", *known} for note in part.passages)
            assert all(not known.isdisjoint(q.gold) for q in part.questions if q.gold)
            assert {q.category for q in part.questions if not q.gold} == {"absent", "unrelated"}


def test_a_note_fits_by_its_nearness_and_a_general_question_asks_for_more() -> None:
    """What is learned of notes may only count the way that makes sense."""
    near = judge.FitFeatures(meaning=1.5, named=0, personal=0, general=0, kind=0, days=0)
    rows = [(near, True)] * 20 + [(replace(near, meaning=0.2), False)] * 20 + [(replace(near, general=1), False)] * 20
    examples = [Example(astuple(row), truth, str(at)) for at, (row, truth) in enumerate(rows)]
    found = dict(zip((*judge.FIT_NAMES, "always"), learn_judge.fit_notes(examples), strict=True))
    assert found["meaning"] > 0 > found["general"]
    assert all(found[name] >= 0 for name in ("named", "personal", "kind", "days"))
