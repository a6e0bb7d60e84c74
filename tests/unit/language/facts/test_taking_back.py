"""Words that take back what was said, and words by which none of a message is remembered."""

from datetime import date

import pytest

from kenobot.language.facts.heuristic import Message, extract_facts, read_messages
from kenobot.language.facts.taking_back import keeps_nothing, takes_back
from tests.cases import each

_SAID = date(2026, 3, 10)


@each(
    "text",
    [
        "forget it",
        "Forget it!",
        "scratch that",
        "delete it",
        "ignore that",
        "olvídalo",
        "bórralo",
        "no me hagas caso",
        "remove that from your memory",
        "no, olvídalo",
        "mejor olvídalo",
        "forget about it",
        "please delete that",
        "can you forget that?",
        "could you delete it please",
        "¿puedes borrarlo?",
        "lo puedes borrar?",
        "puedes olvidarlo",
        "olvida eso",
        "olvídate de eso",
        "olvidate",
        "olvida lo que te acabo de decir",
        "olvida lo último",
        "borra lo último que te dije",
        "borra eso de tu memoria",
        "elimínalo",
        "quítalo",
        "nah forget it",
        "actually, scratch that",
        "wait, ignore that",
        "disregard that",
        "I take it back",
        "that was a joke",
        "eso era broma",
        "forget I said anything",
        "forget what I just said",
        "forget what I said",
        "delete my last message",
        "delete the last thing you saved",
        "forget that last one",
        "no he dicho nada",
        "haz como que no he dicho nada",
        "retiro lo dicho",
        "don't remember that",
        "no te acuerdes de eso",
        "don't save it",
        "no lo guardes",
        "no lo apuntes porfa",
        "you don't need to remember that",
        "no hace falta que te acuerdes",
        "no hace falta que lo guardes",
        "borra eso",
        "ignora eso",
        "ignóralo",
        "erase that please",
        "strike that",
        "forget that, please",
        "sorry, forget that",
        "bórralo de tu memoria",
        "quiero que lo olvides",
        "borra mi último mensaje",
        "lol forget it",
        "oops, delete that",
        "ya olvídalo",
        "Olvida esto",
        "pretend I never said that",
        "ignore my last message",
        "táchalo",
        "delete that from memory",
        "no guardes eso",
        "take that out of your memory",
        "olvida que lo he dicho",
        "unsave that",
        "no, forget it, please",
        "undo it from your memory",
    ],
)
def test_words_take_back_what_was_said(text: str) -> None:
    """As people say it, in both languages, also as a question."""
    assert takes_back(text)


@each(
    "text",
    [
        "forget",
        "I forgot it",
        "don't forget it",
        "don't forget that",
        "no lo olvides",
        "no te olvides de eso",
        "me olvidé",
        "olvidé eso",
        "lo olvidé",
        "I don't remember that",
        "no me acuerdo de eso",
        "forget the pizza",
        "delete the file",
        "borra la pizarra",
        "quita la mesa",
        "scratch",
        "me quita el sueño",
        "olvida",
        "borra",
        "quita",
        "quito",
        "borré eso",
        "olvido todo",
        "remember that",
        "recuérdalo",
        "mi ex lo olvidó",
        "I can't forget it",
        "he told me to forget it",
        "ignora a Luis",
        "borro la lista los lunes",
        "eliminar gluten",
        "quitar",
        "forget Tuesday",
        "it was a joke shop",
        "my cat is Tom",
        "no",
        "nada",
        "sí",
        "yes",
        "remove the battery from it",
        "quitale",
        "I keep it in the fridge",
        "that is true",
        "scratch that itch",
        "olvida la pizza",
    ],
)
def test_other_words_take_nothing_back(text: str) -> None:
    """They ask for the opposite, tell of somebody, or are about something that they name."""
    assert not takes_back(text)


@pytest.mark.parametrize(
    "says", ["scratch that", "Olvídalo", "nada, olvida eso", "no, ignore what I said", "delete it"]
)
def test_rules_end_and_note_nothing_by_them(says: str) -> None:
    """Whatever was told before: whether that is undone is asked."""
    known = ["I live in Leeds", "I'm allergic to peanuts"]
    assert read_messages([Message(says, _SAID, 1, "I'm allergic to peanuts")], known) == []
    told = read_messages([Message("I'm allergic to nuts", _SAID), Message(says, _SAID)], ())
    assert [fact.text for fact in told] == ["I'm allergic to nuts"]


def test_words_that_take_back_are_no_part_of_what_a_message_tells() -> None:
    """Nor of a note of it."""
    assert [fact.text for fact in extract_facts("I live in Leeds. Forget it.", _SAID)] == ["I live in Leeds"]
    assert [fact.text for fact in extract_facts("Forget it, I live in Leeds", _SAID)] == ["I live in Leeds"]


@pytest.mark.parametrize(
    "text",
    [
        "don't save this: my pin is 4471",
        "Don't remember that",
        "no te acuerdes de eso",
        "my sister is pregnant, don't save that",
        "don't remember that I'm 40",
        "no guardes esto: mi hermana está embarazada",
        "mi sueldo es 2000, no lo apuntes",
        "Mi jefe se va. No lo guardes, por favor",
        "please do not store this, my salary is 40k",
        "don't write this down: I hate my job",
        "no recuerdes que fumo",
        "no te acuerdes de que fumo",
        "I smoke (don't save that)",
        "you don't need to remember this but I hate my job",
        "no hace falta que te acuerdes, pero odio mi trabajo",
        "this is not to be saved: I smoke",
        "don't keep this in your memory: I smoke",
        "Don't note this down, I owe Bea 20",
        "que no quede guardado: fumo",
    ],
)
def test_of_what_is_not_to_be_remembered_nothing_is(text: str) -> None:
    """Wherever in the message that is asked."""
    assert keeps_nothing(text)
    assert extract_facts(text, _SAID) == []


@each(
    "text",
    [
        "I don't remember the code",
        "don't forget this: my pin hint is blue",
        "no te olvides de esto: fumo",
        "never store it below 5 degrees",
        "insulin: do not keep it in the freezer",
        "no lo guardes en la nevera",
        "don't keep it from me",
        "we don't keep that dog at home",
        "I do not record it on Sundays",
        "no guardes la leche fuera",
        "no me acuerdo de que dia era",
        "my dad doesn't remember that he met me",
        "no apuntes con la pistola",
        "no recuerdo eso",
        "my mother says don't keep that hat",
        "I don't note that much",
        "Dani no lo guarda",
        "don't save me a seat",
        "no quiero que guardes la bici",
        "please remember this: I smoke",
    ],
)
def test_other_words_leave_a_message_to_be_read(text: str) -> None:
    """They tell what is not remembered or done, or ask to remember."""
    assert not keeps_nothing(text)
