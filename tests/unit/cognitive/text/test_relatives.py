"""Which relation of the speaker's a text names somebody by."""

import pytest

from kenobot.cognitive.text.relatives import told_relatives


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
    assert told_relatives(text) == told
