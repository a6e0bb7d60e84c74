"""Promises in Spanish and English, also in the past tense, by a corpus of what people tell."""

import tomllib
from datetime import date
from pathlib import Path

import pytest

from kenobot.language.completions import completion_sentences
from kenobot.language.facts import heuristic
from kenobot.language.facts.clause_rules import is_duty, promises

_CORPUS = tomllib.loads((Path(__file__).parents[3] / "data" / "promises.toml").read_text("utf-8"))
_SAID = date(2026, 11, 25)


def _makes_commitment(text: str) -> bool:
    return any(fact.category == "commitment" for fact in heuristic.extract_facts(text, _SAID))


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_promise_is_a_commitment_whatever_its_tense(language: str) -> None:
    """Also an offer for a day, an agreement to do something, and one's word."""
    told = _CORPUS["own"][language].strip().splitlines()
    assert [text for text in told if not _makes_commitment(text)] == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_only_looks_like_a_promise_is_no_commitment(language: str) -> None:
    """Others' promises, denials, questions, assurances and words of the same root."""
    told = _CORPUS["other"][language].strip().splitlines()
    assert [text for text in told if _makes_commitment(text)] == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_words_of_a_promise_do_not_sound_done(language: str) -> None:
    """What was promised in the past tense is not thereby kept."""
    told = _CORPUS["own"][language].strip().splitlines()
    assert [text for text in told if completion_sentences(text) and not promises(text)] == []


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I have to send Maria the contract by Friday", True),
        ("call the dentist by Friday", True),
        ("hay que entregar el informe antes del viernes", True),
        ("Rob needs to pay the rent", True),
        ("llamar a Luis el lunes", True),
        ("I have a dentist appointment on Thursday at 10", False),
        ("Dinner with Marta on Saturday", False),
        ("the concert will be on Friday", False),
        ("Mi hermana llega el viernes", False),
        ("tengo dentista el martes", False),
    ],
)
def test_a_duty_is_told_from_what_takes_place(text: str, is_one: bool) -> None:
    """Of an appointment that is over nobody is asked whether it is done."""
    assert is_duty(text) is is_one
