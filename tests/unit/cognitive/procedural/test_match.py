"""Which patterns fit a message, and what a pattern is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.procedural.pattern import Pattern, candidate_of, match_patterns, pattern_of, text_of
from kenobot.language.problem_words import keyword_similarity
from tests.memory_rows import open_memory, put_record

_NONE: dict[str, str] = {}


def _pattern(trigger: str, confidence: float = 0.6, response: str = "resolved with query params") -> Pattern:
    with open_memory() as connection:
        attrs = json.dumps({"trigger": trigger, "response": response, "learnedFrom": "consolidation"})
        text = text_of(trigger, response)
        found = pattern_of(put_record(connection, text, form="procedure", attributes=attrs, confidence=confidence))
        assert found is not None
        return found


@pytest.mark.parametrize(
    "message",
    [
        "Me da un 401 cuando hago un POST al webhook de n8n",
        "I get a 401 from my n8n webhooks",
        "¿Por qué los WEBHOOKS de N8N dan 401?",
    ],
)
def test_the_seeds_own_sum(message: str) -> None:
    """Three words of four, at a confidence of .6, are .45, in Spanish and English."""
    [fit] = match_patterns([_pattern("n8n webhook 401 error")], message)
    assert fit.score == pytest.approx(0.45)


def test_failing_is_one_word_in_both_languages() -> None:
    """ "falla" is an error too; alone it fits nothing in particular well."""
    trigger = _pattern("n8n webhook 401 error")
    assert match_patterns([trigger], "el webhook de n8n falla con 401")[0].coverage == 1.0
    assert match_patterns([trigger], "mi impresora falla")[0].score == pytest.approx(0.15)


def test_the_best_comes_first() -> None:
    """And what shares no word does not come at all."""
    one, two, three = _pattern("n8n webhook", 0.5), _pattern("n8n webhook", 0.9), _pattern("printer driver")
    assert [fit.pattern.confidence for fit in match_patterns([one, two, three], "n8n webhook down")] == [0.9, 0.5]


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        ("サーバーのエラー", "サーバーのエラーが出た"),
        ("ошибка сервера", "у меня ошибка сервера"),
        ("خطأ الخادم", "خطأ الخادم مرة أخرى"),
        ("C++ CI", "CI for C++ is red"),
        ("🔥 deploy", "the deploy is 🔥"),
    ],
)
def test_every_script_and_short_words_count(trigger: str, message: str) -> None:
    """As they do everywhere in memory."""
    assert match_patterns([_pattern(trigger)], message)[0].coverage == 1.0


def test_a_part_of_a_word_is_no_word() -> None:
    """A cat is not in a concatenation."""
    assert match_patterns([_pattern("cat")], "concatenate") == []


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_message_gets_scores_from_0_to_1(trigger: str, message: str) -> None:
    """However odd the words are."""
    with open_memory() as connection:
        record = put_record(connection, f"{trigger} → it", form="procedure", confidence=0.9)
        found = pattern_of(record)
        for fit in match_patterns([found] if found is not None else [], message):
            assert 0 < fit.coverage <= 1
            assert 0 < fit.score <= 0.9


def test_a_pattern_is_what_its_text_says() -> None:
    """A person who rewrote the card did not see the attributes."""
    with open_memory() as connection:
        attrs = json.dumps({"trigger": "old", "response": "old"})
        found = pattern_of(put_record(connection, "new trigger → new answer", form="procedure", attributes=attrs))
        assert found is not None
        assert (found.trigger, found.response) == ("new trigger", "new answer")
        assert pattern_of(put_record(connection, "prose of a person's own", form="procedure")) is None
        assert pattern_of(put_record(connection, "a → b")) is None


def test_a_sign_within_a_trigger_does_not_cut_it() -> None:
    """Only the one between trigger and response does."""
    made = candidate_of("owner", "a → b", "c → d", source="edit", trust="owner", learned_from="edit", confidence=0.9)
    assert made.text == "a -> b → c -> d"


def test_likeness_counts_common_words() -> None:
    """From none to all of them."""
    assert keyword_similarity("n8n webhook 401", "n8n webhooks 401") == 1.0
    assert keyword_similarity("n8n webhook 401", "printer") == 0.0
    assert keyword_similarity("", "printer") == 0.0
