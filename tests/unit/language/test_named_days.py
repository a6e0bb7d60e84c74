"""Which day an expression means, by a corpus of what people write in Spanish and English."""

import tomllib
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.clock_times import time_named
from kenobot.language.named_days import day_named, days_named, easter
from kenobot.language.words import fold
from tests.cost import assert_bounded

CORPUS = tomllib.loads((Path(__file__).parents[2] / "data" / "days.toml").read_text("utf-8"))["said"]


def _read(text: str, said: date, wanted: str) -> str:
    day = day_named(fold(text), said)
    found = day.isoformat() if day is not None else "-"
    return f"{found} {time_named(fold(text))}".strip() if " " in wanted else found


@pytest.mark.parametrize("said", CORPUS, ids=lambda said: str(said["day"]))
def test_every_expression_of_the_corpus_means_its_day(said: dict[str, object]) -> None:
    """Both languages, with the time of day where the corpus has one."""
    day = said["day"]
    assert isinstance(day, date)
    wanted = dict(line.rsplit(" = ", 1) for line in str(said["expressions"]).strip().splitlines())
    assert {text: _read(text, day, meant) for text, meant in wanted.items()} == wanted


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("ayer me dijeron que la cita es el 20 de marzo", "2026-03-20"),
        ("el martes o el jueves", "2026-03-10"),
        ("del 13 al 22 de abril", "2026-04-13"),
        ("el lunes 17", "2026-03-17"),  # a Tuesday: people mistake the day of the week sooner
    ],
)
def test_of_several_days_the_first_ahead_counts(text: str, day: str) -> None:
    """What is over was only told."""
    assert day_named(fold(text), date(2026, 3, 4)) == date.fromisoformat(day)


@pytest.mark.parametrize(("year", "month", "day"), [(2000, 4, 23), (2024, 3, 31), (2026, 4, 5), (2038, 4, 25)])
def test_easter(year: int, month: int, day: int) -> None:
    """As the church computes it."""
    assert easter(year) == date(year, month, day)


_PIECES = ["el ", "on ", "lunes ", "friday ", "31 ", "30/2", "29 de febrero ", "0000-00-00 ", "in ", "999 ", "meses ",
           "a las 25", " y media ", "the last ", "del mes ", "week ", "after next "]  # fmt: skip


@given(
    st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=12).map("".join),
    st.dates(date(1990, 1, 1), date(2090, 1, 1)),
)
def test_any_text_may_come(text: str, said: date) -> None:
    """Days that are found stand in the text, one beside the other; a time is one of a day."""
    plain = fold(text)
    found = days_named(plain, said)
    assert all(0 <= one.start < one.end <= len(plain) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert time_named(plain) < "24:00"


@pytest.mark.parametrize("text", ["el 3 ", "a las ", "next week ", "primer lunes de ", "1/", "in a week on "])
def test_a_bounded_part_of_a_hostile_text_is_read(text: str) -> None:
    """No text takes long, whatever it repeats."""
    assert_bounded(lambda part: days_named(part, date(2026, 3, 4)), text * 4000)
