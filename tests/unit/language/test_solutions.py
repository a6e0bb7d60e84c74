"""What of an entry is a problem, and what solved it, by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.problem_words import keywords
from kenobot.language.solutions import Solution, combine_texts, find_solution, is_grounded, trigger_of
from tests.cost import assert_bounded

_TOLD = {
    "Adrian spent hours debugging n8n webhook 401 — resolved with query params": (
        "n8n webhook 401 error",
        "resolved with query params",
    ),
    "n8n webhook error returned 401 unauthorized\nThe issue was solved by adding the token param": (
        "n8n webhook error returned 401 unauthorized",
        "The issue was solved by adding the token param",
    ),
    "The deploy failed but we solved it by pinning the version": (
        "The deploy failed",
        "solved it by pinning the version",
    ),
    "Fixed the 401 error of the n8n webhook by adding a token": (
        "the 401 error of the n8n webhook",
        "Fixed by adding a token",
    ),
    "Docker crashed with error 137. Solved it! Gave it 4 GB of memory": (
        "Docker crashed with error 137",
        "Solved it: Gave it 4 GB of memory",
    ),
    "El webhook de n8n daba error 401 y lo resolví con query params": (
        "El webhook de n8n daba error 401",
        "resolví con query params",
    ),
    "Adrian pasó horas depurando el webhook 401 de n8n; se solucionó usando query params": (
        "webhook 401 de n8n error",
        "se solucionó usando query params",
    ),
    "La impresora no imprimía, error 0x6; la solución fue reinstalar el driver": (
        "La impresora no imprimía, error 0x6",
        "la solución fue reinstalar el driver",
    ),
    "Me costó horas el error 403 de S3, arreglado con la política del bucket": (
        "error 403 de S3",
        "arreglado con la política del bucket",
    ),
    "n8n webhook error returned 401\nThe error was solved by adding ?token= query param": (
        "n8n webhook error returned 401",
        "The error was solved by adding ?token= query param",
    ),
    "El webhook devolvió un error 401\nEl error se solucionó añadiendo ?token= a la URL": (
        "El webhook devolvió un error 401",
        "El error se solucionó añadiendo ?token= a la URL",
    ),
    "サーバーのエラー 500 — solution: 再起動する": ("サーバーのエラー 500 error", "solution: 再起動する"),
}


@pytest.mark.parametrize(("text", "wanted"), _TOLD.items())
def test_a_problem_that_was_solved_is_read_in_both_languages(text: str, wanted: tuple[str, str]) -> None:
    """In the words of whoever told it, without the story around the problem."""
    assert find_solution(text) == Solution(*wanted)


@pytest.mark.parametrize(
    "text",
    [
        "An error occurred but nothing was done about it",
        "The build error is not solved yet",
        "The printer error will be fixed by Friday",
        "El error del pago no se resolvió con el parche",
        "¿Se arregló el error del router con el reinicio?",
        "Hay que dejar resuelto el error del login con el equipo",
        "The deploy failed but we solved it",
        "The login error was resolved",
        "It failed with an error — fixed by restarting nginx",
        "Learned: n8n webhooks prefer query params for auth, headers always fail with 401",
        "We fixed dinner with Ana",
        "",
    ],
)
def test_what_is_not_solved_or_not_said_how_is_no_pattern(text: str) -> None:
    """Nor is a solution without a problem, or a problem that nothing names."""
    assert find_solution(text) is None


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    """And what is found fits the bounds and names something."""
    found = find_solution(text)
    assert found is None or (0 < len(found.trigger) <= 166 and 0 < len(found.response) <= 300)


@pytest.mark.parametrize(
    "piece", ["error spent on ", " ", "and ", "fixed. ", "error fixed; ", "\n", "— ", "fixed error "]
)
def test_a_bounded_part_of_a_long_text_is_read(piece: str) -> None:
    """Two hundred thousand letters are no more than the first few thousand, however they repeat themselves."""
    text = piece * (200_000 // len(piece))
    assert find_solution(text) is None
    assert_bounded(find_solution, text)


def test_two_texts_must_be_about_the_same() -> None:
    """A solution of something else is none."""
    assert combine_texts("The n8n webhook fails with 401", "Solved the n8n webhook with query params") is not None
    assert combine_texts("The n8n webhook fails with 401", "Solved the printer by a new driver") is None


def test_a_trigger_names_what_failed() -> None:
    """A failure alone is in every message."""
    assert trigger_of("error again") == ""
    assert len(keywords(trigger_of("n8n webhook"))) == 3


def test_a_wording_must_keep_to_what_was_told() -> None:
    """Somebody else's words for it are taken where they are the entry's own."""
    told = "The S3 upload failed with 403; fixed by the bucket policy"
    assert is_grounded("S3 uploads 403 error", told)
    assert not is_grounded("call Bob at the data centre", told)
