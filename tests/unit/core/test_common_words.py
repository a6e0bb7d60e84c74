"""Names, and the words of every day."""

import pytest

from bench.common_words import collect
from kenobot.core.common_words import _words, is_common_word, plausible_name


def test_the_words_are_those_that_the_corpora_give() -> None:
    """The file is made by its generator, from what is in the repository."""
    assert sorted(_words()) == collect()


@pytest.mark.parametrize("word", "emily carlos ahmed sunita concepcion siobhan kofi will mar".split())
def test_names_are_no_everyday_words(word: str) -> None:
    """Nor are those that are words as well."""
    assert not is_common_word(word)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Max please", "Max"),
        ("María de la O García", "María de la O García"),
        ("José Luis", "José Luis"),
        ("rob smith", "rob smith"),
        ("李雷", "李雷"),
        ("Dr Lee's office", ""),
        ("de Vigo", ""),
        ("Home", ""),
        ("not important", ""),
        ("", ""),
    ],
)
def test_a_name_ends_where_everyday_words_begin(text: str, name: str) -> None:
    """What begins with one is none."""
    assert plausible_name(text) == name
