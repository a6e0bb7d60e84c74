"""A lesson and a pattern have a subject."""

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.sleep.improve.errors import lesson_text
from kenobot.language.solutions import find_solution, lacks_subject


@pytest.mark.parametrize(
    "text",
    [
        "fixed it: error 13 went away after a restart",
        "I fixed it, the error 13 went away after a restart",
        "it: error 13 went away after a restart",
        "it's the error 13 again, solved by a restart",
        "that was the error 13, fixed with a restart",
        "lo arreglé: el error 13 se fue con un reinicio",
        "eso daba el error 13, arreglado con un reinicio",
    ],
)
def test_what_only_points_back_teaches_nothing(text: str) -> None:
    """Nobody knows later what it was about."""
    assert lacks_subject(text)
    found = find_solution(text)
    assert found is None or not lacks_subject(found.trigger)
    assert lesson_text(text, "internal", "2026-11-28", DEFAULT.pruning) is None


@pytest.mark.parametrize(
    "text",
    [
        "the printer said error 13, fixed with a restart",
        "That printer fails with error 13",
        "La impresora daba el error 13, arreglado con un reinicio",
        "Italy's portal gave an error 13",
    ],
)
def test_what_names_its_subject_may_teach(text: str) -> None:
    """A printer, a portal."""
    assert not lacks_subject(text)
    assert lesson_text(text, "internal", "2026-11-28", DEFAULT.pruning) is not None
