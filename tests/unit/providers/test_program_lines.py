"""The output of a program: the same lines however it arrives, and none without an end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.providers.command_line.process import MOST_LINE_BYTES, Lines
from kenobot.providers.service import EndlessAnswer


@given(st.lists(st.text(alphabet="ab\n", max_size=5).map(str.encode), max_size=8))
def test_lines_are_the_same_however_they_arrive(pieces: list[bytes]) -> None:
    """What has no end yet is held back."""
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)]
    assert found == b"".join(pieces).split(b"\n")[:-1]


def test_a_line_has_an_end() -> None:
    """The sooner of the two: a line end, or so many bytes."""
    lines, piece = Lines(), b"x" * (MOST_LINE_BYTES // 4)
    for _ in range(3):
        assert lines.feed(piece) == []
    assert len(lines.feed(b"\n")) == 1
    with pytest.raises(EndlessAnswer):
        for _ in range(5):
            lines.feed(piece)
    assert sum(map(len, lines._begun)) <= MOST_LINE_BYTES + len(piece)
