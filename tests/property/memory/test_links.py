"""What the finder of addresses keeps to, whatever the text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.urls import Hostile
from kenobot.agent.safety.urls import SeenUrls, find_urls, remove_urls
from tests.cost import assert_linear

SHARDS = (
    *("https://", "http:", "//", "mailto:", "tg://", "evil", ".com", ".", "/", "?q=", "#", "@", "\\", ":80"),
    *("[", "](", ")", "(", "<", ">", "![", "]: ", '"t"', "\n", " ", "`", "*", "。", "／", "：", "ｅ", "é", "日", "🎉"),
    *("\u200b", "\u00ad", "\u202e", "\0", "\ud800", "co", "www.", "xn--", "1.2.3.4", "mark", "\u2028"),
)
steady = settings(deadline=None)  # a busy machine is no failure
texts = st.lists(st.sampled_from(SHARDS) | st.text(max_size=3), max_size=40).map("".join)
MARK = "[link removed]"


@steady
@given(texts)
@example("evil.[com/secret](http://e.co)")
@example("[[a.com/1](http://b.co)](http://c.co)")
def test_nothing_is_left_after_cutting(text: str) -> None:
    """The text that a person gets holds no address, however the cut ones lay in one another."""
    left, removed = remove_urls(text, lambda address: False, MARK)
    assert find_urls(left) == []
    assert (not removed) == (find_urls(text) == [])
    assert removed or left == text


@steady
@given(texts)
def test_addresses_are_in_order_and_apart(text: str) -> None:
    """Each stands where it says, after the one before."""
    end = 0
    for address in find_urls(text):
        assert end <= address.start < address.end <= len(text)
        end = address.end


@steady
@given(texts)
def test_what_was_shown_is_known(text: str) -> None:
    """A text may be repeated word for word without losing anything."""
    assert remove_urls(text, SeenUrls([text]), MARK) == (text, [])


@pytest.mark.parametrize("text", [pytest.param(text, id=title) for title, text in Hostile(20_000).all()])
def test_the_time_is_linear(text: str) -> None:
    """Text that is made to confuse the finder does not hold up the event loop."""
    assert_linear(lambda part: remove_urls(part, SeenUrls([part[: len(part) // 2]]), MARK), text)
