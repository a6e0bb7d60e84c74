"""Split a text into words, folded and stemmed, in every script.

Letters of scripts without blanks, and of Korean, are split into pairs. Signs that carry meaning stay: C++ is not C,
and an emoji is a word.
"""

import re
import unicodedata
from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]

from kenobot.cognitive.text.scripts import MARKS, STANDALONE, UNSPACED, plain_letter, stem
from kenobot.cognitive.text.stopwords import NEGATIONS, STOPWORDS

# Letters with their marks and digits, joined by what belongs inside a word, and the signs that may end one.
_WORD = re.compile(rf"[^\W_](?:[\w{MARKS}]|['’.&/_-](?=[^\W_]))*(?:\+\+|[+#])?", re.UNICODE)
_PIECE = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:\+\+|[+#])?", re.UNICODE)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_STRETCH = re.compile(f"([{UNSPACED}]+)|[^{UNSPACED}]+")
_ALONE = re.compile(f"[{STANDALONE}]")
_SYMBOLS = frozenset({"So", "Sk"})
_WHOLE = STOPWORDS | NEGATIONS
_LONGEST = 64  # characters of one word; what is longer is no word
_END = 400  # characters
_SHORT = 2000  # characters of a text whose words are kept at hand


def fold(text: str) -> str:
    """`text` in NFKC and lower case, letters as people may leave them: see `scripts.plain_letter`."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if text.isascii():
        return text
    return "".join(map(plain_letter, text))


def head_and_tail(text: str) -> str:
    """The beginning and the end of a long text, a short one whole: people say what it is about at either end."""
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def words(text: str) -> list[str]:
    """Every word of `text`, folded, in order, repeats included."""
    return list(_known_words(text) if len(text) <= _SHORT else _words(text))


def _words(text: str) -> tuple[str, ...]:
    found: list[str] = []
    folded = fold(text)
    for match in _WORD.finditer(folded):
        word = match[0]
        if not word.isascii() and _UNSPACED.search(word):
            found.extend(_pairs(word))
        elif len(word) <= _LONGEST:
            found.append(word)
            if not word.isalnum() and word not in _WHOLE and len(pieces := _PIECE.findall(word)) > 1:
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
        if not keep_stops and word in STOPWORDS:
            continue
        found.extend(stems(word))
    return found


def stems(word: str) -> tuple[str, ...]:
    """The stems of a folded word, English first; one when both languages agree, or it is of another script."""
    if word.isascii() or _is_latin(word):
        return _stemmed(word) if word.isalpha() else (word,)
    return _stemmed_by_script(word)


@lru_cache(20_000)
def _stemmed(word: str) -> tuple[str, ...]:
    english, spanish = _STEMMERS["en"].stemWord(word), _STEMMERS["es"].stemWord(word)
    return (english,) if english == spanish else (english, spanish)


@lru_cache(20_000)
def _stemmed_by_script(word: str) -> tuple[str, ...]:
    return (stem(word),)


_STEMMERS = {"en": snowballstemmer.stemmer("english"), "es": snowballstemmer.stemmer("spanish")}


def standalone_letters(text: str) -> list[str]:
    """Every letter of `text` that may be a word by itself, each once: somebody may look for it alone."""
    return [] if text.isascii() else list(dict.fromkeys(_ALONE.findall(fold(text))))


def _is_latin(word: str) -> bool:
    return all(char.isascii() or _is_latin_letter(char) for char in word)


@lru_cache(4096)
def _is_latin_letter(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")


def _pairs(word: str) -> list[str]:
    """The letters of a word of an unspaced script in overlapping pairs, its other stretches whole."""
    found: list[str] = []
    for stretch in _STRETCH.finditer(word):
        said = stretch[0]
        if stretch[1] is None:
            found.append(said)
        else:
            found.extend(said[at : at + 2] for at in range(max(1, len(said) - 1)))
    return found
