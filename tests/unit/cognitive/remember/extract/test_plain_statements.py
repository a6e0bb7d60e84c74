"""What strangers tell in passing is kept, in small letters too; what holds no fact is not.

Two sets of sixty statements, half of them in Spanish, and forty sentences without a fact, in the folder `plain`: a
statement a line, with a word that what is kept has to hold. The rules were made with `develop` alone; `judge` was
looked at once, and its share is told in docs/recall.md.
"""

from datetime import date
from pathlib import Path

import pytest

from kenobot.cognitive.remember.extract.heuristic import extract_facts
from tests.cost import assert_bounded

SAID = date(2026, 11, 23)
SETS = Path(__file__).with_name("plain")


def _kept(line: str) -> bool:
    text, _, wanted = (part.strip() for part in line.partition(" | "))
    told = [f"{fact.text} {dict(fact.attributes)}".lower() for fact in extract_facts(text, SAID)]
    return any(wanted.lower() in each for each in told)


def _lines(name: str) -> list[str]:
    return (SETS / f"{name}.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize(("name", "least"), [("develop", 57), ("judge", 55)])
def test_plain_statements_are_kept(name: str, least: int) -> None:
    """Of people, things and days, whoever says it."""
    kept = [line for line in _lines(name) if _kept(line)]
    assert len(kept) >= least, [line for line in _lines(name) if line not in kept]


def test_sentences_without_a_fact_are_not_kept() -> None:
    """Questions, wishes, moods, news, quotations and requests; a reminder alone is kept as one, as before."""
    kept = [text for text in _lines("nothing") if extract_facts(text, SAID)]
    assert kept == ["remind me how to boil an egg"]


@pytest.mark.parametrize(
    "text",
    [
        "the cottage key is under the blue flowerpot",
        "la llave de la casita esta debajo de la maceta",
        "mason does soccer on tuesdays",
        "mateo tiene futbol los martes",
        "the mot is due in march",
        "la caldera la revisan en octubre",
        "the wifi password at my parents' is bluekettle",
        "la clave del wifi de mis padres es gatoazul",
        "nora's teacher is called miss finch",
        "la maestra de sofi se llama ines",
        "dad takes warfarin",
        "mi viejo labura de taxista",
        "the apple cake needs four eggs",
        "el bizcocho de manzana lleva cuatro huevos",
    ],
)
def test_each_class_is_kept_whole_in_both_languages(text: str) -> None:
    """Where things are, what comes again, codes, bonds, people's ways and recipes, in the words of the speaker."""
    assert [fact.text for fact in extract_facts(text, SAID)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "im tired", "hey im home", "hola soy yo", "soy feliz", "im back", "im done",
        "the kids are in the garden", "dad is on the phone", "mondays are always awful", "los lunes son lo peor",
        "the wifi is slow", "el wifi es muy lento", "everyone hates mondays", "the train was late in march",
    ],
)  # fmt: skip
def test_passing_states_are_not_kept(text: str) -> None:
    """Moods, whereabouts of a moment, and what everybody says."""
    assert extract_facts(text, SAID) == []


@pytest.mark.parametrize("names", [("hey im jade", "jade"), ("hola soy fede", "fede")])
def test_a_name_in_small_letters_is_one(names: tuple[str, str]) -> None:
    """Behind a greeting, where nothing else is said and the word is no state."""
    (fact,) = extract_facts(names[0], SAID)
    assert dict(fact.attributes) == {"name": names[1]}


@pytest.mark.parametrize("unit", ["the key ", "mason does ", "a's ", "los martes ", "la llave de ", "is under the "])
def test_the_cost_is_bounded_by_the_length(unit: str) -> None:
    """However words are repeated."""
    assert_bounded(lambda text: extract_facts(text, SAID), unit * (4000 // len(unit)))
