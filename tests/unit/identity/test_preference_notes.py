"""What is new in preferences.md, as a note."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.identity.preference_notes import note_preferences

_TOLD = "# User Preferences\n\n- Prefers short answers\n- Le gusta el té\n"
_HEAD = "### New preferences\n"


@pytest.mark.parametrize(
    ("current", "note"),
    [
        (_TOLD, ""),
        (f"\n{_TOLD}\n\n", ""),
        (f"{_TOLD}- 用户喜欢绿茶\n", f"{_HEAD}- 用户喜欢绿茶"),
        (f"{_TOLD}\nNever call before nine.\n", f"{_HEAD}Never call before nine."),
        (_TOLD.replace("- Le", "- Likes tables\n- Le"), f"{_HEAD}- Likes tables"),
        (f"{_TOLD}\n## Tone\n\n- Formal\n  and brief\n", f"{_HEAD}## Tone\n- Formal\n  and brief"),
    ],
)
def test_what_was_added_is_told(current: str, note: str) -> None:
    """A line, a paragraph or a section, wherever it stands."""
    assert note_preferences(_TOLD, current) == note


def test_an_item_is_told_with_the_section_that_it_is_added_to() -> None:
    """Else nobody knows what it is about."""
    told = "## At work\n- Formal\n\n## At home\n- Casual\n"
    assert note_preferences(told, f"{told}- No emoji\n") == f"{_HEAD}## At home\n- No emoji"


@pytest.mark.parametrize(
    "current",
    [
        "",
        _TOLD.replace("- Le gusta el té\n", ""),
        _TOLD.replace("short", "long"),
        "# User Preferences\n\n- Le gusta el té\n- Prefers short answers\n",
        _TOLD.replace("té\n", "té\n  pero no por la noche\n"),
        f"{_TOLD}but not in the evening\n",
    ],
)
def test_what_changes_a_line_is_no_addition(current: str) -> None:
    """Gone, reworded, moved, or gone on with: the beginning would say something else than the file."""
    assert note_preferences(_TOLD, current) is None


def test_a_line_before_a_paragraph_is_no_addition() -> None:
    """The paragraph goes on from it."""
    assert note_preferences("Call me Ana.\n", "Never:\nCall me Ana.\n") is None


_ITEMS = st.lists(st.text("abcñ日🚀 ", min_size=1).map(lambda text: f"- {text.strip()}x"), max_size=8)


@given(_ITEMS, _ITEMS, st.randoms())
def test_items_that_come_to_others_are_all_told_and_no_other(told: list[str], new: list[str], rng: object) -> None:
    """In any order among the old ones."""
    mixed = list(told)
    for item in new:
        mixed.insert(rng.randint(0, len(mixed)), item)  # type: ignore[attr-defined]
    note = note_preferences("\n".join(told), "\n".join(mixed))
    assert note is not None
    assert sorted(note.splitlines()[1:]) == sorted(new)
