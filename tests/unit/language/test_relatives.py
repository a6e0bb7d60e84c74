"""Which relation of the speaker's a text names somebody by."""

import pytest

from kenobot.language.relatives import find_lost_relative, list_relatives


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Mi hermana Pilar vive en Huesca", {("sister", "pilar")}),
        ("mi hermano mayor, Íñigo, es médico", {("brother", "iñigo")}),
        ("Mi madre se llama Rosa y mi padre es Paco", {("mother", "rosa"), ("father", "paco")}),
        ("My little sister is called Ana", {("sister", "ana")}),
        ("Our daughter Zoë loves maths", {("daughter", "zoe")}),
        ("Tom is my brother", {("brother", "tom")}),
        ("Gwen es ahora mi jefa", {("boss", "gwen")}),
        ("My sister Ana's birthday is in May", {("sister", "ana")}),
        ("Ana, mi hermana, vive en Huesca", {("sister", "ana")}),
        ("Today my sister called", set()),
        ("Ayer mi madre fue al médico", set()),
        ("My boss I can't stand", set()),
        ("Gwen is my sister's friend", set()),
        ("My sister is tired", set()),
        ("Her sister Ana lives in Rome", set()),
        ("Mi hermana vive en Huesca", set()),
        ("我妹妹叫小红", set()),
        ("", set()),
    ],
)
def test_a_relation_is_told_beside_a_name(text: str, told: set[tuple[str, str]]) -> None:
    """Before the name or behind it, in either language, and only of the speaker's own people."""
    assert list_relatives(text) == told


@pytest.mark.parametrize(
    ("text", "message", "kept"),
    [
        ("Mi hija Renata estudia derecho", "Renata se cambió a psicología", "Mi hija Renata"),
        ("My sister Ana Belén lives in Leeds", "Ana Belén moved to York", "My sister Ana Belén"),
        ("My husband Walter works at the port", "my husband Walter is retired", ""),
        ("My boss is Linda Cho", "Linda left, now I report to Abdul", ""),
        ("My landlord is Mr. Petrov", "the building was sold", ""),
        ("La entrenadora de mi hijo es Marta", "ahora lo entrena Goyo", ""),
        ("The coach of my son is Marta", "Goyo trains him now", ""),
    ],
)
def test_who_somebody_is_stays_when_the_rest_is_over(text: str, message: str, kept: str) -> None:
    """Nothing stays where that is all a text tells, and nobody is called what somebody else is."""
    assert find_lost_relative(text, message) == kept
