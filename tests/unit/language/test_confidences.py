"""What is told in confidence, by the words around it."""

import pytest

from kenobot.language.confidences import is_confided


@pytest.mark.parametrize(
    "text",
    [
        "Te voy a contar un secreto: estoy buscando otro trabajo",
        "te cuento un secreto, estoy embarazada",
        "Estoy embarazada, nadie lo sabe todavía",
        "No se lo he dicho a nadie, pero me voy",
        "que quede entre nosotros: me caso",
        "I'll tell you a secret: I'm quitting my job",
        "I'm pregnant. I haven’t told anyone yet",
        "I'm moving out, nobody else knows this yet",
        "don't tell anyone but I'm planning a party",
    ],
)
def test_what_asks_to_be_kept_quiet_is_confided(text: str) -> None:
    """In both languages, before what is told and behind it."""
    assert is_confided(text)


@pytest.mark.parametrize(
    "text",
    [
        "nobody knows how the boiler works",
        "el secreto del arroz es el caldo",
        "I have told you my name",
        "no lo sé",
        "the secret of bread is time",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    """Secrets of the kitchen, and what is unknown."""
    assert not is_confided(text)
