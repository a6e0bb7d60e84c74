"""Which memory a message probably changes is judged by learned weights, for a question only."""

from datetime import date

import pytest

from kenobot.cognitive.remember.extract.likely_change import ASKS_FROM, StandingStatement, likely_changes, tellings

DAY = date(2026, 6, 8)
SPANISH = ("trabajo en una panadería y entro a las 7", "pago 480 de alquiler", "tengo dentista el jueves a las 5")
ENGLISH = ("I work at a bakery and start at 7", "I pay 480 in rent", "I have the dentist on Thursday at 5")


def _standing(texts: tuple[str, ...]) -> list[StandingStatement]:
    return [StandingStatement(text) for text in texts]


@pytest.mark.parametrize(
    ("message", "texts", "meant"),
    [
        ("me suben el alquiler a 510 desde julio", SPANISH, 1),
        ("el dentista me lo pasan al lunes a las 4", SPANISH, 2),
        ("they gave me the early shift at the bakery, I start at 6 from Monday", ENGLISH, 0),
        ("the dentist moved me to Monday at 4", ENGLISH, 2),
    ],
)
def test_the_memory_that_a_message_changes_is_the_likeliest(message: str, texts: tuple[str, ...], meant: int) -> None:
    """Its words, its kind of value and the turn of the sentence tell it, in both languages."""
    odds = likely_changes(message, DAY, _standing(texts))
    assert odds[meant] == max(odds)
    assert odds[meant] >= ASKS_FROM


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("qué frío hace hoy, madre mía", SPANISH),
        ("mi hermana se llama Pilar y vive en Soria", SPANISH),
        ("lovely weather today, isn't it", ENGLISH),
        ("my sister Joan keeps two donkeys", ENGLISH),
    ],
)
def test_what_changes_nothing_is_not_asked_about(message: str, texts: tuple[str, ...]) -> None:
    """Talk of the day, and what is new."""
    assert max(likely_changes(message, DAY, _standing(texts))) < ASKS_FROM


def test_odds_are_of_one_change_at_most() -> None:
    """They add up to the odds of any change; without memories there is none."""
    odds = likely_changes("me suben el alquiler a 510", DAY, _standing(SPANISH))
    assert all(0 <= each <= 1 for each in odds)
    assert sum(odds) <= 1
    assert likely_changes("me suben el alquiler a 510", DAY, []) == []


def test_a_change_may_stand_in_one_sentence_of_several() -> None:
    """The message is read whole and by its sentences, a few of them; one sentence only once."""
    assert tellings("Gilmartin rang. We go on Friday instead.") == [
        "Gilmartin rang. We go on Friday instead.",
        "Gilmartin rang.",
        "We go on Friday instead.",
    ]
    assert tellings("ok, on Friday then") == ["ok, on Friday then"]
    assert len(tellings("This is one more sentence. " * 20)) == 5
