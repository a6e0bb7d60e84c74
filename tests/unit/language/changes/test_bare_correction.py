"""A correction that names only what is right, beside what was told right before."""

import pytest

from kenobot.language.changes.bare_correction import corrects_value, join_correction


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("My rent is 850 euros", "Actually it's 900"),
        ("My rent is 850 euros.", "no wait, it's 900 euros"),
        ("Mi alquiler es de 850 euros", "no, son 900"),
        ("I take 20 mg of ramipril", "sorry, it's 10 mg"),
        ("La cita es el jueves a las 5", "perdón, es a las 6"),
        ("My favourite colour is red", "no, it's blue"),
        ("Mi color favorito es el rojo", "mejor dicho, es el azul"),
        ("I live in Lyon", "no, it's Vigo"),
    ],
)
def test_another_value_of_the_same_kind_is_a_correction(statement: str, message: str) -> None:
    """A figure for a figure, a name for a name, and words for what one likes best."""
    assert corrects_value(message, statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("My rent is 850 euros", "it's 900"),
        ("My rent is 850 euros", "Actually it's raining"),
        ("My rent is 850 euros", "Actually it's 850"),
        ("I have 2 dogs", "Actually it's 5 o'clock"),
        ("I have 2 dogs", "no, it's fine"),
        ("My favourite colour is red", "no, it's raining"),
        ("My favourite colour is red", "no, it's red"),
        ("Vivo en Lyon", "no, es broma"),
        ("I live in Bath", "no, it's 900"),
        ("My rent is 850 euros", "no, my bike cost 900"),
    ],
)
def test_what_only_looks_like_one_is_none(statement: str, message: str) -> None:
    """Without an opening, with the same value or one of another kind, or with a subject of its own."""
    assert not corrects_value(message, statement)


def test_both_stand_in_their_own_words() -> None:
    """A full stop parts them, where the first has no end mark."""
    assert join_correction("My rent is 850 euros", "Actually it's 900 ") == "My rent is 850 euros. Actually it's 900"
    assert join_correction("Se llama ¡Sol!", "no, es Luz") == "Se llama ¡Sol! no, es Luz"
