"""Questions that several turns answer are told by their wording."""

import pytest

from kenobot.language.question.several_turns import needs_several_turns


@pytest.mark.parametrize(
    "text",
    [
        "Which books have I read?",
        "What hobbies does Ana have?",
        "What are my plans?",
        "How many times did we go to Oslo?",
        "What do both like?",
        "Where has Tom travelled?",
        "What does Mia like to do?",
        "¿Qué libros he leído este año?",
        "¿Cuántas veces fuimos a Oslo?",
        "¿En qué ciudades ha vivido Ana?",
        "¿Cuáles son mis alergias?",
        "¿Qué les gusta a los dos?",
        "¿Dónde ha viajado Tomás?",
        "¿Quiénes son mis hermanas?",
    ],
)
def test_lists_counts_and_what_went_on_over_time_need_several(text: str) -> None:
    """In English and in Spanish."""
    assert needs_several_turns(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "What is my dog called?",
        "What bus is it?",
        "What does the kid look like?",
        "When is the dentist?",
        "¿Dónde vivo?",
        "¿Cómo se llama mi perro?",
        "¿Cuántos años tiene Marina?",
        "¿Qué opinas de esto?",
        "¿Cuál es el avión que me gusta?",
        "¿Qué tienes que hacer?",
        "thanks",
        "",
    ],
)
def test_one_turn_answers_the_others(text: str) -> None:
    """For them nothing more is asked."""
    assert not needs_several_turns(text)


@pytest.mark.parametrize("piece", ["!", "，", "what do ", "que "])
def test_a_message_without_end_is_read_once(piece: str) -> None:
    """No text makes the search begin anew at each of its characters; a question behind much else is read."""
    assert needs_several_turns(f"{piece * 50_000} ¿Qué libros he leído?")
