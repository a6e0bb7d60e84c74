"""What no rule reads is noted where it is worth a note, whole where its parts would not stand alone."""

from datetime import date
from importlib import resources

import pytest

from kenobot.language.facts.heuristic import Message, extract_facts, read_messages
from kenobot.language.facts.parse_facts import TIERS, ExtractedFact
from kenobot.language.statements import worth_noting
from kenobot_evals.life import fortnights
from kenobot_evals.life.fortnights import Fact, Utterance, load_fortnight

SAID = date(2026, 10, 5)


def _facts(utterance: Utterance) -> list[ExtractedFact]:
    found = read_messages([Message(utterance.text, utterance.at.date())], ())
    return [fact for fact in found if fact.confidence >= TIERS["implied"]]


def _holds(facts: list[ExtractedFact], fact: Fact) -> bool:
    return any(fact.is_in(" ".join([each.text, *dict(each.attributes).values()])) for each in facts)


def test_most_of_what_strangers_tell_is_noted_and_next_to_nothing_else() -> None:
    """Of the messages of four people whose sentences were not learned from: all facts of a message, or nothing."""
    said = [each for name in fortnights.STRANGERS for each in load_fortnight(name).utterances]
    telling = [each for each in said if each.facts]
    noted = [each for each in telling if all(_holds(_facts(each), fact) for fact in each.facts)]
    assert len(noted) / len(telling) >= 0.8
    empty = [each for each in said if not each.facts and not each.ends]
    assert len([each for each in empty if _facts(each)]) / len(empty) <= 0.06


@pytest.mark.parametrize(
    "text",
    [
        "el pequeño le tiene pánico a los petardos",
        "la caldera de mi suegra la revisa un tal Emeterio",
        "my sister in law farms alpacas near Hawick",
        "we have had the same cleaner, Bogusia, for years",
    ],
)
def test_a_statement_that_no_rule_knows_is_noted_in_its_own_words(text: str) -> None:
    """With the confidence of what is understood, not of what was asked for."""
    [fact] = extract_facts(text, SAID)
    assert (fact.text, fact.confidence) == (text, TIERS["implied"])


@pytest.mark.parametrize(
    "text",
    [
        "qué sueño tengo, madre mía",
        "pues hoy ha llovido a mares por aquí",
        "pásame esa lista a inglés",
        "lol that film was dreadful",
        "rewrite that in a friendlier tone",
        "what's the tallest bridge in France",
        "if I won the lottery I'd buy a boat",
        '"I keep my savings in a sock", says the guy on the telly',
    ],
)
def test_moods_requests_questions_and_others_words_are_not_noted(text: str) -> None:
    """They say nothing that anybody would look up again."""
    assert extract_facts(text, SAID) == []


def test_a_short_message_of_two_sentences_is_noted_whole() -> None:
    """The second means nothing without the first."""
    [fact] = extract_facts("fergal coughed up!! 17 an hr now", SAID)
    assert fact.text == "fergal coughed up!! 17 an hr now"


def test_what_is_told_of_the_past_is_due_on_no_day() -> None:
    """A day of a month that has been is not the next one of that name."""
    assert not any(
        fact.attributes for fact in extract_facts("vimos a Julia el 3 de marzo en la finca de Oropesa", SAID)
    )


def test_the_weights_that_ship_are_one_byte_for_each_hash() -> None:
    """No more is loaded than the features can reach."""
    weights = resources.files("kenobot.language.statements").joinpath(worth_noting.FILE).read_bytes()
    assert len(weights) == worth_noting.BUCKETS
