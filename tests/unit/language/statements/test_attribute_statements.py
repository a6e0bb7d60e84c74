"""What a plain statement gives of a relative, and what of it stays when it is no longer so."""

import pytest

from kenobot.language.statements.attribute_statements import find_relation, is_single_valued, read_attribute


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("My sister Ana lives in Bilbao", "Ana is my sister"),
        ("Mi hermana Ana vive en Bilbao", "Ana es mi hermana"),
        ("Our son Leo is 4", "Leo is our son"),
        ("Ana has moved to Madrid", ""),
        ("my sister moved to Madrid", ""),
        ("I live in Rome", ""),
    ],
)
def test_a_relation_named_in_passing_is_a_statement_of_its_own(text: str, relation: str) -> None:
    """It stays when what else the statement says is no longer so."""
    assert find_relation(text) == relation


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("My sister Ana lives in Oslo", "Ana"),
        ("Mi hermana vive en Oslo", "sister"),
        ("Our daughter lives in Oslo", "daughter"),
    ],
)
def test_a_relative_is_known_by_name_or_by_the_relation_in_either_language(text: str, subject: str) -> None:
    """So that a move takes the place of where they lived."""
    found = read_attribute(text)
    assert found is not None
    assert (found.subject, found.attribute, found.value) == (subject, "residence", "Oslo")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("We moved from Leeds to York last month", "York"),
        ("We've moved from New York to Los Angeles", "Los Angeles"),
        ("Nos mudamos de Vigo a Lugo", "Lugo"),
        ("Me he mudado de A Coruña a Vigo", "Vigo"),
        ("I moved from marketing to sales", ""),
        ("I moved from the gym to the pool", ""),
        ("Chess moved from Monday to Friday", ""),
        ("I moved to Wednesday", ""),
    ],
)
def test_a_move_tells_where_one_lives_also_when_it_says_from_where(text: str, place: str) -> None:
    """In both languages; a change of work or of a day is no move."""
    found = read_attribute(text)
    assert (found.value if found is not None and found.attribute == "residence" else "") == place


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("Ana turned 34", "34"),
        ("Ana turns 34", "34"),
        ("I turned 34 years old", "34"),
        ("Ana cumple 34 años", "34"),
        ("Ana ha cumplido 34 años", "34"),
        ("cumplí 34 años", "34"),
        ("Ana tiene 34", "34"),
        ("Ana turned 90 degrees", ""),
        ("Ana tiene 3 hijos", ""),
    ],
)
def test_an_age_is_told_by_the_birthday_too(text: str, age: str) -> None:
    """In both languages; a number of anything else is none."""
    found = read_attribute(text)
    assert (found.value if found is not None and found.attribute == "age" else "") == age


@pytest.mark.parametrize(
    "name", ["allergies", "hobbies", "children", "Languages", "alergias", "aficiones", "hijos", "dog"]
)
def test_what_there_are_many_of_is_known_in_the_plural_too(name: str) -> None:
    """Two values of it say nothing against each other."""
    assert not is_single_valued(name)
    assert is_single_valued("residence")
