"""A message is about one clause of a memory, and the others go on holding."""

from datetime import date

import pytest

from kenobot.language.changes.clauses import split_clauses, without_clause
from kenobot.language.changes.meant_clause import find_clause

DAY = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("text", "message", "left"),
    [
        (
            "Trabajo en una imprenta en Vitoria, entro a las 7 y media",
            "desde el lunes entro a las 9",
            "Trabajo en una imprenta en Vitoria",
        ),
        ("I'm a cashier at Kroger, I start at 8", "I start at 10 now", "I'm a cashier at Kroger"),
        ("Rent is £720 a month, we pay it to Mr Khan", "the rent's 780 a month now", "we pay it to Mr Khan"),
        ("I drive a Ford Focus and my wife drives a Mini", "I don't drive the Focus", "my wife drives a Mini"),
        ("Entreno los lunes y juego de portero", "ya no entreno los lunes", "juego de portero"),
        ("I live in Bath. My desk is by the window.", "my desk is by the door now", "I live in Bath"),
    ],
)
def test_the_clause_that_is_meant_goes_and_the_rest_stays(text: str, message: str, left: str) -> None:
    """What is left are the words of the memory, in their order."""
    assert without_clause(text, find_clause(message, DAY, text)) == left


@pytest.mark.parametrize(
    ("text", "clause", "left"),
    [
        ("I live in Lyon and work at Acme", "I live in Lyon", "I work at Acme"),
        (
            "My brother Tom lives in Leeds and works as a vet",
            "My brother Tom lives in Leeds",
            "My brother Tom works as a vet",
        ),
        (
            "Mi hermana Pilar vive en Huesca y trabaja de enfermera.",
            "Mi hermana Pilar vive en Huesca",
            "Mi hermana Pilar trabaja de enfermera",
        ),
        (
            "I'm Ana. My brother lives in Leeds and works as a vet.",
            "My brother lives in Leeds",
            "I'm Ana. My brother works as a vet.",
        ),
        (
            "I'm Ana. My brother lives in Leeds and works as a vet.",
            "works as a vet",
            "I'm Ana. My brother lives in Leeds",
        ),
        ("Mi madre está en el Clínico y tiene 74 años", "Mi madre está en el Clínico", "Mi madre tiene 74 años"),
    ],
)
def test_what_is_left_keeps_its_subject(text: str, clause: str, left: str) -> None:
    """A clause that went on about the subject of the one that goes is about nobody else afterwards."""
    assert without_clause(text, clause) == left


@pytest.mark.parametrize(
    "text",
    [
        "I live in Bath",
        "I like fish and chips",
        "vendo pan y leche",
        "mi señora y yo tenemos un vocho del 94",
        "Mi mujer, Rosalía, está en paro",
        "my wife and I have a boat",
        "we have the one car, a Skoda",
        "vamos a la playa en enero, a Mar de Ajó",
    ],
)
def test_a_statement_of_one_clause_is_meant_whole(text: str) -> None:
    """A list or whom it is about is no clause of its own, and without the one clause nothing is left."""
    assert split_clauses(text) == [text]
    assert find_clause("not any more", DAY, text) == ""
    assert without_clause(text, text) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I've a landline, it's 0121 496 0000", "we no longer have the landline"),
        ("We've a golden retriever, Murphy, who's 13", "we had to say goodbye to Murphy"),
        ("Tengo una perra, Luna, que tiene 9 años", "Luna se murió el lunes"),
        ("I'm allergic to eggs, have been since I was small", "the egg allergy is gone"),
    ],
)
def test_what_says_nothing_without_a_clause_goes_with_it(text: str, message: str) -> None:
    """All of the statement is meant, so that no half of it stays."""
    assert find_clause(message, DAY, text) == ""
