"""The calls of a stream: the same however their pieces are cut, and no more of them than there may be."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Request, ToolSpec
from kenobot.providers.tool_calls import MOST_ARGUMENT_CHARS, MOST_CALLS, CallCollector

_REQUEST = Request((), (), tools=(ToolSpec("look", "", {}),))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _JSON, max_size=4), st.lists(st.integers(0, 80), max_size=5), st.booleans())
def test_arguments_are_the_same_however_they_are_cut(
    arguments: dict[str, object], cuts: list[int], escaped: bool
) -> None:
    """Also where a letter is written as two escapes and the cut goes between them."""
    text = json.dumps(arguments, ensure_ascii=escaped)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    collector = CallCollector(_REQUEST)
    collector.take(None, "a", "look", "")
    for start, end in pairwise(bounds):
        collector.take(None, "", "", text[start:end])
    [call] = collector.finish_all()
    assert (call.id, call.name, call.arguments, call.problem) == ("a", "look", arguments, "")


@given(st.text(max_size=40))
def test_whatever_a_model_writes_has_an_end(text: str) -> None:
    """A call has arguments, or a problem and none."""
    collector = CallCollector(_REQUEST)
    collector.begin(0, "", "look")
    collector.add(0, text)
    call = collector.finish(0)
    assert call is not None
    assert call.id
    assert not (call.problem and call.arguments)


def test_arguments_are_kept_up_to_a_length() -> None:
    """What comes beyond is dropped, and the call says so."""
    collector = CallCollector(_REQUEST)
    collector.begin(0, "a", "look")
    for _ in range(100):
        collector.add(0, "x" * (MOST_ARGUMENT_CHARS // 10))
    assert sum(map(len, collector._begun[0].pieces)) <= MOST_ARGUMENT_CHARS
    call = collector.finish(0)
    assert call is not None
    assert "too long" in call.problem


def test_calls_are_kept_up_to_a_number() -> None:
    """One more is an error, whichever way it comes."""
    for numbered in (True, False):
        collector = CallCollector(_REQUEST)
        with pytest.raises(Unavailable, match="at once"):
            for number in range(MOST_CALLS + 1):
                collector.take(number if numbered else None, f"id{number}", "look", "{}")
        assert len(collector.finish_all()) == MOST_CALLS


def test_pieces_of_no_call_are_left_out() -> None:
    """A server may number a piece that it never opened, and close one twice."""
    collector = CallCollector(_REQUEST)
    collector.add(3, "{}")
    assert collector.finish(3) is None
    assert collector.finish_all() == []
