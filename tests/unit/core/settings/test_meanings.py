"""What settings mean, in both languages."""

import re
from collections import Counter

from kenobot.core.settings.meanings import read_meanings, read_spanish

_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_COMMANDS = re.compile(r"`(?:pip|kenobot) ?([a-z-]*)|credentials/[a-z_./]+|docs/[a-z_./]+\.md")


def test_each_meaning_has_its_spanish_and_no_spanish_is_of_another() -> None:
    """A meaning that changes its English needs new Spanish."""
    english = set(read_meanings().values())
    assert sorted(english - read_spanish().keys()) == []
    assert sorted(read_spanish().keys() - english) == []
    assert read_meanings("es").keys() == read_meanings().keys()


def test_numbers_files_and_commands_are_the_same_in_both_languages() -> None:
    """So that no bound and no path is another one in Spanish."""
    for english, spanish in read_spanish().items():
        assert spanish != english
        for pattern in (_NUMBERS, _COMMANDS):
            assert Counter(pattern.findall(english)) == Counter(pattern.findall(spanish)), english
