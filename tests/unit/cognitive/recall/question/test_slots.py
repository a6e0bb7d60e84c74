"""Slots: what a question asks to be filled, and what a memory fills."""

import pytest

from kenobot.cognitive.recall.question.slots import asked_slots, asks, filled_slots, new_names, words_of_form


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("reg of the van?", "code"),
        ("mum's birthday?", "when"),
        ("¿cuánto calza Juana?", "size"),
        ("y el peluquero, cuánto cobra?", "money"),
        ("edad de papá?", "age"),
        ("what does Emeka do?", "job"),
        ("¿por qué se me estropeó el embrague?", "why"),
    ],
)
def test_a_question_asks_for_a_slot_in_whatever_place_it_says_so(question: str, slot: str) -> None:
    assert slot in asked_slots(question)


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("the alarm goes 4471 then the green button", "code"),
        ("Wife, Geraldine, passed in 2021", "year"),
        ("abro a las 5 y media de la mañana", "clock"),
        ("cobra 300 por visita", "money"),
        ("bread delivery 4:45am from Klosterman", "clock"),
    ],
)
def test_a_memory_fills_the_slots_that_it_holds(text: str, slot: str) -> None:
    assert slot in filled_slots(text)


def test_the_day_a_pension_comes_is_no_amount() -> None:
    assert "money" not in filled_slots("la pension me llega el 22")


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


def test_words_of_form_are_not_what_a_question_is_about() -> None:
    form = words_of_form("how much is the password manager")
    assert {"how", "much"} <= form
    assert "password" not in form


def test_only_names_that_the_question_lacks_are_new() -> None:
    assert new_names("who is Priya marrying?", "Yes, Priya marries Rohan in June") == 1
