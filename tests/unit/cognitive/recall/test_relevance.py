"""How well a record fits a question: by more than words and meaning."""

from dataclasses import replace
from datetime import date

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.scoring.relevance import (
    RecordFeatures,
    proper_names_text,
    question_features,
    score_relevance,
)
from kenobot.cognitive.recall.scoring.weights import FIXED_WEIGHTS, RECORD_PRIOR, record_weights

NEAR = RecordFeatures("The boiler is old", "owner", "2025-03-01", 0.0, 1.0)
TODAY = date(2025, 11, 20)


def _better(question: str, one: RecordFeatures, other: RecordFeatures, names: tuple[str, ...] = ()) -> bool:
    found = score_relevance(question_features(question, names, frozenset(), TODAY), {1: one, 2: other}, DEFAULT.recall)
    return found[1][0] > found[2][0]


def test_the_nearer_fits_better_and_the_best_fully() -> None:
    """And what is behind falls behind by how much less it fits."""
    held = {1: NEAR, 2: replace(NEAR, similarity=0.5), 3: replace(NEAR, similarity=None)}
    found = score_relevance(question_features("What about the boiler?", (), frozenset(), TODAY), held, DEFAULT.recall)
    assert found[1][0] == 1
    assert 1 > found[2][0] > found[3][0] > 0
    assert found[1][1]["meaning"] == 1


@pytest.mark.parametrize(
    ("question", "fits_better", "names"),
    [
        ("What does Kofi say of it?", replace(NEAR, text="Kofi says the boiler is old"), ()),
        ("¿Qué dice mi novio?", replace(NEAR, text="Íñigo dice que es vieja"), ("Íñigo",)),
        ("What happened in July?", replace(NEAR, day="2025-07-10"), ()),
        ("¿Qué hago los jueves?", replace(NEAR, text="The boiler rests on Thursdays"), ()),
        ("How old is it?", replace(NEAR, text="The boiler is 12 years old"), ()),
    ],
)
def test_what_is_known_of_the_question_counts(
    question: str, fits_better: RecordFeatures, names: tuple[str, ...]
) -> None:
    """Of two that are as near, the one that speaks of the person, of the day, or holds the kind of answer asked for."""
    assert _better(question, fits_better, NEAR, names)


def test_another_month_than_was_asked_for_counts_against_it() -> None:
    """A wedding in June is no wedding in July."""
    june = replace(NEAR, text="The wedding is on 14 June")
    assert _better("Which wedding is in July?", replace(NEAR, text="The wedding is at noon"), june)


def test_a_name_that_no_record_has_makes_no_difference() -> None:
    """It tells nothing of one against another."""
    assert not _better("What does Zebulon say?", NEAR, replace(NEAR, text="The roof is new"))


def test_what_is_odd_breaks_nothing() -> None:
    """A record without a day, a question without words."""
    assert not _better("In July?", replace(NEAR, day=""), replace(NEAR, day="some day"))
    assert score_relevance(question_features("", (), frozenset(), TODAY), {}, DEFAULT.recall) == {}


def test_names_stand_in_capitals_within_a_sentence() -> None:
    """The first word of one says nothing, and in a very long message nobody is asked about."""
    assert proper_names_text("¿Cuánto mide Íñigo?") == "Íñigo"
    assert proper_names_text("What does Kofi tell Ingrid? Ask Kofi.") == "Kofi Ingrid"
    assert proper_names_text("Where is it?") == ""
    assert proper_names_text("Kofi and Ingrid " * 100) == ""


def test_the_weights_that_ship_are_of_these_parts() -> None:
    """None is missing, nearness in meaning leads, and what is not learned is as it was set."""
    weights = record_weights()
    assert weights.keys() == RECORD_PRIOR.keys()
    assert max(weights, key=lambda name: weights[name]) == "meaning"
    assert {name: weights[name] for name in FIXED_WEIGHTS} == {name: RECORD_PRIOR[name] for name in FIXED_WEIGHTS}
