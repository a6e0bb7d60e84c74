"""Which questions ask for what was done or said, and for which days."""

from datetime import date

import pytest

from kenobot.agenda.past_question import past_question
from tests.cases import each

TODAY = date(2026, 11, 28)  # a Saturday


@each(
    ("question", "first", "last"),
    [
        ("what did I do yesterday?", "2026-11-27", "2026-11-27"),
        ("what have I done today?", "2026-11-28", "2026-11-28"),
        ("what did I get done this week?", "2026-11-23", "2026-11-28"),
        ("what did I do last week?", "2026-11-16", "2026-11-22"),
        ("what did I do on Monday?", "2026-11-23", "2026-11-23"),
        ("what did we do last weekend?", "2026-11-21", "2026-11-22"),
        ("what did I do on tuesday last week", "2026-11-17", "2026-11-17"),
        ("what happened on 20 November?", "2026-11-20", "2026-11-20"),
        ("what happened on the 20th?", "2026-11-20", "2026-11-20"),
        ("what happened on November 20th 2025", "2025-11-20", "2025-11-20"),
        ("what happened in October?", "2026-10-01", "2026-10-31"),
        ("do you remember what I did yesterday?", "2026-11-27", "2026-11-27"),
        ("what happened last year?", "2025-01-01", "2025-12-31"),
        ("did I do anything yesterday?", "2026-11-27", "2026-11-27"),
        ("give me a summary of yesterday", "2026-11-27", "2026-11-27"),
        ("resumen de ayer", "2026-11-27", "2026-11-27"),
        ("how was my week?", "2026-11-23", "2026-11-28"),
        ("¿qué hice ayer?", "2026-11-27", "2026-11-27"),
        ("que hice anteayer", "2026-11-26", "2026-11-26"),
        ("¿qué hice la semana pasada?", "2026-11-16", "2026-11-22"),
        ("¿qué hice el martes de la semana pasada?", "2026-11-17", "2026-11-17"),
        ("¿qué hicimos el fin de semana pasado?", "2026-11-21", "2026-11-22"),
        ("¿qué pasó el 20 de noviembre?", "2026-11-20", "2026-11-20"),
        ("¿qué hice hace tres días?", "2026-11-25", "2026-11-25"),
        ("¿y qué hice el jueves?", "2026-11-26", "2026-11-26"),
    ],
)
def test_a_question_for_what_was_done_asks_for_days_that_are_over(question: str, first: str, last: str) -> None:
    """A day without a year is the last one of that name."""
    asked = past_question(question, TODAY)
    assert asked is not None and asked.days is not None and asked.about == "done"
    assert (asked.days.first.isoformat(), asked.days.last.isoformat()) == (first, last)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("what did I tell you yesterday?", "told"),
        ("what did we talk about on Monday?", "told"),
        ("¿qué te dije ayer?", "told"),
        ("¿de qué hablamos el lunes?", "told"),
        ("What did I just say?", "last"),
        ("what was my last message?", "last"),
        ("¿qué te acabo de decir?", "last"),
        ("¿qué fue lo último que te dije?", "last"),
        ("¿qué te dije hace un momento?", "last"),
    ],
)
def test_a_question_for_what_was_said_is_told_from_one_for_what_was_done(question: str, about: str) -> None:
    """On a day, or right before the question."""
    asked = past_question(question, TODAY)
    assert asked is not None and asked.about == about


@pytest.mark.parametrize(
    "question",
    [
        "what did Ana do yesterday?",
        "what happened to Ana yesterday?",
        "what did I eat yesterday?",
        "what did I say about the boiler?",
        "what did you do yesterday?",
        "what happened?",
        "what will I do tomorrow?",
        "what happens on Monday?",
        "what is my last name?",
        "yesterday I did what you said",
        "¿qué hizo Ana ayer?",
        "¿qué comí ayer?",
        "¿qué dijiste ayer?",
        "¿qué pasa?",
        "¿qué hago mañana?",
        "¿qué día fue ayer?",
        "ayer hice la compra",
        "qué te dije de mi hermana",
    ],
)
def test_a_question_about_a_thing_or_somebody_else_is_none_for_a_log(question: str) -> None:
    """Its words find what is about it."""
    assert past_question(question, TODAY) is None
