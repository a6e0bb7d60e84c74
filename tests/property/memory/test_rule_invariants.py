"""What the rules make of a message, of random talks of true statements: its own words, and an end only to the same."""

from collections.abc import Iterator
from datetime import date
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.facts.heuristic import Message, read_messages
from kenobot.language.facts.parse_facts import ExtractedFact
from tests.property.memory.true_facts import ME, OTHERS, TONGUES, Grammar, Tongue
from tests.property.memory.true_talks import Line, Talk, has_words_of, is_in

_SAID = date(2026, 2, 14)
_TALKS = st.integers(0, 2**32).map(Random)


def _read(rng: Random) -> Iterator[tuple[Line, list[str], list[ExtractedFact]]]:
    """Each message of a talk, what was told before it, and what the rules read in it."""
    known: list[str] = []
    for line in Talk(rng).lines():
        facts = read_messages([Message(line.text, _SAID)], known)
        yield line, known, facts
        known = [*known, *line.told]


@given(_TALKS)
def test_a_rule_notes_what_was_just_said(rng: Random) -> None:
    """A fact's text is words of the one message, in their order."""
    for line, _, facts in _read(rng):
        for fact in facts:
            assert has_words_of(fact.text, line.text), (fact.text, line.text)


@given(_TALKS)
def test_a_rule_ends_what_an_explicit_form_names(rng: Random) -> None:
    """No question, condition, speech of another or neighbour of a statement ends anything."""
    for line, known, facts in _read(rng):
        ended = [known[number - 1] for fact in facts for number, _ in fact.verdicts]
        wrong = [text for text in ended if not (line.ends and is_in(line.ends, text))]
        assert not wrong, (line.text, wrong)


@given(_TALKS, st.booleans(), st.sampled_from(TONGUES))
def test_a_rule_ends_nothing_without_a_word_of_change(rng: Random, named: bool, tongue: Tongue) -> None:
    """The same statement with another value stands beside it, where nothing says that it changed."""
    grammar, who = Grammar(rng), rng.choice([ME, *OTHERS])
    say = grammar.having if named else grammar.doing
    one = say(tongue, who)
    other = say(tongue, who, one.key)
    ended = [fact.text for fact in read_messages([Message(other.text, _SAID)], [one.text]) if fact.verdicts]
    assert not ended, (one.text, other.text)
