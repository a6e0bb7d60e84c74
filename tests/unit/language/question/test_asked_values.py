"""The value that a question asks for, and whether a text states one."""

import pytest

from kenobot.language.question.asked_values import classify_value, count_new_names, states_value, words_of_form
from kenobot.language.question.related_words import word_groups


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("reg of the van?", "code"),
        ("mum's birthday?", "date"),
        ("¿qué día pago el piso?", "date"),
        ("y el peluquero, cuánto cobra?", "money"),
        ("¿cuánta insulina me pongo?", "amount"),
        ("edad de papá?", "age"),
        ("what does Emeka do?", "job"),
        ("¿por qué se me estropeó el embrague?", "reason"),
        ("a qué hora llama Ramiro?", "clock"),
        ("what colour is my car", "colour"),
        ("who's minding the dog", "person"),
        ("did I lock the shed", "whether"),
        ("remember the milk", "none"),
    ],
)
def test_a_question_asks_for_a_value(question: str, kind: str) -> None:
    assert classify_value(question) == kind


@pytest.mark.parametrize(
    ("question", "text", "states"),
    [
        ("what's the alarm code?", "the alarm goes 4471 then the green button", True),
        ("¿cuánto cobra Rita?", "Rita cobra 300 por visita", True),
        ("de cuánto es mi pensión, cuánto cobro?", "la pensión me llega el 22", False),
        ("when's the bread delivered?", "bread comes on Tuesdays", True),
        ("¿qué día pago el piso?", "se paga el día 5", True),
        ("what's on the 9th?", "the 9th is marked", True),
        ("how old is Marcos?", "Marcos juega al ajedrez", False),
        ("who's doing mum's hip?", "mum goes in for the hip in March", False),
        ("who's doing mum's hip?", "mum's hip is done by Dr Pears", True),
        ("what time is the dentist?", "el dentista es el martes", False),
    ],
)
def test_a_text_states_a_value_that_the_question_does_not_have(question: str, text: str, states: bool) -> None:
    assert states_value(question, classify_value(question), text) == states


def test_words_of_form_are_not_what_a_question_is_about() -> None:
    form = words_of_form("how much is the password manager")
    assert {"how", "much"} <= form
    assert "password" not in form


def test_only_names_that_the_question_lacks_are_new() -> None:
    assert count_new_names("who is Priya marrying?", "Yes, Priya marries Rohan in June") == 1


@pytest.mark.parametrize(("one", "other"), [("jefa", "manager"), ("rent", "alquiler"), ("matrícula", "plate")])
def test_words_of_one_matter_are_related(one: str, other: str) -> None:
    from kenobot.language.words import fold

    assert word_groups(fold(one)) & word_groups(fold(other))
    assert not word_groups(fold(one)) & word_groups("dog")
