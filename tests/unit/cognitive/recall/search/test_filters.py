"""What a recall leaves out because the prompt shows it already."""

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.recall.search.on_show import ShownTexts

_PIECES = st.lists(
    st.sampled_from([*"ab —-_(", "\n", "- ", "— ", " _(", "tea at five", "Ana lives in Lyon"]), max_size=40
)


@given(_PIECES.map("".join), _PIECES.map("".join))
def test_an_item_is_found_wherever_a_mark_of_a_list_stands_before_it(shown: str, text: str) -> None:
    """It is one when a mark stands before it, and behind it the line ends or says what is known of it."""
    items = [f"{mark} {text}{end}" for mark in "-—" for end in ("\n", " _(")]
    assert (text in ShownTexts(shown)) == any(item in shown for item in items)
    assert all(text in ShownTexts(f"{shown}{item}{text}") for item in items)
