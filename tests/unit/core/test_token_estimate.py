"""How long a text is, and cutting it to a length."""

import pytest

from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens

_TEXTS = ["", "a", "hello world " * 50, "ñandú ¿qué? " * 50, "你好世界" * 100, "👩‍👩‍👧" * 30, "\ud83d" * 9, "\0\n" * 50]


def test_even_nothing_counts() -> None:
    """An estimate is never zero, and grows with the text."""
    assert estimate_tokens("") == 1
    assert estimate_tokens("a" * 7) == 3
    assert estimate_tokens("é" * 7) == 5


def test_the_estimate_errs_on_the_side_of_too_many() -> None:
    """English prose has about four characters a token."""
    assert estimate_tokens("The quick brown fox jumps over the lazy dog. " * 100) > 45 * 100 / 4


@pytest.mark.parametrize("text", _TEXTS)
def test_a_clipped_text_fits(text: str) -> None:
    """It is the beginning of the text, within the tokens, at every length."""
    for tokens in range(-1, 60):
        clipped = clip_to_tokens(text, tokens)
        assert text.startswith(clipped)
        assert estimate_tokens(clipped) <= max(1, tokens)


@pytest.mark.parametrize("text", _TEXTS)
def test_clipping_wastes_less_than_two_characters(text: str) -> None:
    """What fits stays, and what is cut is cut as late as can be."""
    assert clip_to_tokens(text, estimate_tokens(text) + 1) == text
    for tokens in range(2, 40):
        clipped = clip_to_tokens(text, tokens)
        if clipped != text:
            assert estimate_tokens(text[: len(clipped) + 2]) >= tokens


def test_clipping_cuts_between_characters() -> None:
    """No half characters come out."""
    for tokens in range(20):
        clip_to_tokens("ñ你👍" * 10, tokens).encode("utf-8")
