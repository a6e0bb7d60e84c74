"""The things that a question asks about, and those that a memory does not tell of."""

import pytest

from kenobot.language.question.asked_things import list_things, list_untold


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("What is the code of the garage?", ("garage",)),
        ("¿Cuál es el código del garaje?", ("garaje",)),
        ("Where is the spare key of my car?", ("spare", "key", "car")),
        ("¿Soy alérgica a las gambas?", ("gambas",)),
        ("¿Dónde vive mi prima?", ("prima",)),
        ("Who is Ana?", ()),
        ("What do I like?", ()),
    ],
)
def test_the_things_of_a_question(question: str, things: tuple[str, ...]) -> None:
    """The nouns behind an article or a possessive, but no names and no words such as "code"."""
    assert list_things(question) == things


@pytest.mark.parametrize(
    ("question", "text", "untold"),
    [
        ("What is the code of the garage?", "the code of the boiler is 4471", ("garage",)),
        ("What is the code of the boiler?", "the code of the boiler is 4471", ()),
        ("¿Soy alérgica a las gambas?", "soy alérgica a la penicilina", ("gambas",)),
        ("¿Dónde vive mi prima?", "mi hermana Ana vive en Burgos", ("prima",)),
        ("¿Cómo está la gata?", "tengo un dolor de muelas", ()),
    ],
)
def test_what_a_memory_does_not_tell_of(question: str, text: str, untold: tuple[str, ...]) -> None:
    """Only where it has other words of the question: what shares none was found by its meaning as a whole."""
    assert list_untold(question, text) == untold


def test_a_long_question_is_read_at_its_beginning_and_has_few_things() -> None:
    """So that a hostile one costs little."""
    assert len(list_things("the boiler and the garage and my cousin and the moon and the sun " * 5_000)) == 4
