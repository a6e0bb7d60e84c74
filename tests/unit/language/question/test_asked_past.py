"""Which questions ask for what was so before."""

from kenobot.language.question.asked_past import asks_past, list_present_forms, without_past_words
from tests.cases import each


@each(
    "question",
    [
        "where did I live before?", "where did I live before Bilbao?", "Where did I use to live?",
        "where have I lived before?",        "what was my address before this one?",
        "what's my previous address?", "what was my old phone number?",
        "who was my boss last year?", "where did my sister Ana live before?", "what did I weigh two years ago?",
        "what was my sister's name before?", "was I vegetarian before?", "what car did I have before the Seat?",
        "where was I living last year?", "¿dónde vivía antes?", "¿Dónde vivía antes de Bilbao?", "donde vivi antes",
        "¿cuál era mi dirección antes?", "¿cuál es mi dirección anterior?", "¿quién era mi jefe antes de Marta?",
        "¿en qué trabajaba el año pasado?", "¿Qué coche tenía hace dos años?", "¿dónde solía comer?",
        "¿cuál es mi antiguo número?", "¿quién fue mi dentista antes?", "¿a qué me dedicaba?",
    ],
)  # fmt: skip
def test_a_question_may_ask_for_what_was(question: str) -> None:
    """By a word for before, a time that is over, or a verb of what was so, in both languages."""
    assert asks_past(question)


@each(
    "question",
    [
        "where do I live?", "what do I have to do before Friday?", "what should I buy before the meeting?",
        "when did I go to the dentist?", "where did I put my keys?", "what is my locker code?", "how old is my sister?",
        "what did Ana say yesterday?", "is Ana used to it?", "what is Carmen's new address?", "remind me before lunch",
        "¿qué tengo que hacer antes del viernes?", "¿qué tengo que hacer antes del día 5?", "¿dónde vivo?",
        "¿cuándo fui al dentista?", "¿qué día es la boda de Ana?", "¿a qué hora sale el tren?",
        "¿qué sabes de mi trabajo?", "¿quién es mi jefe?", "¿qué compro antes de la cena con mi tía?",
    ],
)  # fmt: skip
def test_other_questions_do_not(question: str) -> None:
    """What is to be done before a day, or happened once, replaced nothing."""
    assert not asks_past(question)


def test_a_verb_of_the_past_is_searched_for_in_the_present_too() -> None:
    """Where the two have no stem in common: people tell what is so in the present."""
    assert list_present_forms("¿dónde vivía antes?") == "vive"
    assert list_present_forms("where did I live before?") == ""


def test_what_qualifies_a_noun_is_no_thing() -> None:
    """It is the number that is asked for, and no memory says that it is old."""
    assert without_past_words("what was my old phone number?") == "what was my phone number?"
    assert without_past_words("¿cuál es mi antigua dirección?") == "¿cuál es mi dirección?"
