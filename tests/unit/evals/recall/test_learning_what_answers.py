"""Learning whether what was found answers a question, and the people it is learned from."""

import pytest

np = pytest.importorskip("numpy")

from bench import learn_judge, unknown  # noqa: E402 - needs numpy
from kenobot_evals.recall.datasets import Conversation  # noqa: E402


def _example(at: int, *, answered: bool, telling: float, source: str = "people") -> learn_judge.JudgedExample:
    features = np.array([[telling, at % 3], [0.0, at % 5]], np.float64)
    answers = np.array([float(answered), 0.0])
    return learn_judge.JudgedExample(
        source, features, answers, np.ones(2, np.bool_), np.zeros(0), answered, answered, at % unknown.FOLDS
    )


def test_what_only_answers_have_counts_for_one() -> None:
    examples = [_example(at, answered=at % 2 == 0, telling=float(at % 2 == 0)) for at in range(60)]
    odds = learn_judge.cross_validate(examples, [each.fold for each in examples])
    assert min(odds[::2]) > max(odds[1::2])


def test_a_source_with_few_near_misses_is_held_to_the_same_threshold() -> None:
    """Where the same tells answers, they are as likely whether a source has as many near misses or hardly any."""
    examples = [_example(at, answered=at % 2 == 0, telling=float(at % 2 == 0)) for at in range(60)]
    examples += [_example(at, answered=at % 6 > 0, telling=float(at % 6 > 0), source="own") for at in range(60)]
    plenty = learn_judge.learn(examples[:60]).score(examples[0])
    few = learn_judge.learn(examples[60:]).score(examples[0])
    assert few == pytest.approx(plenty, abs=0.7)


def test_of_questions_with_an_answer_only_so_many_are_denied() -> None:
    examples = [_example(at, answered=True, telling=1.0) for at in range(200)]
    odds = np.arange(200, dtype=np.float64)
    least = learn_judge.least_odds(odds, examples, 0.02)
    assert (odds < least).sum() == 4


def test_people_and_chats_count_the_same_however_many_questions_they_are_asked() -> None:
    examples = [_example(at, answered=True, telling=1.0) for at in range(300)]
    examples += [_example(at, answered=True, telling=1.0, source="chats") for at in range(100)]
    odds = np.array([*range(300), *[1000] * 100], np.float64)
    assert (odds < learn_judge.least_odds(odds, examples, 0.02)).sum() == 12


@pytest.mark.parametrize("everybody", [unknown.people(), unknown.judges()])
def test_each_person_is_asked_what_a_note_answers_and_what_none_does(everybody: list[Conversation]) -> None:
    assert everybody
    for person in everybody:
        keys = {each.key for each in person.passages}
        assert all(set(each.gold) <= keys for each in person.questions)
        assert any(each.gold for each in person.questions)
        assert any(not each.gold for each in person.questions)


def test_nobody_both_teaches_and_judges() -> None:
    assert not {each.name for each in unknown.people()} & {each.name for each in unknown.judges()}
    assert not set(unknown.CHATS) & set(unknown.CHATS_KEPT_BACK)
