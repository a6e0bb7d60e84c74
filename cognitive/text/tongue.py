"""Which language a text is in, as far as its letters and function words tell."""

import unicodedata
from collections import Counter

from kenobot.language import guess

_LOOKED_AT = 500  # characters
_TAGS = {
    "ARABIC": "und-Arab",
    "ARMENIAN": "hy",
    "BENGALI": "und-Beng",
    "CJK": "und-Hani",
    "CYRILLIC": "und-Cyrl",
    "DEVANAGARI": "und-Deva",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "THAI": "th",
}


def tongue(text: str) -> str:
    """The language of `text` as a BCP 47 tag: es, en, or what its script says; "" when nothing does."""
    counts = Counter(
        unicodedata.name(char, "").partition(" ")[0]
        for char in text[:_LOOKED_AT]
        if unicodedata.category(char)[0] == "L"
    )
    if not counts:
        return ""
    if any(kana in counts for kana in ("HIRAGANA", "KATAKANA")):
        return "ja"
    script = counts.most_common(1)[0][0]
    if script != "LATIN":
        return _TAGS.get(script, "")
    said = text[:_LOOKED_AT]
    return guess(said, "en") if guess(said, "en") == guess(said, "es") else ""
