"""A model's answer is read with patience: what can be read is, and nothing else becomes a memory."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.facts.parse_facts import ExtractedFact, parse_facts


def _texts(answer: str) -> list[str] | None:
    facts = parse_facts(answer)
    return None if facts is None else [fact.text for fact in facts]


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": [{"text": "Vive en Lyon"}]}',
        '[{"text": "Vive en Lyon"}]',
        '{"text": "Vive en Lyon"}',
        '["Vive en Lyon"]',
        '```json\n{"facts": [{"text": "Vive en Lyon"}]}\n```',
        'Sure, here you are:\n\n{"facts": [{"text": "Vive en Lyon"}]}\n\nAnything else?',
        '\ufeff{"facts": [{"fact": "Vive en Lyon"}]}',
        '{"memories": [{"statement": " Vive\\nen  Lyon "}]}',
        '{"text": "Vive en Lyon"}\n{"text": "vive en lyon."}',
        'I looked at [the turns] and {this}. {"facts": [{"text": "Vive en Lyon"}]}',
        '{"facts": [{"text": "Vive en Lyon"}, {"text": "Le gus',
        '{"facts": [7, null, {"text": ["a"]}, {"text": ""}, {"text": "Vive en Lyon"}]}',
    ],
)
def test_a_fact_is_found_in_whatever_it_is_wrapped(answer: str) -> None:
    """Fences, prose, other names, broken neighbours, a cut end: the fact is the same."""
    assert _texts(answer) == ["Vive en Lyon"]


@pytest.mark.parametrize(
    "answer", ["[]", "{}", '{"facts": []}', '{"facts": null}', "None", "NONE.", "nada", '["None"]']
)
def test_nothing_is_an_answer(answer: str) -> None:
    """Most turns hold nothing worth noting, and then they have been read."""
    assert parse_facts(answer) == ()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "not json",
        "I'm sorry, I can't help with that.",
        "Lo siento, no puedo hacer eso.",
        '{"error": "overloaded"}',
        '[{"foo": 1}]',
        "[[[[" * 5000,
        '{"a":' * 5000,
        "{" * 100_000,
    ],
)
def test_an_excuse_is_not(answer: str) -> None:
    """What holds no list of facts has read nothing: the turns go on waiting."""
    assert parse_facts(answer) is None


def test_brackets_inside_a_text_stay() -> None:
    """A bracket in a sentence is no JSON."""
    assert _texts('{"text": "Likes [modal] jazz and {braces}"}') == ["Likes [modal] jazz and {braces}"]


def test_a_plain_sentence_about_the_person_is_taken_with_a_pinch_of_salt() -> None:
    """A model that will not write JSON may still say something; questions and remarks on the talk are nothing."""
    facts = parse_facts("User enjoys morning coffee\nThe user asked about the weather.\nDoes the user like tea?") or ()
    assert [(fact.text, fact.confidence) for fact in facts] == [("User enjoys morning coffee", 0.4)]


def test_every_field_falls_back_alone() -> None:
    """One wrong field costs itself, not the fact."""
    item = {
        "text": "Debe entregar el informe",
        "category": "Compromiso",
        "subject": "The User",
        "attributes": {"City": " Lyon ", "n": None, "by": "me", "list": [1]},
        "tags": "informe",
        "confidence": "lots",
        "importance": 99,
        "kind": "poem",
        "evidence": ["2", 2, -1, "x", 1.5, True],
        "due": "2026-03-04",
        "expires": "2026-13-40",
        "verdicts": [{"memory": 3, "relation": "Repeat"}, {"memory": "x"}, 4, {"memory": 5, "relation": "maybe"}],
    }
    assert parse_facts(json.dumps([item])) == (
        ExtractedFact(
            text="Debe entregar el informe",
            category="commitment",
            subject="",
            attributes=(("city", "Lyon"), ("due", "2026-03-04")),
            tags=("informe",),
            confidence=0.7,
            importance=None,
            evidence=(2,),
            verdicts=((3, "repeat"),),
        ),
    )


@pytest.mark.parametrize(
    ("written", "meant"), [(0.95, 0.95), ("explicit", 0.95), ("speculative", 0.2), (7, 0.7), (None, 0.7)]
)
def test_confidence_is_a_share_or_a_tier(written: object, meant: float) -> None:
    """A figure, the name of a tier, or what is implied."""
    assert (parse_facts(json.dumps([{"text": "x y", "confidence": written}])) or ())[0].confidence == meant


@pytest.mark.parametrize(
    ("written", "meant"), [(7, 0.7), (6.6, 0.7), ("8", 0.8), (0.5, None), (11, None), (True, None)]
)
def test_importance_is_from_one_to_ten(written: object, meant: float | None) -> None:
    """Whatever is no such number is left to memory's own rules."""
    assert (parse_facts(json.dumps([{"text": "x y", "importance": written}])) or ())[0].importance == meant


def test_secrets_do_not_hide_in_attributes() -> None:
    """Memory refuses a secret in a text; none comes in beside it."""
    item = {
        "text": "Has a server",
        "attributes": {"password": "hunter2hunter2", "host": "db1"},
        "tags": ["sk-abcdefghijklmnopqrstuvwx"],
        "subject": "sk-abcdefghijklmnopqrstuvwx",
    }
    fact = (parse_facts(json.dumps([item])) or ())[0]
    assert (fact.attributes, fact.tags, fact.subject) == ((("host", "db1"),), (), "")


def test_expiry_is_a_day() -> None:
    """A day, with or without a time."""
    facts = (
        parse_facts('[{"text": "a b", "expires": "2026-05-01"}, {"text": "c d", "expires": "2026-05-01T10:00:00Z"}]')
        or ()
    )
    assert [fact.expires for fact in facts] == [date(2026, 5, 1)] * 2


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["facts", "text", "category", "verdicts", "evidence", "attributes", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(_JSON, st.text(max_size=30), st.integers(0, 60))
def test_no_answer_breaks_the_reading(value: object, around: str, cut: int) -> None:
    """Any JSON, within any text, cut anywhere: it gives facts that say something, or none."""
    answer = around + json.dumps(value) + around
    for text in (answer, answer[:cut]):
        assert all(fact.text.strip() for fact in parse_facts(text) or ())
