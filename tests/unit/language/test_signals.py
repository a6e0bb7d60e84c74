"""How urgent something sounds: in both languages, within milliseconds, and by the owner's own signs."""

import pytest

from kenobot.core.pattern_set import PatternSet
from kenobot.language.signals import signal_level
from tests.cases import each
from tests.cost import assert_bounded


@each(
    ("level", "text"),
    [
        ("high", "I prefer tabs over spaces"),
        ("high", "prefiero tabs siempre"),
        ("high", "PREFIERO EL CAFÉ SOLO"),
        ("high", "I don’t eat meat"),
        ("high", "That's not right."),
        ("high", "Eso no es así, te equivocas"),
        ("high", "Ya no vivo en Lyon"),
        ("high", "hemos decidido usar Postgres"),
        ("high", "De ahora en adelante, en español"),
        ("high", "Me llamo Ana"),
        ("high", "Mi cumpleaños es el 3 de mayo"),
        ("high", "acuérdate de comprar pan"),
        ("high", "a partir de mañana, sin azúcar"),
        ("medium", "I usually have lunch at two"),
        ("medium", "los miércoles suelo ir a nadar"),
        ("medium", "cada año vamos a la playa"),
        ("low", "I want a sandwich recipe"),
        ("low", "quiero una receta"),
        ("none", "ok"),
        ("none", "¿qué hora es?"),
        ("none", "What is the capital of France?"),
        ("none", ""),
    ],
)
def test_levels(level: str, text: str) -> None:
    """Corrections, likings, decisions, who somebody is, what they want remembered is urgent; small talk is not."""
    assert signal_level(text) == level


@pytest.mark.parametrize(
    "text",
    [
        "a " * 500_000,
        "actually " * 120_000,
        "no, " * 250_000,
        "my " * 333_000,
        "ﷺ" * 1_000_000,
        "".join(map(chr, range(0x100, 0xD000))) * 20,
        "yo siempre " * 90_000,
        "\n" * 1_000_000,
    ],
)
def test_a_bounded_part_of_a_megabyte_is_read(text: str) -> None:
    """However long a text is, and whatever it is made of."""
    patterns = PatternSet(["(a+)+$", r"(\w+\s*)+z"])
    assert_bounded(lambda part: signal_level(part, patterns), text)


def test_the_end_of_a_long_text_counts_too() -> None:
    """Who pastes a document says what they want before it or after it."""
    document = "the quick brown fox " * 2000
    assert signal_level(f"{document}\n\nrecuerda que esto es de Ana") == "high"
    assert signal_level(f"Remember this for me: {document}") == "high"


def test_an_owners_pattern_makes_it_high() -> None:
    """What the owner calls important is, in any language."""
    patterns = PatternSet([r"bitte\s+merken"])
    assert signal_level("Bitte  merken: Tabs", patterns) == "high"
    assert signal_level("Bitte  merken: Tabs") == "none"
