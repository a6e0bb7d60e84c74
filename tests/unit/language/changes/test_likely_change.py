"""Which memory a message probably changes is judged by learned weights, for a question only."""

from datetime import date

import pytest

from kenobot.language.changes.likely_change import (
    StandingStatement,
    find_changed,
    find_most_likely,
    tellings,
    with_names,
)

DAY = date(2026, 6, 8)
SPANISH = ("trabajo en una panadería y entro a las 7", "pago 480 de alquiler", "tengo dentista el jueves a las 5")
ENGLISH = ("I work at a bakery and start at 7", "I pay 480 in rent", "I have the dentist on Thursday at 5")


def _standing(texts: tuple[str, ...]) -> list[StandingStatement]:
    return [StandingStatement(text) for text in texts]


@pytest.mark.parametrize(
    ("message", "texts", "meant"),
    [
        ("me suben el alquiler a 510 desde julio", SPANISH, 1),
        ("el dentista me lo pasan al lunes a las 4", SPANISH, 2),
        ("they gave me the early shift at the bakery, I start at 6 from Monday", ENGLISH, 0),
        ("the dentist moved me to Monday at 4", ENGLISH, 2),
    ],
)
def test_the_memory_that_a_message_changes_is_the_likeliest(message: str, texts: tuple[str, ...], meant: int) -> None:
    """Its words, its kind of value and the turn of the sentence tell it, in both languages."""
    assert find_changed(message, DAY, _standing(texts)) == meant


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("qué frío hace hoy, madre mía", SPANISH),
        ("mi hermana se llama Pilar y vive en Soria", SPANISH),
        ("lovely weather today, isn't it", ENGLISH),
        ("my sister Joan keeps two donkeys", ENGLISH),
    ],
)
def test_what_changes_nothing_is_not_asked_about(message: str, texts: tuple[str, ...]) -> None:
    """Talk of the day, and what is new."""
    assert find_changed(message, DAY, _standing(texts)) is None


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ("I start at half past seven", "my shift is one to nine now"),
        ("I take 20 mg of ramipril", "I take 10 mg since Monday"),
        ("I start work at 8", "I start from 9 on Mondays"),
        ("no me gusta el pescado", "ahora sí me gusta el pescado"),
        ("I don't like fish", "I do like fish now"),
        ("pago 480 de alquiler", "desde enero pago 520 de alquiler"),
    ],
)
def test_a_value_with_a_qualifier_is_asked_about_like_its_plain_form(known: str, message: str) -> None:
    """A dose, a price, an hour "since Monday", and the opposite of a liking."""
    assert find_changed(message, DAY, _standing((known,))) == 0


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ("I was born in Leeds in 1984", "what year was I born?"),
        ("I live in Ghent with my partner Tomas", "Tomas's parents, Greet and Jan, live in Bruges"),
        ("Vivo en Gante con mi pareja Tomás", "Los padres de Tomás viven en Brujas"),
        ("Vivo con Dani", "Sara me dijo: ya no vivo con Dani"),
        ("I drive a Skoda", "if I sold the Skoda I'd buy a bike"),
        ("My train leaves at 8:05", "it's 9 now"),
        ("pagué 300 por la bici", "son las 9 ahora"),
        ("We have three nieces", "Oskar has three nieces"),
        ("no me gustan las gambas", "Iker adora las gambas"),
        ("My address is 12 Mill Road, flat 3", "I'm 40 now"),
        ("Calzo un 42", "mi hermano ahora calza un 45"),
        ("I take 20 mg of ramipril every morning", "the dog takes 5 mg of something now"),
        ('my favourite shop is Toys "R" Us', "my first search engine was Yahoo!"),
        ("error 13: permission denied on /var/log", "fixed it: error 13 went away after chmod"),
        ("2026-03-01 ERROR disk full on node-1", "2026-03-02 ERROR disk full on node-2"),
    ],
)
def test_what_only_looks_like_a_change_is_not_asked_about(known: str, message: str) -> None:
    """Questions, conditions, another's words, the time of day, an age, other people and other things."""
    assert find_changed(message, DAY, _standing((known,))) is None


def test_without_memories_nothing_is_likely() -> None:
    """There is nothing to choose from."""
    assert find_most_likely("me suben el alquiler a 510", DAY, []) is None


def test_a_change_may_stand_in_one_sentence_of_several() -> None:
    """The message is read whole and by its sentences, a few of them; one sentence only once."""
    assert tellings("Gilmartin rang. We go on Friday instead.") == [
        "Gilmartin rang. We go on Friday instead.",
        "Gilmartin rang.",
        "We go on Friday instead.",
    ]
    assert tellings("ok, on Friday then") == ["ok, on Friday then"]
    assert len(tellings("This is one more sentence. " * 20)) == 5


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (("My sister Bronte lives abroad", "I owe her $800", "I work nights"), ["", "bronte sister", ""]),
        (("Kike es mi cuñado", "Le debo 200 euros"), ["", "brother-in-law kike"]),
        (("We have a narrowboat called Dragonfly", "she's moored at Braunston"), ["", "dragonfly"]),
        (("I live here", "it's fine"), ["", ""]),
        (("My sister Bronte lives abroad", "My dad's in Cork with his dog"), ["", ""]),
    ],
)
def test_a_memory_of_her_is_read_with_the_names_of_the_one_before(texts: tuple[str, ...], names: list[str]) -> None:
    """Its own text stays as it was told."""
    read = with_names(_standing(texts))
    assert [each.names for each in read] == names
    assert [each.text for each in read] == list(texts)
