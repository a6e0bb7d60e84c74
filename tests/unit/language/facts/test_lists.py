"""Lists, deaths, meals and guesses are kept; what only says that something is forgotten is not."""

from datetime import date

import pytest

from kenobot.language.facts.heuristic import extract_facts
from kenobot.ports.memory import CONFIDED

SAID = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("lista de la compra: huevos, leche, pan sin gluten", "fact"),
        ("shopping list: eggs, milk", "fact"),
        ("packing list: passport, charger", "fact"),
        ("comprar: tomates, arroz", "fact"),
        ("todo: call bank", "commitment"),
        ("por hacer: llamar al banco", "commitment"),
        ("my dog died in May", "fact"),
        ("se murió mi abuela", "relationship"),
        ("ha muerto mi gato", "fact"),
        ("I had lasagne for lunch", "fact"),
        ("hoy comí lentejas", "fact"),
        ("I think the plumber comes on Tuesday", "fact"),
        ("I guess my blood type is A", "fact"),
        ("a lo mejor me mudo a Leeds en junio", "fact"),
    ],
)
def test_what_people_tell_in_passing_is_kept(text: str, category: str) -> None:
    """Word for word, and with its name or its doubt."""
    assert [(fact.text, fact.category) for fact in extract_facts(text, SAID)] == [(text, category)]


def test_a_list_in_lines_is_one_note() -> None:
    """Its items stand behind its name, whatever marked them."""
    assert [fact.text for fact in extract_facts("shopping list:\n- eggs\n- milk", SAID)] == [
        "shopping list: eggs, milk"
    ]
    assert [fact.text for fact in extract_facts("Tareas:\n1. pagar el gas\n2. llamar", SAID)] == [
        "Tareas: pagar el gas, llamar"
    ]


def test_a_guess_has_no_value() -> None:
    """It would take the place of what is known."""
    [fact] = extract_facts("I guess my favourite colour is green", SAID)
    assert (fact.attributes, fact.confidence) == ((), 0.7)


@pytest.mark.parametrize(
    "text",
    [
        "I don't remember the code",
        "no me acuerdo del código",
        "I forgot the code",
        "se me ha olvidado el código",
        "I am 22 minutes away",
        "I'm 5 minutes late",
        "estoy a 5 minutos",
        "I think so",
        "creo que tienes razón",
        "I hope you are well",
        "comí bien",
        "error: timeout, retrying",
    ],
)
def test_what_nobody_would_note_is_not(text: str) -> None:
    """What is forgotten, how soon somebody comes, and politeness."""
    assert extract_facts(text, SAID) == []


@pytest.mark.parametrize("text", ["I'm 40 now", "I live 5 minutes away from the office", "I left my umbrella at Tom's"])
def test_what_sounds_like_it_and_lasts_is_kept(text: str) -> None:
    """An age, a home, a place."""
    assert [fact.text for fact in extract_facts(text, SAID)] == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("pls remember that my locker is 14", "my locker is 14"),
        ("pls remember to buy milk", "to buy milk"),
        ("could u plz remember that my locker is 14", "my locker is 14"),
        ("porfa recuerda que soy celíaco", "soy celíaco"),
        ("acuerdate de q mi taquilla es la 14", "mi taquilla es la 14"),
        ("anota: mi taquilla es la 14", "mi taquilla es la 14"),
    ],
)
def test_a_wish_in_haste_is_a_wish(text: str, kept: str) -> None:
    """Politeness has short forms."""
    assert [fact.text for fact in extract_facts(text, SAID)] == [kept]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("my sister is pregnant, keep it a secret", "my sister is pregnant"),
        ("keep it a secret: my sister is pregnant", "my sister is pregnant"),
        ("Keep this a secret, I'm quitting in June", "I'm quitting in June"),
        ("I'm engaged, but keep it quiet please", "I'm engaged"),
        ("entre tú y yo, voy a dejar el trabajo", "voy a dejar el trabajo"),
        ("mi hermana está embarazada (guárdame el secreto)", "mi hermana está embarazada"),
    ],
)
def test_a_wish_for_silence_is_a_mark(text: str, kept: str) -> None:
    """It is no part of what was told."""
    assert [(fact.text, fact.tags) for fact in extract_facts(text, SAID)] == [(kept, (CONFIDED,))]


def test_what_somebody_keeps_a_secret_themselves_is_no_such_wish() -> None:
    """Its words stay."""
    text = "I have to keep it a secret from my mum that I smoke"
    assert [(fact.text, fact.tags) for fact in extract_facts(text, SAID)] == [(text, ())]
