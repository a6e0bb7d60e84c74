"""On which day something is due, by a corpus of what people tell in Spanish and English."""

import tomllib
from datetime import date
from pathlib import Path

import pytest

from kenobot.language.facts import heuristic
from kenobot.language.facts.due_days import counts_from_another, day_due, with_day
from kenobot.language.facts.heuristic import Message
from kenobot.language.facts.parse_facts import ExtractedFact
from tests.cost import assert_bounded

CORPUS = tomllib.loads((Path(__file__).parents[3] / "data" / "due_days.toml").read_text("utf-8"))["said"]
SAID = date(2026, 9, 16)  # a Wednesday


def _due(text: str, said: date, before: str = "") -> str:
    return dict(day_due(text, said, first=1, before=before)).get("due", "-")


@pytest.mark.parametrize("said", CORPUS, ids=lambda said: str(said["day"]))
def test_what_is_told_is_due_on_its_day(said: dict[str, object]) -> None:
    """What is over, comes again and again or was put off is due on no day, or on another one."""
    day = said["day"]
    assert isinstance(day, date)
    wanted = dict(line.rsplit(" = ", 1) for line in str(said["told"]).strip().splitlines())
    assert {text: _due(text, day) for text in wanted} == wanted


@pytest.mark.parametrize(
    ("before", "text", "day"),
    [
        ("The herd test is on Tuesday the 22nd.", "Feeney can take the jeep the day after", "2026-09-23"),
        ("The herd test is on Tuesday the 22nd.", "The bull goes the same day", "2026-09-22"),
        ("Ana llega el viernes 25.", "Al día siguiente vamos a la playa", "2026-09-26"),
        ("La boda es el 3 de octubre.", "Una semana después nos vamos a Lisboa", "2026-10-10"),
        ("The wedding is on 3 October.", "The hen do is a week before", "2026-09-26"),
        ("The herd test is on Tuesday the 22nd.", "They can't come the day after", "-"),
        ("The herd test went well.", "The jeep goes in the day after", "-"),
        ("The herd test is on Tuesday the 22nd.", "The jeep goes in on Friday", "2026-09-18"),
    ],
)
def test_a_day_may_be_counted_from_the_one_before(before: str, text: str, day: str) -> None:
    """By the last day that was named; without one it is none."""
    assert _due(text, SAID, before) == day


def test_a_fact_has_the_day_of_whichever_of_its_sentences_names_one() -> None:
    """The second sentence says when."""
    [fact] = heuristic.extract_facts("Lent Marco my torque wrench. He says he'll drop it back next Saturday.", SAID)
    assert dict(fact.attributes) == {"due": "2026-09-19"}


def test_a_sentence_counts_its_day_from_the_one_before_it() -> None:
    """In one message."""
    text = "The herd test is on Tuesday the 22nd. Jeep goes in to Feeney the day after."
    dues = [dict(fact.attributes).get("due") for fact in heuristic.extract_facts(text, SAID)]
    assert dues == ["2026-09-22", "2026-09-23"]


def test_a_message_counts_its_day_from_the_message_before() -> None:
    """Which is asked for then."""
    text = "Feeney takes the jeep the day after."
    assert heuristic.needs_before(text)
    [fact] = heuristic.read_messages([Message(text, SAID, before="The herd test is on the 22nd.")], ())
    assert dict(fact.attributes) == {"due": "2026-09-23"}


@pytest.mark.parametrize("text", ["on the 22nd", "the day after Christmas", "nothing at all", "after a long day"])
def test_only_a_day_that_needs_another_one_is_counted_from_it(text: str) -> None:
    """Not one that says itself when it is."""
    assert not counts_from_another(text)


@pytest.mark.parametrize(
    ("text", "dues"),
    [
        (
            "The class trip is on Thursday the 24th, and the form has to be in by this Friday",
            ["2026-09-24", "2026-09-18"],
        ),
        ("La excursión es el jueves 24 y hay que entregar el papel antes del viernes", ["2026-09-24", "2026-09-18"]),
        ("We go on 3 October and come back on the 10th", ["2026-10-03"]),
    ],
)
def test_what_is_to_be_done_by_another_day_has_a_note_of_its_own(text: str, dues: list[str]) -> None:
    """Beside the note of the day that is told first; a day without a deadline has none."""
    assert [dict(fact.attributes).get("due") for fact in heuristic.extract_facts(text, SAID)] == dues


def test_a_value_that_is_known_is_due_on_no_day() -> None:
    """A birthday is not a plan."""
    fact = ExtractedFact("my birthday is on 5 October", attributes=(("birthday", "10-05"),))
    assert with_day(fact, SAID) == fact


@pytest.mark.parametrize("text", ["el viernes no ", "moved from monday to ", "the day after ", "he said that ", "ed "])
def test_a_bounded_part_of_a_hostile_text_is_read(text: str) -> None:
    """No text takes long, whatever it repeats."""
    assert_bounded(lambda part: day_due(part, SAID, before=part), text * 4000)
