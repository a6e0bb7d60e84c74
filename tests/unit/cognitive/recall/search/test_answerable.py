"""Judge whether what was found answers a question, by words alone and with similarities."""

import pytest

from kenobot.cognitive.recall.results.trace import JudgedItem, JudgedQuestion
from kenobot.cognitive.recall.search.answerable import (
    WORDS_ALONE,
    answer_odds,
    asked_words,
    is_answered,
    item_features,
    learned_weights,
)


@pytest.mark.parametrize(
    ("question", "answer", "near_miss"),
    [
        ("what's the plate of the scooter?", "the scooter's plate is MH12 AB 3344", "the scooter is a red Activa"),
        (
            "¿cuándo es la boda de Ana?",
            "la boda de Ana es el 12 de junio en Ronda",
            "a la boda de Ana voy con mi prima",
        ),
        ("how old is Agnes?", "the tortoise is Agnes, she's about 50", "my mate Shug is minding Agnes"),
        ("¿a qué hora es el dentista?", "el dentista es el martes a las 17:30", "el dentista es el martes"),
    ],
)
def test_an_answer_is_likelier_than_what_only_comes_near(question: str, answer: str, near_miss: str) -> None:
    likely, unlikely = (
        answer_odds(JudgedQuestion(question, [JudgedItem(text)]), WORDS_ALONE) or 0.0 for text in (answer, near_miss)
    )
    assert likely > unlikely
    assert is_answered(JudgedQuestion(question, [JudgedItem(answer)]), WORDS_ALONE)


def test_the_best_of_what_was_found_decides() -> None:
    question = "where's Priya getting married?"
    items = [JudgedItem("the gym closes at 10"), JudgedItem("my sister Priya is getting married in Udaipur")]
    assert is_answered(JudgedQuestion(question, items), WORDS_ALONE)


def test_nothing_is_judged_without_weights_or_items() -> None:
    judged = JudgedQuestion("where's the key?", [JudgedItem("the key is in the shed")])
    assert is_answered(judged, "a model of tomorrow") is None
    assert is_answered(JudgedQuestion("where's the key?", []), WORDS_ALONE) is None


def test_each_feature_has_a_weight_in_each_model() -> None:
    judged = JudgedQuestion("what's Ana's number?", [JudgedItem("Ana's number is 600 123", 1.2, {"number": 0.5})])
    names = set(item_features(judged)[0])
    assert all(set(weights.features) == names for weights in learned_weights().values())


def test_a_word_near_in_meaning_is_covered_as_one_that_stands_there() -> None:
    told = "i take 50mg sertraline in the morning"
    far, near = (
        item_features(JudgedQuestion("what am I on for the anxiety?", [JudgedItem(told, 1.0, {"anxiety": share})]))[0]
        for share in (0.1, 0.9)
    )
    assert far["reach least"] < near["reach least"] == 1.0


def test_words_that_mean_nothing_are_not_asked_for() -> None:
    assert asked_words("what is the name of my boss") == ("name", "boss")
