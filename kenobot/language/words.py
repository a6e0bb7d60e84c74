"""Split a text into words, folded and stemmed, in every script, and tell its language by them.

Letters of scripts without blanks, and of Korean, are split into pairs. Signs that carry meaning stay: C++ is not C,
and an emoji is a word.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]

from kenobot.core import lazy
from kenobot.core.i18n import find_language
from kenobot.language.lexicon import NEGATIONS, STOPWORDS, word_rows

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

# Letters with their marks and digits, joined by what belongs inside a word, and the signs that may end one.
_WORD = lazy.regex(rf"[^\W_](?:[\w{MARKS}]|['’.&/_-](?=[^\W_]))*(?:\+\+|[+#])?", re.UNICODE)
_PIECE = lazy.regex(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:\+\+|[+#])?", re.UNICODE)
_UNSPACED = lazy.regex(f"[{UNSPACED}]")
_STRETCH = lazy.regex(f"([{UNSPACED}]+)|[^{UNSPACED}]+")
_ALONE = lazy.regex(f"[{STANDALONE}]")
_ASCII_LETTER = lazy.regex("[A-Za-z]")
_SYMBOLS = frozenset({"So", "Sk"})
_WHOLE = STOPWORDS | NEGATIONS
_LONGEST = 64  # characters of one word; what is longer is no word
_LANGUAGE_CHARS = 500  # of a text that tell its language
_END = 400  # characters
_SHORT = 2000  # characters of a text whose words are kept at hand
_SHORTEST_STEM = 2  # letters
_ARABIC_BEFORE = ("وال", "بال", "كال", "فال", "ال", "لل")
_ARABIC_BEHIND = ("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")
_ARABIC_ALIKE = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ـ": ""}
_LANGUAGES = {row.split()[0]: row.split()[1] for row in word_rows("script_languages")}


def fold(text: str) -> str:
    """Fold to NFKC and lower case, and letters by `_plain_letter`."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if text.isascii():
        return text
    for char in set(text):
        if not char.isascii() and (plain := _plain_letter(char)) != char:
            text = text.replace(char, plain)
    return text


def head_and_tail(text: str) -> str:
    """Clip a long text to its beginning and end, where people say what it is about."""
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def words(text: str) -> list[str]:
    """Return every word of `text`, folded, in order, repeats included."""
    return list(_words(text) if len(text) <= _SHORT else _words.__wrapped__(text))


@lru_cache(256)  # several rules read one text
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
    if not folded.isascii() and (symbols := set(filter(_is_symbol, set(folded)))):
        found.extend(char for char in folded if char in symbols)
    return tuple(found)


def terms(text: str, *, keep_stops: bool = False) -> list[str]:
    """Return the words of `text` for the index.

    Stemmed in both languages, function words left out unless `keep_stops`.
    """
    return [stem for word in words(text) if keep_stops or word not in STOPWORDS for stem in stems(word)]


@lru_cache(20_000)
def stems(word: str) -> tuple[str, ...]:
    """Return the stems of a folded word, English first; one when both languages agree, or it is of another script."""
    if word.isascii() or _is_latin(word):
        return _stem(word) if word.isalpha() else (word,)
    return _stem_by_script(word)


def search_terms(text: str) -> list[str]:
    """Split `text` into the stems that a search compares, without function words."""
    return [stem for word in words(text) if word not in STOPWORDS for stem in search_stems(word)]


def search_stems(word: str) -> tuple[str, ...]:
    """Return the stems of a folded word, each replaced by the first of its row of words that a search takes for one."""
    return _unify(stems(word))


@lru_cache(20_000)
def _unify(found: tuple[str, ...]) -> tuple[str, ...]:
    by_stem = _stems_of_one_word()
    return tuple(dict.fromkeys(by_stem.get(stem, stem) for stem in found))


def stems_taken_for(stem: str) -> frozenset[str]:
    """Return the stems that `search_stems` replaces by this one, itself among them."""
    return _replace_stems().get(stem, frozenset((stem,)))


@lru_cache(1)
def _replace_stems() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}  # bounded: the rows of the lexicon; start
    for stem, first in _stems_of_one_word().items():
        found.setdefault(first, {first}).add(stem)
    return {first: frozenset(those) for first, those in found.items()}


@lru_cache(1)
def _stems_of_one_word() -> dict[str, str]:
    """Map the stem of each word that a search takes for another to that of the first of its row, by its language."""
    return {
        stem(word): stem(row.split()[0])
        for name, stem in (("same_es", _SPANISH), ("same_en", _ENGLISH))
        for row in word_rows(name)
        for word in row.split()
    }


def _stem(word: str) -> tuple[str, ...]:
    english, spanish = _ENGLISH(word), _SPANISH(word)
    return (english,) if english == spanish else (english, spanish)


def _stem_by_script(word: str) -> tuple[str, ...]:
    """Return the stem by the likeliest language of the word's script; the word, where there is none."""
    reduce = _STEMMERS.get(_script(word[:1]))
    return (reduce(word),) if reduce is not None else (word,)


def _is_symbol(char: str) -> bool:
    """Return whether a character is a word by itself, such as an emoji."""
    return unicodedata.category(char) in _SYMBOLS and char not in "`^´¨"


@lru_cache(4096)
def _plain_letter(char: str) -> str:
    """Strip what people may leave out of a folded letter: Latin accents but for ñ, Arabic and Hebrew points."""
    if char == "ñ":
        return char
    name = unicodedata.name(char, "")
    if name.startswith("LATIN"):
        return unicodedata.normalize("NFD", char)[0]
    if name.startswith(("ARABIC", "HEBREW")):
        return "" if unicodedata.category(char) == "Mn" else _ARABIC_ALIKE.get(char, char)
    return char


def standalone_letters(text: str) -> list[str]:
    """Return every letter of `text` that may be a word by itself, each once."""
    return [] if text.isascii() else list(dict.fromkeys(_ALONE.findall(fold(text))))


def _is_latin(word: str) -> bool:
    return all(char.isascii() or _script(char) == "LATIN" for char in word)


def _pairs(word: str) -> list[str]:
    """Split the unspaced stretches of a word into overlapping pairs of letters; others stay whole."""
    found: list[str] = []
    for match in _STRETCH.finditer(word):
        stretch = match[0]
        pairs = [stretch[at : at + 2] for at in range(max(1, len(stretch) - 1))]
        found += pairs if match[1] is not None else [stretch]
    return found


def detect_language(text: str) -> str:
    """Return the language of `text` as a BCP 47 tag: es, en, or what its script says; "" when nothing does."""
    said = text[:_LANGUAGE_CHARS]
    if said.isascii():
        return (find_language(said) or "") if _ASCII_LETTER.search(said) else ""
    counts = Counter(filter(None, (_script(char) for char in said if char.isalpha())))
    if not counts:
        return ""
    if "HIRAGANA" in counts or "KATAKANA" in counts:
        return "ja"
    script = counts.most_common(1)[0][0]
    if script != "LATIN":
        return _LANGUAGES.get(script, "")
    return find_language(said) or ""


@lru_cache(4096)
def _script(char: str) -> str:
    """Return the script of a letter, the first word of its Unicode name."""
    return unicodedata.name(char, "").partition(" ")[0] if char else ""


def _arabic(word: str) -> str:
    """Stem an Arabic word: articles and conjunctions, then endings (Light10: Larkey, Ballesteros, Connell, 2007)."""
    if word.startswith("و") and len(word) > _SHORTEST_STEM + 1 and word[1:3] != "ال":
        word = word[1:]
    for before in _ARABIC_BEFORE:
        if word.startswith(before) and len(word) - len(before) >= _SHORTEST_STEM:
            word = word[len(before) :]
            break
    if word.endswith("ا") and len(word) > _SHORTEST_STEM + 1:
        word = word[:-1]  # of the indefinite accusative
    for behind in _ARABIC_BEHIND:
        if word.endswith(behind) and len(word) - len(behind) >= _SHORTEST_STEM:
            return word[: -len(behind)]
    return word


_ENGLISH, _SPANISH = (snowballstemmer.stemmer(language).stemWord for language in ("english", "spanish"))
_STEMMERS: dict[str, Callable[[str], str]] = {
    "ARABIC": _arabic,
    "CYRILLIC": snowballstemmer.stemmer("russian").stemWord,
    "DEVANAGARI": snowballstemmer.stemmer("hindi").stemWord,
    "GREEK": snowballstemmer.stemmer("greek").stemWord,
}
