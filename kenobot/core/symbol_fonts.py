"""Read letters of symbol fonts, such as Wingdings, as the signs that are seen. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_PRIVATE: Final = range(0xE000, 0xF900)
_SYMBOL: Final = range(0xF020, 0xF100)  # where Windows puts the letters of a symbol font
_UNKNOWN: Final = "•"


def _table(begin: int, signs: str, **others: str) -> Mapping[int, str]:
    """Return signs by their codes. signs: one for each code from `begin` on, a blank for none. others: x and a code."""
    found = {begin + at: sign for at, sign in enumerate(signs) if sign != " "}
    return MappingProxyType(found | {int(code[1:], 16): sign for code, sign in others.items()})


_WINGDINGS: Final = _table(
    0x20,
    "  ✂✁  📖 ☎✆✉     📁📂📄   ⌛     💾 ✇✍✍✌👌👍👎☜☞☝☟✋☺😐☹💣☠🏳⚑✈☼💧❄✝✞✝✠✡☪☯ॐ☸"
    "♈♉♊♋♌♍♎♏♐♑♒♓&&●○■☐☐❑❒◆◆◆❖◆☒⌂⌘✿✿“” "
    "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿        ·•▪○⭕○◉◎ ▪☐ ✦★✶✴✹✵ ✧     🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛",
    xD5="⌫", xD6="⌦", xD8="➢", xDC="➲", xDF="←", xE0="→", xE1="↑", xE2="↓", xE3="↖", xE4="↗", xE5="↙", xE6="↘",
    xE7="←", xE8="→", xE9="↑", xEA="↓", xEB="↖", xEC="↗", xED="↙", xEE="↘", xEF="⇦", xF0="⇨", xF1="⇧", xF2="⇩",
    xF3="⬄", xF4="⇳", xFB="✗", xFC="✓", xFD="☒", xFE="☑",
)  # fmt: skip
_WINGDINGS_2: Final = _table(
    0x4F, "✗✓☒☑☒☒⊗⊗", x2A="☐", xA3="☐", x69="⓪", x6A="①", x6B="②", x6C="③", x6D="④", x6E="⑤", x6F="⑥", x70="⑦", x71="⑧",
    x72="⑨", x73="⑩", x95="•", x96="•", x97="●", x98="●", x9E="•", x9F="•", xA0="■", xA1="■", xA2="☐",
)  # fmt: skip
_WINGDINGS_3: Final = _table(0x66, "←→↑↓↖↗↙↘↔↕", x70="▲", x71="▼", x72="△", x73="▽", x74="◀", x75="▶", x7D="▶", x84="▶")
_WEBDINGS: Final = _table(
    0x33, "◀▶▲▼⏪⏩⏮⏭⏸⏹⏺", x48="⌂", x59="♥", x61="✓", x63="☐", x67="■", x69="ℹ", x6E="●", x72="✗", x73="?", x76="☂",
    x7E="⚠", x80="⚑", x99="✉", x9B="✉", xC8="☎", xC9="☎", xE8="♿",
)  # fmt: skip
_GREEK: Final = _table(
    0x20,
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ "
    "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼                                 €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|―↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑((([[[{{{| ⟩∫∫∫∫)))]]]}}}",
)
_DINGBATS: Final = _table(
    0x21, "".join(map(chr, range(0x2701, 0x275F))),
    x25="☎", x2A="☛", x2B="☞", x48="★", x6C="●", x6E="■", x73="▲", x74="▼", x75="◆", x77="◗", xAC="①", xD4="→",
)  # fmt: skip
_FONTS: Final[Mapping[str, Mapping[int, str]]] = {  # the longer names first
    "wingdings2": _WINGDINGS_2, "wingdings3": _WINGDINGS_3, "wingdings": _WINGDINGS, "webdings": _WEBDINGS,
    "symbol": _GREEK, "standardsymbol": _GREEK, "zapfdingbats": _DINGBATS, "itczapfdingbats": _DINGBATS,
}  # fmt: skip
_USUAL: Final = {
    code: _WINGDINGS[code] for code in (0x6C, 0x6E, 0x6F, 0x71, 0xA7, 0xA8, 0xD8, 0xE0, 0xFB, 0xFC, 0xFD, 0xFE)
}
_USUAL_SIGNS: Final = MappingProxyType(_USUAL | {0xB7: "•", 0x52: "☑", 0xAE: "→"})


def is_symbol_font(font: str) -> bool:
    """Return whether the letters of a font are signs that are known."""
    return _find_signs(font) is not None


def read_symbols(text: str, font: str = "", *, is_plain: bool = False) -> str:
    """Return a text with the signs of a symbol font in place of its letters, and without private letters.

    is_plain: the letters below the private ones are what they are.
    """
    table = _find_signs(font) if font else None
    if (table is None or is_plain) and not any(ord(each) in _PRIVATE for each in text):
        return text
    return "".join(_read(each, table, is_plain=is_plain) for each in text)


def _find_signs(font: str) -> Mapping[int, str] | None:
    """Return the signs of a font by their codes. font: its name, also as in a PDF that holds a part of it."""
    name = "".join(each for each in font.rpartition("+")[2].casefold() if each.isalnum())
    return next((signs for begin, signs in _FONTS.items() if name.startswith(begin)), None)


def _read(letter: str, table: Mapping[int, str] | None, *, is_plain: bool) -> str:
    code = ord(letter)
    if code in _PRIVATE:
        low = code & 0xFF if code in _SYMBOL else 0
        return _USUAL_SIGNS.get(low, "") if table is None else table.get(low, "" if low <= 0x20 else _UNKNOWN)
    if table is None or is_plain or letter.isspace():
        return letter
    raw = letter.encode("cp1252", "ignore")
    return table.get(raw[0], _UNKNOWN) if raw else letter
