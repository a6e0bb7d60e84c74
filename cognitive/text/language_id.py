"""Detect the language of a text by its letters and function words."""

import unicodedata
from collections import Counter
from functools import lru_cache

from kenobot.core.i18n import guess_language

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


def detect_language(text: str) -> str:
    """The language of `text` as a BCP 47 tag: es, en, or what its script says; "" when nothing does."""
    said = text[:_LOOKED_AT]
    counts = Counter(filter(None, map(_script, said)))
    if not counts:
        return ""
    if any(kana in counts for kana in ("HIRAGANA", "KATAKANA")):
        return "ja"
    script = counts.most_common(1)[0][0]
    if script != "LATIN":
        return _TAGS.get(script, "")
    found = guess_language(said, "en")
    return found if found == guess_language(said, "es") else ""


@lru_cache(4096)
def _script(char: str) -> str:
    """The script of a letter; "" of what is none."""
    return unicodedata.name(char, "").partition(" ")[0] if unicodedata.category(char)[0] == "L" else ""
