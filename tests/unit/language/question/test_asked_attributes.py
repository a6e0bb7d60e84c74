"""Of whom a question asks what there is one of."""

import pytest

from kenobot.language.question.asked_attributes import find_attribute, find_attribute_of_another


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
        ("Where is the key?", "", ""),
        ("¿Dónde está el vivero?", "", ""),
        ("", "", ""),
    ],
)
def test_a_question_asks_of_the_speaker_or_of_another(question: str, own: str, others: str) -> None:
    """Never taken for the other one: an answer about the wrong person is worse than none."""
    assert find_attribute(question) == own
    assert ("" if own else find_attribute_of_another(question)) == others
