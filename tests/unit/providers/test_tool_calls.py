"""The calls of a stream: the same however their pieces are cut, and no more of them than there may be."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Message, Request, ToolCall, ToolSpec
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


def test_ids_are_new_in_the_whole_conversation() -> None:
    """Some servers number the calls of each reply from 0, or not at all: a result has to name one call."""
    told = tuple(Message("assistant", (ToolCall(id, "look", {}),)) for id in ("0", "call_1", "0-2"))
    collector = CallCollector(Request((), told, tools=_REQUEST.tools))
    for number, id in enumerate(("", "0", "0", "1")):
        collector.begin(number, id, "look")
    assert [call.id for call in collector.finish_all()] == ["call_1-2", "0-3", "0-4", "1"]


@pytest.mark.parametrize("name", ["", "look at it", "mira_ñ", "x" * 500, "a\n\ud800"])
def test_an_unknown_name_is_one_that_services_take_back(name: str) -> None:
    """It goes with the result into the next request, which would be refused as a whole."""
    collector = CallCollector(_REQUEST)
    collector.begin(0, "a", name)
    [call] = collector.finish_all()
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call.name)
    assert "no tool called" in call.problem


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
