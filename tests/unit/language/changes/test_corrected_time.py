"""A correction that names only another day or hour, the day that it means, and the hour of a text that ends in one."""

from datetime import date, datetime

from kenobot.language.changes.corrected_time import corrects_time, find_corrected_day, find_hour, find_time_correction
from tests.cases import each

SATURDAY = date(2026, 2, 14)
TOLD = datetime.fromisoformat("2026-02-14T14:30")


@each(
    ("message", "right"),
    [
        ("no, es a las 11", "a las 11"),
        ("No. Es a las 11", "a las 11"),
        ("uy no, a las 9:45", "a las 9:45"),
        ("Ah no, que es a las 11", "a las 11"),
        ("mejor dicho, a las 6 de la tarde", "a las 6 de la tarde"),
        ("Perdona, que al final es el viernes a las 12", "el viernes a las 12"),
        ("no espera, es el viernes", "el viernes"),
        ("digo el viernes", "el viernes"),
        ("no, empieza a las once", "a las once"),
        ("no el jueves, el viernes", "el viernes"),
        ("no es el jueves sino el viernes", "el viernes"),
        ("no, el viernes no, el sábado", "el sábado"),
        ("es a las 11, no a las 10", "a las 11"),
        ("no, los viernes", "los viernes"),
        ("no wait, it's on Friday", "on Friday"),
        ("no wait: at half past eleven", "at half past eleven"),
        ("oops, it's at 9:45", "at 9:45"),
        ("sorry, 4pm", "4pm"),
        ("I meant Friday", "Friday"),
        ("actually, it's on Friday at 10", "on Friday at 10"),
        ("no, it's Friday the 20th", "Friday the 20th"),
        ("no, it starts at 11", "at 11"),
        ("no, it's at 11 instead", "at 11"),
        ("not Thursday, Friday", "Friday"),
        ("it's at 11, not 10", "at 11"),
    ],
)
def test_the_time_that_is_right_is_read_out_of_few_words(message: str, right: str) -> None:
    """With an opening that corrects, or beside the time that is wrong."""
    correction = find_time_correction(message)
    assert correction is not None
    assert correction.right == right


@each(
    "message",
    [
        "el viernes",
        "it's Friday",
        "is it at 11?",
        "¿no es el viernes?",
        "no, es broma",
        "no, it's late",
        "no",
        "wait",
        "no es a las 11",
        "no mañana",
        "no, el viernes no",
        "no, not on Friday",
        "no, mañana no puedo",
        "no voy el viernes",
        "no, I work on Friday",
        "no, it's on Friday that I go",
        "no, it's 15",
        "no, my bike cost 900 on Friday",
        "I don't work on Fridays, not now",
        "no, Ana viene el viernes a las 11",
        "",
    ],
)
def test_what_says_more_or_puts_nothing_right_is_none(message: str) -> None:
    """A bare time, a question, a denial without another time, and words for anything else."""
    assert find_time_correction(message) is None


@each(
    ("statement", "message", "is_one"),
    [
        ("Tengo médico el jueves a las 10", "no, es a las 11", True),
        ("Tengo médico el jueves a las 10", "no, es el jueves a las 11", True),
        ("Tengo médico el jueves a las 10", "no, es el jueves a las 10", False),
        ("Tengo médico el jueves a las 10", "no, es el jueves", False),
        ("Tengo médico el jueves", "no, es a las 11", True),
        ("Tengo médico mañana", "no, es el domingo", False),
        ("Tengo médico mañana", "no, es el lunes", True),
        ("Tengo médico el jueves por la mañana", "no, es por la tarde", True),
        ("Tengo médico el jueves por la tarde", "no, es por la tarde", False),
        ("Tengo yoga todos los jueves", "no, los viernes", True),
        ("Tengo médico el jueves a las 10", "no el jueves, el viernes", True),
        ("Tengo médico el jueves a las 10", "no el lunes, el viernes", False),
        ("The train leaves at 10:05", "it's at 10:15, not 10:05", True),
        ("The train leaves at 10:05", "it's at 10:15, not 9:05", False),
        ("Ana was born on 3 May 1985", "no, it was the 4th of May", True),
        ("I have 2 dogs", "no, it's at 11", False),
        ("My sister is called Ana", "no, it's Friday", False),
    ],
)
def test_a_correction_is_of_a_statement_with_another_time(statement: str, message: str, is_one: bool) -> None:
    """One that says the same, or calls wrong what was not said, is none."""
    assert corrects_time(message, statement, SATURDAY) is is_one


@each(
    ("message", "due", "day"),
    [
        ("no, it's on Friday", "2026-02-19", "2026-02-20"),
        ("no, es el viernes", "2026-02-26", "2026-02-27"),
        ("no, it's on Monday", "2026-03-26", "2026-03-23"),
        ("no, es el sábado", "2026-02-15", "2026-02-21"),
        ("no, it's on Thursday", "2026-02-26", "2026-02-19"),
        ("no, es el jueves que viene", "2026-03-05", "2026-02-19"),
        ("no, it's tomorrow", "2026-02-26", "2026-02-15"),
        ("no, es el 3 de marzo", "2026-02-19", "2026-03-03"),
        ("no, it's at 11", "2026-02-19", "2026-02-19"),
        ("no, it was yesterday", "2026-02-19", "2026-02-19"),
    ],
)
def test_a_day_of_the_week_is_the_nearest_to_the_former(message: str, due: str, day: str) -> None:
    """Any other expression counts from the day on which it is said, and an hour alone leaves the day."""
    assert find_corrected_day(message, date.fromisoformat(due), SATURDAY) == date.fromisoformat(day)


@each(
    ("text", "hour"),
    [
        ("Tengo médico el jueves a las 10", "10:00"),
        ("Tengo médico el jueves a las 10. no, es a las 11", "11:00"),
        ("Tengo médico el jueves a las 10. no, es a las 11. Llevar los informes", "11:00"),
        ("Tengo médico el jueves a las 10. no, es a las 11. perdón, a las 12:30", "12:30"),
        ("Tengo médico el miércoles a las 10. no, es el jueves", "10:00"),
        ("Tengo médico el miércoles a las 10. no, es el jueves a las 12", "12:00"),
        ("Dentist on Thursday at 5pm. no, it's at 6", "18:00"),
        ("Dentist on Thursday at 10. no, it's at 6", ""),
        ("Dinner on Thursday at 8pm. No wait, at 9", "21:00"),
        ("Dinner on Thursday at 8pm. no, it's on Thursday at 9:30", "21:30"),
        ("Dinner on Thursday at 8pm. no, at 9am", "09:00"),
        ("Dinner on Thursday at 8pm. no, it's on Thursday morning at 9", "09:00"),
        ("Dinner on Thursday at 8pm. no, at 21:30", "21:30"),
        ("Dinner on Thursday at 17:00. no, at 9", ""),
        ("Party on Thursday at 23:00. no, at 12", ""),
        ("Cena el jueves a las 21:00. no, es a las 9:30", "21:30"),
        ("Cena el jueves a las 21:00. no, es a las nueve y media", "21:30"),
        ("Cena el jueves a las 21:00. no, es a las 9 de la mañana", "09:00"),
        ("Cena el jueves a las 21:00. no, el jueves a las 10. perdón, a las 9", "21:00"),
        ("Gym on Thursday at 18:00. no, at 7", "19:00"),
        ("Gym on Thursday at 8. no, at 12", "12:00"),
        ("Gym on Thursday at 11. no, at 1", "13:00"),
        ("Dentist on Thursday. no, it's at 11", "11:00"),
        ("Dentist on Thursday at 6", ""),
        ("Dentist on Friday at 10", ""),
    ],
)
def test_the_hour_of_a_correction_goes_before_the_one_that_it_puts_right(text: str, hour: str) -> None:
    """For Thursday; a bare one is of the half of the day in which it is near the former, or none."""
    found = find_hour(text, date(2026, 2, 19), TOLD)
    assert (f"{found:%H:%M}" if found is not None else "") == hour


def test_a_weekday_told_on_that_weekday_has_its_hour() -> None:
    """Of the two days that it may mean, the one that it is due."""
    found = find_hour("I see the dentist on Saturday at 9", date(2026, 2, 21), TOLD)
    assert found is not None
    assert found.hour == 9
