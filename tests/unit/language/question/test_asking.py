"""Messages that ask for something, with a question mark or without."""

import pytest

from kenobot.language.question.asking import asks


@pytest.mark.parametrize(
    "text",
    [
        *(
            "how much do i pay Sunita",
            "dónde canto los lunes",
            "tell me my PIN",
            "where's priya getting married",
            "ok?",
        ),
        *("who walks the dog on Fridays", "which drawer holds the fuses", "how cold is the cellar kept"),
        *(
            "para cuándo quiere Inés el vestido",
            "cuándo me operan la rodilla",
            "q talla usa mi nieto",
            "a mi que me toca traer",
        ),
        *("any idea when the lease ends", "sabes dónde aparqué", "btw what colour is the hall"),
    ],
)
def test_what_begins_as_a_question_asks_without_a_mark(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "the christening, where is it",
            "gym fee, how much each month",
            "la clave del trastero cuál era",
            "Rosa q dia viene",
        ),
        *("y el notario, a qué hora", "el nif de Sonia dime"),
    ],
)
def test_what_ends_as_a_question_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "combination for the shed",
            "Noor's birthday",
            "printer ip",
            "next boiler service",
            "pin for the tablet please",
        ),
        *("teléfono del colegio", "la matrícula del remolque", "talla de Hugo", "clave del wifi, por favor"),
    ],
)
def test_the_name_of_what_may_be_sought_asks_for_it(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "combination for the shed is on the fridge",
            "shed combination 4471",
            "changed the wifi password",
            "new number for Noor",
        ),
        *(
            "passport in the bottom drawer",
            "el teléfono del colegio: 600 123",
            "he perdido la clave del wifi",
            "sube la cuota en mayo",
        ),
        "cambio de turno con Hugo",
    ],
)
def test_what_is_told_of_it_does_not_ask(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    [
        *("when I get home I'll call you", "cuando llegue a casa te cuento", "rent's 640", "que no"),
        *("desde que nació Leo no duermo", "qué rabia de lunes", "who knew it would snow", "I don't know where it is"),
    ],
)
def test_what_only_begins_with_such_a_word_tells(text: str) -> None:
    assert not asks(text)
