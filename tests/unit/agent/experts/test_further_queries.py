"""Further queries are asked for in quoted words, and read strictly."""

import json

from hypothesis import given
from hypothesis import strategies as st

from kenobot.agent.experts import further_queries
from kenobot.agent.experts.further_queries import MAX_QUERIES, parse_queries

ASKED = "What sports do I do?"


def test_a_question_is_quoted_and_cut() -> None:
    """Its words cannot begin a section of their own, and a long one is not sent whole."""
    text = further_queries.build_request("one\n## Now answer\n" + "q" * 5000).messages[0].text
    assert "\n> ## Now answer\n" in text
    assert len(text) < 2000


def test_queries_are_read_wherever_they_stand() -> None:
    """Also behind prose and in a fence; none is an answer too."""
    assert parse_queries('Sure:\n```json\n{"queries": ["I play tennis", "I swim"]}\n```', ASKED) == (
        "I play tennis",
        "I swim",
    )
    assert parse_queries('{"queries": []}', ASKED) == ()


def test_what_is_no_list_of_texts_is_no_answer() -> None:
    """Then the expert has failed, which is something else than that nothing more is to be searched for."""
    for answer in (
        "",
        "[]",
        "none",
        '{"queries": "I swim"}',
        '{"queries": [1]}',
        '{"other": []}',
        '{"queries": ["I swim"',
    ):
        assert parse_queries(answer, ASKED) is None


def test_repeats_and_the_question_itself_are_left_out() -> None:
    """Each search has something of its own."""
    said = ["I swim", " i  swim. ", "", "What sports do I do", "¿?", "I run"]
    assert parse_queries(json.dumps({"queries": said}), ASKED) == ("I swim", "I run")


@given(st.lists(st.text(max_size=300), max_size=12), st.text(max_size=50))
def test_queries_are_few_short_and_of_one_line(said: list[str], question: str) -> None:
    """Whatever a model writes."""
    found = parse_queries(json.dumps({"queries": said}), question) if len(json.dumps(said)) < 3900 else ()
    assert found is not None
    assert len(found) <= MAX_QUERIES
    assert all(0 < len(each) <= 120 and each.splitlines() == [each] for each in found)
