"""How much of a text is left out is said as it is."""

import pytest

from kenobot.core.left_out import cut_text, note_omission


@pytest.mark.parametrize(
    ("text", "room", "cut"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc\n[… 1 character more, which is not shown]"),
        ("a" * 3000, 5, "aaaaa\n[… 2,995 characters more, which are not shown]"),
        (f"abcd\n{note_omission(88_000)}", 4, f"abcd\n{note_omission(88_000)}"),
        (f"abcd\n{note_omission(88_000)}", 3, "abc\n[… 88,001 characters more, which are not shown]"),
        (f"ab\n{note_omission(9, at_least=True)}", 1, f"a\n{note_omission(10, at_least=True)}"),
        ("abc", 0, "\n[… 3 characters more, which are not shown]"),
    ],
)
def test_a_text_is_cut_with_a_note(text: str, room: int, cut: str) -> None:
    """What an earlier cut left out is counted too."""
    assert cut_text(text, room) == cut


def test_what_was_not_counted_to_its_end_is_told_so() -> None:
    """It is no less than that."""
    assert note_omission(1200, at_least=True) == "[… at least 1,200 characters more, which are not shown]"
