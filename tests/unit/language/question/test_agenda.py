"""Which questions ask for what is planned, and for which days."""

from datetime import date

import pytest

from kenobot.language.question.agenda import agenda_question
from tests.cases import each

TODAY = date(2026, 11, 28)  # a Saturday


@each(
    ("question", "first", "last"),
    [
        ("What do I have tomorrow?", "2026-11-29", "2026-11-29"),
        ("what's on friday", "2026-12-04", "2026-12-04"),
        ("whats on this weekend", "2026-11-28", "2026-11-29"),
        ("Do I have anything on Tuesday?", "2026-12-01", "2026-12-01"),
        ("what do i have next week", "2026-11-30", "2026-12-06"),
        ("What do I need to do this week?", "2026-11-28", "2026-11-29"),
        ("what's due this month?", "2026-11-28", "2026-11-30"),
        ("what is in my calendar for December", "2026-12-01", "2026-12-31"),
        ("so what's my schedule next month?", "2026-12-01", "2026-12-31"),
        ("what am I up to on Tuesday?", "2026-12-01", "2026-12-01"),
        ("which appointments do I have on 3 December?", "2026-12-03", "2026-12-03"),
        ("any events tomorrow?", "2026-11-29", "2026-11-29"),
        ("tell me my plans for tomorrow", "2026-11-29", "2026-11-29"),
        ("¿algo para mañana?", "2026-11-29", "2026-11-29"),
        ("¿algún plan para el martes?", "2026-12-01", "2026-12-01"),
        ("qué tengo agendado para mañana", "2026-11-29", "2026-11-29"),
        ("¿qué eventos hay este mes?", "2026-11-28", "2026-11-30"),
        ("¿Qué tengo pasado mañana?", "2026-11-30", "2026-11-30"),
        ("q tengo mañana", "2026-11-29", "2026-11-29"),
        ("¿tengo algo el día 3?", "2026-12-03", "2026-12-03"),
        ("qué tengo la semana que viene?", "2026-11-30", "2026-12-06"),
        ("¿Qué planes tengo para el finde?", "2026-11-28", "2026-11-29"),
        ("¿qué citas tengo en enero?", "2027-01-01", "2027-01-31"),
        ("what do I have to do by Friday?", "2026-11-28", "2026-12-04"),
        ("¿qué tengo de aquí al viernes?", "2026-11-28", "2026-12-04"),
        ("what do I have in the next two weeks?", "2026-11-28", "2026-12-11"),
        ("¿qué tengo entre el lunes y el miércoles?", "2026-11-30", "2026-12-02"),
        ("can you tell me what I have to do tomorrow?", "2026-11-29", "2026-11-29"),
        ("how does my week look?", "2026-11-28", "2026-11-29"),
        ("¿y mañana?", "2026-11-29", "2026-11-29"),
        ("tomorrow?", "2026-11-29", "2026-11-29"),
        ("muéstrame mi agenda de mañana", "2026-11-29", "2026-11-29"),
        ("¿estoy libre el jueves?", "2026-12-03", "2026-12-03"),
    ],
)
def test_a_question_for_plans_asks_for_its_days(question: str, first: str, last: str) -> None:
    """A day, a week or a month, up to the last of its days."""
    asked = agenda_question(question, TODAY)
    assert asked is not None
    assert (asked.days.first.isoformat(), asked.days.last.isoformat()) == (first, last)
    assert not asked.undated


@pytest.mark.parametrize(
    "question",
    [
        "What do I have to do?",
        "any appointments?",
        "what's pending?",
        "what did I promise?",
        "my agenda",
        "list my tasks",
        "hey keno, what do I have to do",
        "am I forgetting anything?",
        "¿Qué tengo que hacer?",
        "¿algún plan?",
        "¿qué me queda por hacer?",
        "que tengo q hacer",
        "mis pendientes",
        "¿qué he prometido?",
        "¿se me olvida algo?",
    ],
)
def test_without_a_day_all_that_is_ahead_is_asked_for(question: str) -> None:
    """And what is to be done on no day."""
    asked = agenda_question(question, TODAY)
    assert asked is not None and asked.undated
    assert asked.days.first == TODAY


@pytest.mark.parametrize(
    "question",
    [
        "do I have the dentist on Friday?",
        "what is on the shopping list for tomorrow?",
        "what do I have against Tom?",
        "What are my sister's plans on Friday?",
        "what are you doing tomorrow?",
        "what do I have?",
        "what is up",
        "¿qué tengo en el garaje?",
        "¿Qué grupo sanguíneo tengo?",
        "hay algo para cenar",
        "¿algo para cenar mañana?",
        "¿algún plan de pensiones?",
        "what meetings did Tom plan?",
        "my plans for tomorrow changed",
        "",
        "what do I have " + "to do " * 99,
    ],
)
def test_a_question_about_a_thing_is_none_for_plans(question: str) -> None:
    """Its words find that."""
    assert agenda_question(question, TODAY) is None
