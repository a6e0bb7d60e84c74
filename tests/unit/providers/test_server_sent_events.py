"""Server-sent events, out of bytes that come in any pieces."""

from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.providers.server_sent_events import ServerEvent, decode_events

_LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)
_EVENTS = st.lists(st.builds(ServerEvent, _LINES, st.lists(_LINES, min_size=1, max_size=3).map("\n".join)), max_size=5)
_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


async def _pieces(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _decoded(*pieces: bytes) -> list[ServerEvent]:
    return [event async for event in decode_events(_pieces(pieces))]


def _written(events: Sequence[ServerEvent], end: bytes) -> bytes:
    lines: list[str] = []
    for event in events:
        lines += [f"event: {event.name}", *(f"data: {line}" for line in event.data.split("\n")), ""]
    return end.join(line.encode() for line in [*lines, ": the end\n"])


@given(_EVENTS, _ENDS, st.integers(1, 9))
async def test_events_are_the_same_in_whatever_pieces_they_come(
    events: list[ServerEvent], end: bytes, size: int
) -> None:
    written = _written(events, end)
    pieces = [written[at : at + size] for at in range(0, len(written), size)]

    assert await _decoded(*pieces) == events


async def test_comments_unknown_fields_and_events_without_data_are_left_out() -> None:
    assert await _decoded(b": ping\n\nid: 7\nretry: 5\nevent: x\n\ndata:a\ndata\n\n") == [ServerEvent("", "a\n")]


async def test_half_an_event_at_the_end_is_none() -> None:
    assert await _decoded(b"data: whole\n\ndata: ha") == [ServerEvent("", "whole")]


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 65_536, b"data: " + b"x" * 65_536 + b"\n"])
async def test_an_event_without_an_end_is_given_up(piece: bytes) -> None:
    with pytest.raises(ValueError, match="does not end"):
        await _decoded(*[piece] * 100)


async def test_what_is_no_text_is_given_up() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        await _decoded(b"data: \xff\n\n")
