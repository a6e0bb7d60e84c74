"""Judge whether what was found answers a question, by words alone and with similarities."""

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.search.judge import (
    WORDS_ALONE,
    answer_probability,
    is_answered_by,
    load_weights,
    speaker_probability,
)
from kenobot.cognitive.recall.search.speakers import SPEAKER_NAMES, SpeakerFeatures
from kenobot.language.question.answer_features import JudgedItem, JudgedQuestion, item_features
from kenobot.language.question.question import parse_question


def _judged(question: str, *texts: str) -> JudgedQuestion:
    return JudgedQuestion(parse_question(question), [JudgedItem(text) for text in texts])


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
        ("how much is my pension?", "my pension is 812 a month", "my pension comes on the 22nd"),
        ("who's my boss?", "my manager is Moira", "my boss is on leave until May"),
    ],
)
def test_an_answer_is_likelier_than_what_only_comes_near(question: str, answer: str, near_miss: str) -> None:
    likely, unlikely = (answer_probability(_judged(question, text), WORDS_ALONE) or 0.0 for text in (answer, near_miss))
    assert likely > unlikely
    assert is_answered_by(parse_question(question), [answer], DEFAULT.recall)


def test_the_best_of_what_was_found_decides() -> None:
    texts = ["the gym closes at 10", "my sister Priya is getting married in Udaipur"]
    assert is_answered_by(parse_question("where's Priya getting married?"), texts, DEFAULT.recall)


def test_nothing_is_judged_without_items() -> None:
    assert answer_probability(_judged("where's the key?"), WORDS_ALONE) is None


def test_a_model_without_weights_is_judged_by_those_for_others() -> None:
    judged = _judged("where's the key?", "the key is in the shed")
    assert answer_probability(judged, "a model of tomorrow") == answer_probability(judged, "others")


def test_each_feature_has_a_weight_in_each_model() -> None:
    names = set(item_features(_judged("what's Ana's number?", "Ana's number is 600 123"))[0])
    assert all(set(weights.features) == names for weights in load_weights().answer.values())


def test_a_word_near_in_meaning_is_covered_as_one_that_stands_there() -> None:
    question, told = parse_question("what am I on for the anxiety?"), "i take 50mg sertraline in the morning"
    far, near = (
        item_features(JudgedQuestion(question, [JudgedItem(told, 1.0, {"anxiety": share})]))[0] for share in (0.1, 0.9)
    )
    assert far["reach least"] < near["reach least"] == 1.0


def test_an_item_is_compared_with_the_mean_of_the_others() -> None:
    """Alone it leads nothing; a note in other letters is marked as such."""
    question = parse_question("where's the key?")
    items = [JudgedItem("the key is in the shed", 0.9, relevance=0.8), JudgedItem("Το κλειδί", 0.5, relevance=0.2)]
    first, second = item_features(JudgedQuestion(question, items))
    assert first["relevance lead"] == -second["relevance lead"] == pytest.approx(0.6)
    assert first["lead of mean"] == pytest.approx(0.4)
    assert (first["other script"], second["other script"]) == (0, 1)
    (alone,) = item_features(JudgedQuestion(question, items[:1]))
    assert alone["relevance lead"] == alone["lead of mean"] == 0


def test_a_related_word_covers_a_word_of_the_question() -> None:
    related, other = item_features(_judged("who's my boss?", "my manager is Moira", "my vet is Moira"))
    assert related["known least"] > other["known least"]


def test_words_that_mean_nothing_are_not_asked_for() -> None:
    assert parse_question("what is the name of my boss").asked_words == ("name", "boss")


def test_what_the_speaker_asked_about_says_counts() -> None:
    """What another said of the same makes an answer less likely."""
    weights = load_weights().speakers
    assert weights.keys() == {*SPEAKER_NAMES, "always"}
    assert all(weights[name] >= 0 for name in SPEAKER_NAMES)
    least = DEFAULT.recall.none_below
    assert speaker_probability(SpeakerFeatures(1, 0, 1, 1)) > least > speaker_probability(SpeakerFeatures(0, -1, 1, 0))
