"""How well a record fits a question: by more than words and meaning."""

from datetime import date

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.scoring.relevance import (
    question_features,
    score_relevance,
)
from kenobot.cognitive.recall.scoring.weights import FIXED_WEIGHTS, RECORD_PRIOR, record_weights
from kenobot.language.question.answers import proper_names
from kenobot.language.question.question import parse_question
from kenobot.ports.records import Record

START = "2025-03-01T00:00:00.000Z"
NEAR = Record(
    1, "fact", "", "owner", "The boiler is old", "owner", "working", "active", 1.0, 1, START, START, START[:10], 1
)
TODAY = date(2025, 11, 20)


def _better(question: str, one: Record, other: Record, names: tuple[str, ...] = ()) -> bool:
    question_parts = question_features(parse_question(question), names, frozenset(), TODAY)
    found = score_relevance(question_parts, {1: one, 2: other}, {}, {1: 1.0, 2: 1.0}, DEFAULT.recall)
    return found[1][0] > found[2][0]


def test_the_nearer_fits_better_and_the_best_fully() -> None:
    """And what is behind falls behind by how much less it fits."""
    question = question_features(parse_question("What about the boiler?"), (), frozenset(), TODAY)
    found = score_relevance(question, dict.fromkeys((1, 2, 3), NEAR), {}, {1: 1.0, 2: 0.5}, DEFAULT.recall)
    assert found[1][0] == 1
    assert 1 > found[2][0] > found[3][0] > 0
    assert found[1][1]["meaning"] == 1


@pytest.mark.parametrize(
    ("question", "fits_better", "names"),
    [
        ("What does Kofi say of it?", NEAR._replace(text="Kofi says the boiler is old"), ()),
        ("¿Qué dice mi novio?", NEAR._replace(text="Íñigo dice que es vieja"), ("Íñigo",)),
        ("What happened in July?", NEAR._replace(day="2025-07-10"), ()),
        ("¿Qué hago los jueves?", NEAR._replace(text="The boiler rests on Thursdays"), ()),
        ("How old is it?", NEAR._replace(text="The boiler is 12 years old"), ()),
    ],
)
def test_what_is_known_of_the_question_counts(question: str, fits_better: Record, names: tuple[str, ...]) -> None:
    """Of two that are as near, the one that speaks of the person, of the day, or holds the kind of answer asked for."""
    assert _better(question, fits_better, NEAR, names)


def test_another_month_than_was_asked_for_counts_against_it() -> None:
    """A wedding in June is no wedding in July."""
    june = NEAR._replace(text="The wedding is on 14 June")
    assert _better("Which wedding is in July?", NEAR._replace(text="The wedding is at noon"), june)


def test_a_name_that_no_record_has_makes_no_difference() -> None:
    """It tells nothing of one against another."""
    assert not _better("What does Zebulon say?", NEAR, NEAR._replace(text="The roof is new"))


def test_what_is_odd_breaks_nothing() -> None:
    """A record without a day, a question without words."""
    assert not _better("In July?", NEAR._replace(day=""), NEAR._replace(day="some day"))
    assert (
        score_relevance(question_features(parse_question(""), (), frozenset(), TODAY), {}, {}, {}, DEFAULT.recall) == {}
    )


def test_names_stand_in_capitals_within_a_sentence() -> None:
    """The first word of one says nothing."""
    assert list(proper_names("¿Cuánto mide Íñigo?")) == ["Íñigo"]
    assert set(proper_names("What does Kofi tell Ingrid? Ask Kofi.")) == {"Kofi", "Ingrid"}
    assert not list(proper_names("Where is it?"))


def test_the_weights_that_ship_are_of_these_parts() -> None:
    """None is missing, nearness in meaning leads, and what is not learned is as it was set."""
    weights = record_weights()
    assert weights.keys() == RECORD_PRIOR.keys()
    assert max(weights, key=lambda name: weights[name]) == "meaning"
    assert {name: weights[name] for name in FIXED_WEIGHTS} == {name: RECORD_PRIOR[name] for name in FIXED_WEIGHTS}
