"""Refusals of HTTP requests as problem documents."""

import pytest

from kenobot.ports.sentences import Language, Sentence
from kenobot_http.problems import choose_language, describe_problem


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "es"),
        ("en", "en"),
        ("es-ES,es;q=0.9,en;q=0.8", "es"),
        ("en;q=0.4, es;q=0.5", "es"),
        ("fr-FR, en-GB;q=0.7, *;q=0.1", "en"),
        ("fr, *;q=0.5", "es"),
        ("de", "es"),
        ("en;q=0", "es"),
        ("en;q=nonsense, ;;, =", "es"),
    ],
)
def test_the_language_of_a_refusal_is_the_one_that_is_liked_best(accepted: str, language: Language) -> None:
    """Of those that there are; the owner's where the header names none."""
    assert choose_language(accepted, "es") == language


def test_a_problem_has_the_same_key_and_values_in_every_language() -> None:
    """Its title and its detail are for people."""
    why = Sentence("api.not_corrected", reason=Sentence("reasons.looks_like", kind="password"))
    english, spanish = describe_problem(409, why, "en"), describe_problem(409, why, "es")
    assert english["detail"] == "not corrected: it looks like password"
    assert spanish["detail"] == "no se corrige: parece password"
    assert english["title"] != spanish["title"]
    assert english["type"] == spanish["type"] == "urn:kenobot:api.not_corrected"
    told = {"key": "reasons.looks_like", "values": {"kind": "password"}}
    assert english["values"] == spanish["values"] == {"reason": told}


def test_a_refusal_without_a_sentence_has_the_title_of_its_status() -> None:
    """Of statuses that nothing here answers, too."""
    assert describe_problem(404, "Not Found", "en") == {
        "type": "about:blank",
        "title": "not found",
        "status": 404,
        "detail": "not found",
        "error": "not found",
    }
    assert describe_problem(418, "", "es")["title"]
