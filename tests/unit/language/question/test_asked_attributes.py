"""Of whom a question asks what there is one of."""

import pytest

from kenobot.language.question.asked_attributes import find_attribute, find_attribute_of_another, tells_attribute
from tests.cases import each


@pytest.mark.parametrize(
    ("question", "own", "others"),
    [
        ("¿Dónde vivo?", "residence", ""),
        ("¿Dónde vive mi hermana?", "", "residence"),
        ("Where do I live?", "residence", ""),
        ("Where does Tom live now?", "", "residence"),
        ("¿A dónde se ha mudado Pilar?", "", "residence"),
        ("How old am I?", "age", ""),
        ("how old is my grandmother?", "", "age"),
        ("¿Cuántos años cumple Leo?", "", "age"),
        ("When's my birthday?", "birthday", ""),
        ("when is Eva's birthday", "", "birthday"),
        ("¿Para quién trabaja Luis?", "", "employer"),
        ("¿Dónde trabajo?", "employer", ""),
        ("¿A qué me dedico?", "profession", ""),
        ("what do I do for a living?", "profession", ""),
        ("where did I live before?", "residence", ""),
        ("¿Dónde vivía antes?", "residence", ""),
        ("¿Dónde vivía antes mi hermana?", "", "residence"),
        ("What was my previous address?", "residence", ""),
        ("¿En qué empresa trabajaba?", "employer", ""),
        ("Where did Luis work?", "", "employer"),
        ("¿A qué me dedicaba?", "profession", ""),
        ("Where is the key?", "", ""),
        ("¿Dónde está el vivero?", "", ""),
        ("", "", ""),
    ],
)
def test_a_question_asks_of_the_speaker_or_of_another(question: str, own: str, others: str) -> None:
    """Never taken for the other one: an answer about the wrong person is worse than none."""
    assert find_attribute(question) == own
    assert ("" if own else find_attribute_of_another(question)) == others


@each(
    "text, attribute",
    [
        ("my flat is number 12", "residence"),
        ("Mi piso es el 12", "residence"),
        ("Vivo en la calle Mayor 5", "residence"),
        ("I live at 3 High Street", "residence"),
        ("soy electricista", "profession"),
        ("Yo soy una ingeniera muy feliz", "profession"),
        ("I'm an electrician", "profession"),
        ("I work as a night guard", "profession"),
        ("my flat is on the market", ""),
        ("my sister lives in Lyon", ""),
        ("my brother is an electrician", ""),
        ("soy celíaco", ""),
        ("I'm a vegetarian", ""),
        ("Vivo en paz desde que me jubilé", ""),
        ("Ahora vivo en las nubes", ""),
        ("Vivo en tensión", ""),
        ("Vivo en La Paz", "residence"),
        ("My room is in a mess", ""),
        ("I live in my pyjamas", ""),
        ("I'm a teacher's son", ""),
        ("I'm a teacher’s son", ""),
    ],
)
def test_a_text_may_tell_an_attribute_without_its_name(text: str, attribute: str) -> None:
    """Of its speaker alone."""
    assert [name for name in ("residence", "profession", "age") if tells_attribute(name, text)] == [attribute] * bool(
        attribute
    )
