"""Which value of an attribute takes the place of another, where nobody has compared the statements."""

import pytest

from kenobot.language.statements.single_values import ValueStatement, takes_place
from tests.cases import each

REPLACED = [
    ("city", ("The user lives in Oslo", "Oslo"), ("I moved to Paris", "Paris")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user moved from Oslo to Paris last month", "Paris")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user lives in Paris, not in Oslo.", "Paris")),
    ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario se ha mudado a Lugo", "Lugo")),
    ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario vive en Lugo, no en Vigo", "Lugo")),
    ("residence", ("The user moved to Oslo", "Oslo"), ("The user lives in Paris, France.", "Paris")),
    ("residence", ("User lives in Oslo", "oslo"), ("User now lives in Paris", "paris")),
    ("residencia", ("El usuario vive en A Coruña", "A Coruña"), ("El usuario ahora vive en Madrid", "Madrid")),
    ("employer", ("The user works at Acme", "Acme"), ("The user works for Globex now", "Globex")),
    ("employer", ("El usuario trabaja en Acme", "Acme"), ("El usuario ahora trabaja para Globex", "Globex")),
    ("name", ("The user's name is Ana", "Ana"), ("The user is called Eva", "Eva")),
    ("nombre", ("El usuario se llama Ana", "Ana"), ("Me llamo Eva", "Eva")),
    ("birthday", ("The user's birthday is 3 May", "3 May"), ("The user's birthday is on 4 May", "4 May")),
    ("birthday", ("The user was born on May 3rd, 1990", "1990-05-03"), ("Born on 4 May 1990", "1990-05-04")),
    ("cumpleaños", ("El cumpleaños del usuario es el 3 de mayo", "3 de mayo"), ("Nació el 4 de mayo", "4 de mayo")),
    ("phone", ("The user's phone number is 600111222", "600111222"), ("New phone number: 600 333 444", "600 333 444")),
    ("telefono", ("Su teléfono es 600111222", "600111222"), ("Su nuevo teléfono es 600333444", "600333444")),
    ("email", ("Email is a@x.org", "a@x.org"), ("The user's email changed to b@y.org", "b@y.org")),
    ("age", ("The user is 34 years old", "34"), ("The user turned 35", "35")),
    ("edad", ("El usuario tiene 34 años", "34"), ("El usuario ha cumplido 35 años", "35")),
    (
        "favourite colour",
        ("Favourite colour is blue", "blue"),
        ("The user's favourite colour is dark green", "dark green"),
    ),
    ("shoe size", ("The user's shoe size is 42", "42"), ("The user wears shoe size 43", "43")),
]

BESIDE = [
    ("city", ("The user lives in Oslo", "Oslo"), ("The user lived in Rome until 2015", "Rome")),
    ("city", ("The user lived in Rome until 2015", "Rome"), ("The user lives in Oslo", "Oslo")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user moved to Madrid in 2010", "Madrid")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user is in Rome this week", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user is in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user is from Bergen", "Bergen")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user may live in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user does not live in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user used to live in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user will live in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user wants to live in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user moved from Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user lives in Rome, also in Bonn", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user lives in Oslo, not in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("The user lives in Rome, not only in Oslo", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("If the job works out, the user lives in Rome", "Rome")),
    ("city", ("The user lives in Oslo", "Oslo"), ("Before he moved to Rome, the user lived in Bonn", "Rome")),
    ("ciudad", ("El usuario vive en Vigo", "Vigo"), ("Si sale el trabajo, el usuario vive en Lugo", "Lugo")),
    ("residence", ("The user lives in Oslo", "Oslo"), ("The user also lives in Rome", "Rome")),
    ("residence", ("The user lives in Oslo", "Oslo"), ("The user lives in Rome on weekends", "Rome")),
    ("residence", ("The user lives in Oslo", "Oslo"), ("The user lives in Rome on weekends", "Rome on weekends")),
    ("residence", ("The user lives in Oslo", "Oslo"), ("The user's sister lives in Rome", "Rome")),
    ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario vivía en Lugo", "Lugo")),
    ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario vivió en Lugo de niño", "Lugo")),
    ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario también vive en Lugo", "Lugo")),
    ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario vive en Lugo en verano", "Lugo")),
    ("employer", ("The user works at Acme", "Acme"), ("The user also works at Beta on weekends", "Beta")),
    ("employer", ("The user works at Acme", "Acme"), ("The user has a second job at Beta", "Beta")),
    ("employer", ("The user works at Acme on Mondays", "Acme"), ("The user works at Beta", "Beta")),
    ("employer", ("The user works at Acme", "Acme"), ("The user worked at Beta", "Beta")),
    ("employer", ("El usuario trabaja en Acme", "Acme"), ("El usuario trabaja en Beta los fines de semana", "Beta")),
    ("name", ("The user's name is Ana", "Ana"), ("The user's cat is called Misu", "Misu")),
    ("name", ("The user's name is Ana", "Ana"), ("The user's stage name is Lola", "Lola")),
    ("nombre", ("El usuario se llama Ana", "Ana"), ("El hijo del usuario se llama Leo", "Leo")),
    ("birthday", ("The user's birthday is 3 May", "3 May"), ("The user's birthday is on Saturday", "Saturday")),
    ("birthday", ("The user's birthday is 3 May", "3 May"), ("The birthday party is on 8 May", "8 May")),
    ("phone", ("The user's phone is 600111222", "600111222"), ("The user's phone is a Pixel 8", "a Pixel 8")),
    ("phone", ("The user's phone is 600111222", "600111222"), ("The user's phone is a Pixel 8", "Pixel 8")),
    ("phone", ("The user's phone is 600111222", "600111222"), ("The user's work phone is 600333444", "600333444")),
    ("email", ("The user's email is a@x.org", "a@x.org"), ("The user's email at work is b@y.org", "b@y.org")),
    ("age", ("The user is 34 years old", "34"), ("The user's son is 5 years old", "5")),
    ("favourite colour", ("Favourite colour is blue", "blue"), ("A second favourite colour is green", "green")),
]

OF_MANY = (
    "allergy,allergies,food allergies,drug allergy,allergic to,alergias,medication,medicine,medicación,instrument,"
    "instrumento,children,child,kids,hijos,flat,piso,favourite film,favourite food,película favorita,hobbies,hobby,"
    "language,languages,pet,pets,dog name,car,job,profession,location,wife,mother,diet,topic,school,gym,bank"
).split(",")


def _is_replaced(attribute: str, known: tuple[str, str], told: tuple[str, str]) -> bool:
    return takes_place(attribute, ValueStatement(*told, ("owner",)), ValueStatement(*known, ("owner",)))


@each("case", REPLACED)
def test_a_plain_value_of_what_there_is_one_of_takes_the_place(
    case: tuple[str, tuple[str, str], tuple[str, str]],
) -> None:
    """Told as being so now, in whatever words for it, in both languages."""
    assert _is_replaced(*case), case


@each("case", BESIDE)
def test_any_word_more_leaves_both(case: tuple[str, tuple[str, str], tuple[str, str]]) -> None:
    """In the past, besides, at times, perhaps, of something else, or a value of another kind."""
    assert not _is_replaced(*case), case


@each("name", OF_MANY)
def test_of_what_there_may_be_several_no_value_replaces_another(name: str) -> None:
    """Whatever a model calls it."""
    assert not _is_replaced(name, (f"The user's {name} is Alpha", "Alpha"), (f"The user's {name} is Beta", "Beta"))


@pytest.mark.parametrize(
    ("attribute", "known", "told", "replaces"),
    [
        ("residence", ("I live in Paris", "Paris"), ("I live in Oslo", "Oslo"), True),
        ("residence", ("I live in Paris", "Paris"), ("I moved to Linux", "Linux"), False),
        ("residence", ("I moved to Linux", "Linux"), ("I live in Paris", "Paris"), False),
        ("residence", ("Vivo en Madrid", "Madrid"), ("Me he mudado a Movistar", "Movistar"), False),
    ],
)
def test_a_move_that_rules_read_is_no_home(
    attribute: str, known: tuple[str, str], told: tuple[str, str], *, replaces: bool
) -> None:
    """It may be one to another phone or service."""
    one, other = (ValueStatement(*each, ("owner",), by_rules=True) for each in (told, known))
    assert takes_place(attribute, one, other) == replaces


def test_the_other_values_of_a_statement_are_no_words_more() -> None:
    """A note of two values is ended for the one by a statement of it."""
    known = ValueStatement("Laura, a baker, lives in Lyon", "Lyon", ("laura",), ("baker",))
    assert takes_place("city", ValueStatement("Laura lives in Paris", "Paris", ("laura",)), known)
