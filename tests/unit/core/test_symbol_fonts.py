"""Letters of symbol fonts are read as the signs that are seen."""

import pytest

from kenobot.core.symbol_fonts import read_symbols


@pytest.mark.parametrize(
    ("text", "font", "seen"),
    [
        ("ü û o x J l à", "Wingdings", "✓ ✗ ☐ ☒ ☺ ● →"),
        ("\uf0fc\uf0fe\uf0a8", "Wingdings", "✓☑☐"),
        ("P R £", "Wingdings 2", "✓ ☑ ☐"),
        ("a r i", "Webdings", "✓ ✗ ℹ"),
        ("abpW £ ¥ ·", "Symbol", "αβπΩ ≤ ∞ •"),
        ("4 8", "ITC Zapf Dingbats", "✔ ✘"),
        ("\uf0fc", "ABCDEF+Wingdings-Regular", "✓"),
        ("\uf0fc \uf0b7 \uf0e0", "", "✓ • →"),
        ("\ue123a\uf8ff", "Calibri", "a"),
        ("año ü", "Segoe UI Symbol", "año ü"),
        ("año ü", "", "año ü"),
        ("東", "Wingdings", "東"),
    ],
)
def test_signs_are_read(text: str, font: str, seen: str) -> None:
    """By the tables of the fonts of Windows, and private letters of other fonts as nothing."""
    assert read_symbols(text, font) == seen
