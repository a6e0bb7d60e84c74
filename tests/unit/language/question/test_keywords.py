"""Keywords explain: which words of a message a memory holds, in every script, and how well they were met."""

import pytest

from kenobot.language.question.keywords import extract_keywords, grade_keywords, score_keywords


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Should we write it in Go or C#?", ["write", "go", "c#"]),
        ("AI and CI on my PC", ["ai", "ci", "pc"]),
        ("Ask IT whether it is up", ["ask", "it", "whether"]),
        ("¿Cómo arreglo el webhook de n8n en Kubernetes?", ["arreglo", "webhook", "n8n", "kubernetes"]),
        ("где мой паспорт", ["где", "мой", "паспорт"]),
        ("أين جواز السفر", ["أين", "جواز", "السفر"]),
        ("护照在哪里", ["护照", "照在", "在哪", "哪里"]),
        ("it is to be", []),
    ],
)
def test_a_message_keeps_the_words_it_asks_with(message: str, found: list[str]) -> None:
    """Short terms and every script survive, function words do not."""
    assert extract_keywords(message) == found


def test_a_word_counts_three_and_the_beginning_of_one_counts_one() -> None:
    """Whatever the case and the accents; signs belong to the word, and what stands within one is no keyword."""
    assert score_keywords(["autenticacion", "webhook", "hook"], "Webhooks: AUTENTICACIÓN lista").score == 3 + 1
    assert score_keywords(["tea"], "Postgres instead of MySQL").matched == ()
    assert score_keywords(["c#"], "C# and C++").matched == ("c#",)
    assert score_keywords(["c++"], "only C here").score == 0
    assert score_keywords(["护照"], "护照在抽屉里").score == 3
    assert score_keywords(["", "x"], "x y").matched == ("x",)


def test_a_grade_weighs_what_was_found() -> None:
    """Episodes count half, and what has no points does not pull the rest down."""
    assert grade_keywords({}).level == "none"
    assert grade_keywords({"facts": [1.0]}).level == "low"
    assert grade_keywords({"facts": [3.0], "procedures": [4.0], "episodes": [2.0]}).score == 3.2
    assert grade_keywords({"episodes": [6.0], "facts": [0.0]}).level == "high"
