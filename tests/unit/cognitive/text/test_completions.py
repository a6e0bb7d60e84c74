"""Which statements tell the same of two things, so that one of them can end alone."""

import pytest

from kenobot.cognitive.text.completions import joins_things


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Pays for Netflix and Spotify", True),
        ("Paga Netflix y Spotify", True),
        ("Has to buy milk, bread, and eggs", True),
        ("Ana and Tom go to Rome in May", False),
        ("Irene y Dani quieren ir a Asturias en agosto", False),
        ("El alquiler son 850 al mes, y se lo suben en junio", False),
        ("Pays for Netflix", False),
    ],
)
def test_two_things_are_told_from_two_people_and_two_sentences(statement: str, expected: bool) -> None:
    assert joins_things(statement) is expected
