"""What of a memory goes on holding when another value takes the place of one of its own."""

import pytest

from kenobot.language.changes.value_phrase import tells_more, without_value


@pytest.mark.parametrize(
    ("text", "message", "yes", "part"),
    [
        ("The surgery opens at 8.30", "surgery opens at 8 now", "", "The surgery opens"),
        ("El colegio de Inés entra a las 7:30", "ahora la entrada es a las 8", "", "El colegio de Inés entra"),
        ("saco la basura los martes", "la basura pasa los jueves", "", "saco la basura"),
        ("My yoga is on Mondays with Ruth", "yoga is on Tuesdays now", *["My yoga with Ruth"] * 2),
        ("Entreno con Leo los martes", "entrenamos los jueves", *["Entreno con Leo"] * 2),
        ("Leo plays football on Tuesdays", "football is on Thursdays now", *["Leo plays football"] * 2),
    ],
)
def test_words_that_tell_nothing_without_a_value_stay_only_as_a_part(
    text: str, message: str, yes: str, part: str
) -> None:
    """After a yes all of it is over; who says that only a part is keeps them."""
    assert without_value(text, message) == yes
    assert without_value(text, message, is_part=True) == part


@pytest.mark.parametrize(
    ("text", "message", "more"),
    [
        ("I share a flat in Leith with my brother Tom", "Tom's gone back to Cork", True),
        ("Comparto piso en Gijón con mi prima Inés", "Inés se ha ido a Lugo", True),
        ("My yoga is on Mondays with Ruth", "yoga is on Tuesdays now", True),
        ("My husband Walter drives a bus", "Walter's retired now", False),
    ],
)
def test_what_is_told_of_company_leaves_open_whether_the_rest_goes_on(text: str, message: str, more: bool) -> None:
    """A memory of something done with somebody tells more than a message about that person."""
    assert tells_more(text, message) is more
