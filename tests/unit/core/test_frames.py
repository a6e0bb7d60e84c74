"""Frames survive the socket, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.core.frames import EVENTS, REQUESTS, FrameError, Say, Show, decode, encode


@given(st.text(max_size=50), st.integers(min_value=1))
def test_texts_arrive_as_they_were(text: str, number: int) -> None:
    """On one line, whatever line ends and scripts they hold."""
    line = encode(Show(id=number, text=text))
    assert line.count(b"\n") == 1
    assert decode(line, EVENTS) == Show(id=number, text=text)


def test_half_a_character_does_not_break_the_line() -> None:
    """A terminal may bring a lone surrogate."""
    frame = decode(encode(Say(id="1", text="a\ud83d", sent_at="")), REQUESTS)
    assert isinstance(frame, Say)
    assert frame.text == "a?"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"hello\n",
        b"[]\n",
        b'{"kind":"obey"}\n',
        b'{"kind":"say","id":"","text":"a"}\n',
        b"\xff\n",
    ],
)
def test_what_is_no_frame_is_refused(line: bytes) -> None:
    """As one error, whatever is wrong with it."""
    with pytest.raises(FrameError):
        decode(line, REQUESTS)


def test_an_end_speaks_only_its_own_part() -> None:
    """A chat cannot send what only the bot says."""
    with pytest.raises(FrameError):
        decode(encode(Show(id=1, text="a")), REQUESTS)


def test_a_field_of_a_later_version_is_no_obstacle() -> None:
    """As long as the protocol is the same."""
    assert decode(b'{"kind":"shown","id":3,"seen":true}\n', REQUESTS).kind == "shown"
