"""Times that are named, asked for, and meant, in both languages."""

from datetime import date

import pytest

from kenobot.language.dates import DateRange, asks_time, names_time, parse_date_range
from kenobot.language.words import fold

TODAY = date(2026, 2, 14)  # a Saturday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did I say yesterday?", "2026-02-13", "2026-02-13"),
        ("¿qué dije ayer?", "2026-02-13", "2026-02-13"),
        ("¿qué pasó anteayer?", "2026-02-12", "2026-02-12"),
        ("what happened last week?", "2026-01-31", "2026-02-13"),
        ("¿qué hicimos la semana pasada?", "2026-01-31", "2026-02-13"),
        ("what did we plan two months ago?", "2025-12-01", "2025-12-31"),
        ("¿qué compré hace dos meses?", "2025-12-01", "2025-12-31"),
        ("what did I do in May?", "2025-05-01", "2025-05-31"),
        ("¿qué hice en mayo de 2024?", "2024-05-01", "2024-05-31"),
        ("who came on 3 March 2025?", "2025-03-03", "2025-03-03"),
        ("who came on March 3rd?", "2025-03-03", "2025-03-03"),
        ("¿quién vino el 3 de enero?", "2026-01-03", "2026-01-03"),
        ("¿qué me dijo el lunes?", "2026-02-09", "2026-02-09"),
        ("what was new in 2024?", "2024-01-01", "2024-12-31"),
        ("what did we decide this month?", "2026-01-15", "2026-02-14"),
    ],
)
def test_a_question_means_days(text: str, first: str, last: str) -> None:
    """Counted from the day it is asked; of a month or day without a year the last there was."""
    assert parse_date_range(fold(text), TODAY) == DateRange(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("text", ["what may I eat?", "where is the 31 February report?", "¿dónde está el gato?", ""])
def test_most_questions_mean_no_days(text: str) -> None:
    """What is no day is none."""
    assert parse_date_range(fold(text), TODAY) is None


def test_a_day_fits_less_the_further_it_lies() -> None:
    """Softly: people err by a day, and tell of things later."""
    days = DateRange(date(2026, 2, 1), date(2026, 2, 7))
    inside, near, far = (days.closeness(date(2026, *each)) for each in ((2, 3), (2, 9), (8, 1)))
    assert inside == 1.0 and 0.7 < near < 1.0 and far < 0.1


@pytest.mark.parametrize(
    "text", ["When was it?", "¿Cuándo nació?", "How long did it take?", "¿Qué día era?", "いつですか"]
)
def test_a_question_may_ask_for_a_time(text: str) -> None:
    """In any of the tongues it is known in."""
    assert asks_time(fold(text))


@pytest.mark.parametrize("text", ["It was last Friday", "fue en marzo", "we met at 10:30", "hace un año"])
def test_a_text_may_name_a_time(text: str) -> None:
    """Which is what answers when."""
    assert names_time(fold(text))
    assert not names_time(fold("the cat sleeps"))
    assert not asks_time(fold("Who sleeps?"))
