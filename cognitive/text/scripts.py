"""Handle differences between scripts: combining marks, scripts without blanks, and word stems."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]

MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0900-\u0963"
    "\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f18\u0f19\u0f35\u0f37\u0f39"
    "\u0f3e\u0f3f\u0f71-\u0f84\u0f86-\u0f97\u0f99-\u0fbc\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    "\u1067-\u106d\u1071-\u1074\u1082-\u108d\u135d-\u135f\u17b4-\u17d3\u18a9\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
"""The inside of a character class: what follows a letter as a part of it. Vowels are that in many scripts."""

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul: there are blanks, but particles cling to the words
)
"""The inside of a character class: letters of scripts in which blanks do not tell words apart."""

STANDALONE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3"
"""The same: letters that may be a whole word each, ideographs and Korean syllables."""

_LEAST = 2  # letters of a stem
_ARABIC_BEFORE = ("وال", "بال", "كال", "فال", "ال", "لل")
_ARABIC_BEHIND = ("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")
_ARABIC_ALIKE = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ـ": ""}


@lru_cache(4096)
def plain_letter(char: str) -> str:
    """A folded letter as people may leave it: Latin without accents, but for ñ, Arabic and Hebrew without points."""
    if char == "ñ":
        return char
    name = unicodedata.name(char, "")
    if name.startswith("LATIN"):
        return unicodedata.normalize("NFD", char)[0]
    if name.startswith(("ARABIC", "HEBREW")):
        return "" if unicodedata.category(char) == "Mn" else _ARABIC_ALIKE.get(char, char)
    return char


def stem(word: str) -> str:
    """The stem of a folded word, by the language that its script most likely is of; the word, where there is none."""
    name = _script(word[:1])
    reduce = _STEMMERS.get(name)
    return reduce(word) if reduce is not None else word


@lru_cache(4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char else ""


def _arabic(word: str) -> str:
    """After Larkey, Ballesteros and Connell's Light10 (2007): articles and conjunctions, then endings."""
    if word.startswith("و") and len(word) > _LEAST + 1 and word[1:3] != "ال":
        word = word[1:]
    for before in _ARABIC_BEFORE:
        if word.startswith(before) and len(word) - len(before) >= _LEAST:
            word = word[len(before) :]
            break
    if word.endswith("ا") and len(word) > _LEAST + 1:
        word = word[:-1]  # of the indefinite accusative
    for behind in _ARABIC_BEHIND:
        if word.endswith(behind) and len(word) - len(behind) >= _LEAST:
            return word[: -len(behind)]
    return word


_STEMMERS: dict[str, Callable[[str], str]] = {
    "ARABIC": _arabic,
    "CYRILLIC": snowballstemmer.stemmer("russian").stemWord,
    "DEVANAGARI": snowballstemmer.stemmer("hindi").stemWord,
    "GREEK": snowballstemmer.stemmer("greek").stemWord,
}
