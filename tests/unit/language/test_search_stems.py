"""A search takes forms and names of one thing for one word."""

import pytest

from kenobot.language.lexicon import word_rows
from kenobot.language.words import fold, search_stems, search_terms, stems, stems_taken_for


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("went", "go"),
        ("bought", "purchases"),
        ("children", "kid"),
        ("mum", "mother"),
        ("photos", "pictures"),
        ("dijo", "decir"),
        ("duerme", "dormir"),
        ("toqué", "tocar"),
        ("mamá", "madre"),
        ("coches", "carro"),
    ],
)
def test_forms_and_names_of_one_thing_share_a_stem(one: str, other: str) -> None:
    """Which the stems of the words alone do not, in either language."""
    assert set(stems(fold(one))).isdisjoint(stems(fold(other)))
    assert not set(search_stems(fold(one))).isdisjoint(search_stems(fold(other)))


@pytest.mark.parametrize(("one", "other"), [("rose", "rise"), ("bear", "born"), ("cara", "coche")])
def test_words_that_are_also_others_stay_apart(one: str, other: str) -> None:
    """A rose did not rise, and whoever was born is no bear."""
    assert set(search_stems(one)).isdisjoint(search_stems(other))


def test_no_word_stands_in_two_rows_of_a_list() -> None:
    """It would be taken for the first of the later one alone."""
    for name in ("same_en", "same_es"):
        told = [word for row in word_rows(name) for word in row.split()]
        assert len(told) == len(set(told))
        assert all(word == fold(word) for word in told)


def test_what_a_stem_is_taken_for_leads_back_to_it() -> None:
    """A text that is clipped around what matched is read for all of its forms."""
    (go,) = search_stems("went")
    assert {"went", "gone", "go"} <= stems_taken_for(go)
    assert stems_taken_for("veranda") == {"veranda"}
    assert search_terms("She went to the veranda") == [go, *search_stems("veranda")]
