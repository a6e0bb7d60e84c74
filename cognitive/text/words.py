"""The words of a text, for finding and comparing: folded, stemmed in Spanish and English, and in every script.

Scripts that put no blanks between words give their letters in pairs. Signs that carry meaning stay: C++ is not C,
C# neither, and an emoji is a word.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

import snowballstemmer  # type: ignore[import-untyped]

from kenobot.cognitive.text.stop import NEGATIONS, STOP

Tongue = Literal["en", "es"]

# Letters with their marks and digits, joined by what belongs inside a word, and the signs that may end one.
_WORD = re.compile(r"[^\W_](?:[\w\u0300-\u036f]|['’.&/_-](?=[^\W_]))*(?:\+\+|[+#])?", re.UNICODE)
_PIECE = re.compile(r"[^\W_][^\W_]*(?:\+\+|[+#])?", re.UNICODE)
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_SYMBOLS = frozenset({"So", "Sk"})
_WHOLE = STOP | NEGATIONS
_LONGEST = 64  # characters of one word; what is longer is no word
_SHORT = 2000  # characters of a text whose words are kept at hand


def fold(text: str) -> str:
    """`text` in NFKC and lower case, Latin letters without their accents; ñ is a letter of its own."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if text.isascii():
        return text
    return "".join(_bare(char) for char in text)


@lru_cache(4096)
def _bare(char: str) -> str:
    if char == "ñ" or not _is_latin_letter(char):
        return char
    return unicodedata.normalize("NFD", char)[0]


def words(text: str) -> list[str]:
    """Every word of `text`, folded, in order, repeats included."""
    return list(_known_words(text) if len(text) <= _SHORT else _words(text))


def _words(text: str) -> tuple[str, ...]:
    found: list[str] = []
    folded = fold(text)
    for match in _WORD.finditer(folded):
        word = match[0]
        if any(map(_is_unspaced, word)):
            found.extend(_pairs(word))
        elif len(word) <= _LONGEST:
            found.append(word)
            if word not in _WHOLE and len(pieces := _PIECE.findall(word)) > 1:
                found.extend(pieces)
    if not folded.isascii():
        found.extend(char for char in folded if unicodedata.category(char) in _SYMBOLS and char not in "`^´¨")
    return tuple(found)


@lru_cache(256)
def _known_words(text: str) -> tuple[str, ...]:
    """What is admitted is read by several rules, one after the other."""
    return _words(text)


def terms(text: str, *, keep_stops: bool = False) -> list[str]:
    """The words of `text` as the index knows them: stemmed, function words left out unless `keep_stops`.

    A word is stemmed by both languages, whatever the text is in: people mix them, and a short text does not say.
    """
    found: list[str] = []
    for word in words(text):
        if not keep_stops and word in STOP:
            continue
        found.extend(stems(word))
    return found


def stems(word: str) -> tuple[str, ...]:
    """The stems of a folded word, English first; one when both languages agree or it is of neither."""
    if not word.isalpha() or not (word.isascii() or _is_latin(word)):
        return (word,)
    return _stemmed(word)


@lru_cache(20_000)
def _stemmed(word: str) -> tuple[str, ...]:
    english, spanish = _STEMMERS["en"].stemWord(word), _STEMMERS["es"].stemWord(word)
    return (english,) if english == spanish else (english, spanish)


_STEMMERS = {"en": snowballstemmer.stemmer("english"), "es": snowballstemmer.stemmer("spanish")}


def _is_latin(word: str) -> bool:
    return all(char.isascii() or _is_latin_letter(char) for char in word)


@lru_cache(4096)
def _is_latin_letter(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")


def _is_unspaced(char: str) -> bool:
    return char > "\u0dff" and any(low <= ord(char) <= high for low, high in _UNSPACED)


def _pairs(word: str) -> list[str]:
    """The letters of a word of an unspaced script in overlapping pairs, its other stretches whole."""
    found: list[str] = []
    stretch = ""
    for char in [*word, ""]:
        if char and stretch and _is_unspaced(char) == _is_unspaced(stretch[-1]):
            stretch += char
            continue
        if stretch and _is_unspaced(stretch[-1]):
            found.extend(stretch[at : at + 2] for at in range(max(1, len(stretch) - 1)))
        elif stretch:
            found.append(stretch)
        stretch = char
    return found
