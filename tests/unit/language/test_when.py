"""Which moment or recurrence an expression means, by a corpus of what people write in Spanish and English."""

import tomllib
from datetime import datetime, time
from itertools import islice
from pathlib import Path

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.when import Choice, Meaning, Moment, Recurrence
from kenobot.language.when.read import read_when
from kenobot.language.when.strip import strip_when
from tests.cost import assert_bounded

FILES = ("when.toml", "when_strangers.toml", "when_judge.toml")
CORPUS = [
    entry
    for name in FILES
    for entry in tomllib.loads((Path(__file__).parents[2] / "data" / name).read_text("utf-8"))["entry"]
]
NOW = datetime.fromisoformat("2026-03-04T10:00")  # a Wednesday


def _expand(rule: str, start: datetime) -> str:
    moments = islice(rrulestr(f"RRULE:{rule}", dtstart=start), 12)
    return ", ".join(moment.isoformat(timespec="minutes") for moment in moments)


def _show(meaning: Meaning | None) -> str:
    if meaning is None:
        return "unclear"
    if isinstance(meaning, Choice):
        return " | ".join(sorted(map(_show, meaning.options)))
    if isinstance(meaning, Recurrence):
        return _expand(meaning.rule, meaning.start)
    return meaning.at.isoformat(timespec="minutes") if meaning.has_time else meaning.at.date().isoformat()


def _show_option(option: str) -> str:
    rule, _, start = option.rpartition(" ")
    return _expand(rule, datetime.fromisoformat(start)) if rule else option


def _show_wanted(entry: dict[str, object]) -> str:
    if "rule" in entry:
        return _expand(str(entry["rule"]), datetime.fromisoformat(str(entry["start"])))
    asked = entry.get("ask")
    if isinstance(asked, list):
        return " | ".join(sorted(map(_show_option, asked)))
    plain = (str(entry[name]) for name in ("at", "day") if name in entry)
    return next(plain, "none" if "none" in entry else "unclear")


def test_every_expression_of_the_corpus_has_its_meaning() -> None:
    """Both languages; recurrences by their first twelve moments."""
    wrong = {}
    for entry in CORPUS:
        found = read_when(entry["text"], datetime.fromisoformat(entry["now"]))
        shown = "none" if found is None else _show(found.meaning)
        if shown != _show_wanted(entry):
            wrong[entry["text"]] = (shown, _show_wanted(entry))
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("call Luis tomorrow at 5", "call Luis"),
        ("Mañana a las 8, llamar a Luis", "llamar a Luis"),
        ("el viernes que viene a las 9 reunión con Íñigo", "reunión con Íñigo"),
        ("pay the rent on the 1st of every month at 9am.", "pay the rent."),
        ("cada lunes, miércoles y viernes a las 7 de la mañana: gimnasio", "gimnasio"),
        ("take the pills in 90 minutes", "take the pills"),
        ("remind me tomorrow to buy tickets for Friday", "remind me to buy tickets for Friday"),
        ("recuérdame a las 9 que mañana tengo dentista", "recuérdame que mañana tengo dentista"),
    ],
)
def test_the_rest_is_what_is_to_be_done(text: str, rest: str) -> None:
    """Without the words that name the time, and tidy."""
    when = read_when(text, NOW)
    assert when is not None
    assert strip_when(text, when) == rest


@pytest.mark.parametrize(("text", "exact"), [("in 90 minutes", True), ("at 11:30", False), ("in 3 days", False)])
def test_a_length_of_time_counts_from_now(text: str, exact: bool) -> None:
    """As a duration, which a change of the clock does not move; a time of a day is of the wall clock."""
    when = read_when(text, NOW)
    assert when is not None
    assert isinstance(when.meaning, Moment)
    assert when.meaning.exact is exact


_PIECES = ["el ", "on ", "lunes ", "friday ", "31 ", "30/2 ", "cada ", "every ", "other ", "a las 25 ", "at 5 ", "o ",
           "y media ", "the last ", "day of ", "each month ", "until ", "hasta ", "in 3 ", "hours ", "antes de ", "0 ",
           "noche ", "12 ", "veces ", "from 9 to 5 ", "except ", "sundays ", "durante ", "9999 ", "años "]  # fmt: skip


@given(
    st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=12).map("".join),
    st.datetimes(datetime.fromisoformat("1990-01-01"), datetime.fromisoformat("2090-01-01")),
)
def test_any_text_may_come(text: str, now: datetime) -> None:
    """What is meant lies ahead, a choice is between two or three, and the words stand in the text."""
    when = read_when(text, now)
    if when is None:
        return
    assert all(0 <= start < end <= len(text) for start, end in when.spans)
    strip_when(text, when)
    options = when.meaning.options if isinstance(when.meaning, Choice) else (when.meaning,)
    assert len(options) == 1 or 2 <= len(options) <= 3
    for option in options:
        if isinstance(option, Moment):
            assert option.at >= (now if option.has_time else datetime.combine(now.date(), time()))
        if isinstance(option, Recurrence):
            assert option.start >= now
            assert next(iter(rrulestr(f"RRULE:{option.rule}", dtstart=option.start))) == option.start


@pytest.mark.parametrize("text", ["cada 3 ", "at ", "every other ", "hasta el ", "1 y ", "in 2 hours and "])
def test_a_bounded_part_of_a_hostile_text_is_read(text: str) -> None:
    """No text takes long, whatever it repeats."""
    assert_bounded(lambda part: read_when(part, NOW), text * 4000)
