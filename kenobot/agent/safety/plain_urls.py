"""Judge whether an address that the model put together is plain: a known site, and a short path in plain words.

It has no query, at most a figure and three words of its own, no word for a number and no private one, so it can carry
next to nothing. It is judged for turns in which nothing is fetched unless a person opens it.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from kenobot.agent.safety.hosts import FRONT_PAGES, PATH_WORDS, SITES, SUBDOMAINS
from kenobot.agent.safety.relay import PrivateWords
from kenobot.agent.safety.urls import find_urls, host_and_path
from kenobot.core import lazy
from kenobot.language.lexicon import load_tables
from kenobot.language.provenance import content_words, is_long
from kenobot.language.words import fold

_KNOWN = SITES | {page for page in FRONT_PAGES if "/" not in page}
_PATH = lazy.regex(r"(?:/[\w.+()-]*)*(?:#[\w.-]*)?\Z")
_PARTS = lazy.regex(r"[/#]")
_PIECES = lazy.regex(r"[\W_]+")
_HUMPS = lazy.regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WITH_FIGURES = lazy.regex(r"[^\W\d_]{0,8}[0-9]{1,2}[a-z]?|(?:19|20)[0-9]{2}")
_RUN = lazy.regex(r"[0-9]+(?:\.[0-9]+)*")
_VERSION = lazy.regex(r"(?<![\w.+-])[0-9]{1,2}(?:\.[0-9]{1,2}){1,2}(?![\w-])|(?<![\w.+-])(?:19|20)[0-9]{2}(?![\w-])")
_ROMAN = lazy.regex(r"[IVXLCDM]+")
_NUMBERS = load_tables(__package__, "figures.toml")["words"]
_NUMBER_WORD = "|".join(_NUMBERS["numbers"].split())
_NUMBER = lazy.regex(rf"(?:{_NUMBER_WORD})(?:(?:{'|'.join(_NUMBERS['joins'].split())})?(?:{_NUMBER_WORD}))*s?")
_SMALL = frozenset(_NUMBERS["small"].split())
_EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}
_VOWEL = lazy.regex(r"[aeiouy]")
_UNREADABLE = lazy.regex(r"[^aeiouy]{5}|[aeiou]{4}|(?<!s)q[^u]|(.)\1\1|[jqvwx][jqvwxz]|[bcdfgkmpt]q|[cfgkmt][jx]")
_LONGEST_PATH, _MOST_PARTS = 80, 8
_LONGEST_WORD, _LONGEST_INITIALS = 18, 5
_MOST_FIGURES, _MOST_OWN_FIGURES, _MOST_WORDS = 6, 1, 3


class PlainUrls:
    """Judges addresses.

    private: the words that none may carry. own: the speaker's messages, whose hosts are known; the words of the first,
    the one that is answered, may be said again.
    """

    def __init__(self, private: PrivateWords, own: Sequence[str]) -> None:
        self._private = private
        asked = content_words(own[0]) if own and not is_long(own[0]) else frozenset[str]()
        self._exempt = PATH_WORDS | {word for word in asked if not word.isdigit()}  # bounded: one message; turn
        self._versions = set(_VERSION.findall(own[0])) if asked else set[str]()  # bounded: one message; turn
        self._hosts = {  # bounded: the addresses in one prompt; turn
            found[0]
            for text in own
            if not is_long(text)
            for url in find_urls(text)
            if (found := host_and_path(url.text)) is not None
        }

    def __call__(self, address: str) -> bool:
        """Return whether `address` is plain."""
        found = host_and_path(address)
        if found is None:
            return False
        host, path = found
        return (host in self._hosts or _is_known(host)) and self._says_nothing(path)

    def _says_nothing(self, path: str) -> bool:
        parts = [part for part in _PARTS.split(path) if part]
        if _PATH.match(path) is None or len(path) > _LONGEST_PATH or len(parts) > _MOST_PARTS:
            return False
        pieces = [piece for part in parts for piece in _PIECES.split(part) if piece]
        telling = [piece for piece in pieces if piece.casefold() not in self._exempt]
        figures = "".join(sign for sign in path if sign.isdigit())
        if len(figures) > _MOST_FIGURES or self._count_figures(path, telling) > _MOST_OWN_FIGURES:
            return False
        if _count_words(telling) > _MOST_WORDS or any(map(_is_number, telling)) or not all(map(_is_readable, telling)):
            return False
        return not any(map(self._private.carries, [*telling, "".join(telling), figures]))

    def _count_figures(self, path: str, telling: Sequence[str]) -> int:
        """Count the figures of a path, Roman ones too, but for the years and versions of the question."""
        own: list[str] = [run for run in _RUN.findall(path) if run not in self._versions]
        roman = sum(_ROMAN.fullmatch(piece) is not None for piece in telling)
        return roman + sum(sign.isdigit() for run in own for sign in run)


def _count_words(pieces: Iterable[str]) -> int:
    """Count the words that `pieces` are made of, each once; small ones have no weight."""
    words = {word.casefold() for piece in pieces for word in (_HUMPS.findall(piece) if piece.isascii() else [piece])}
    return len(words - _SMALL)


def _is_number(piece: str) -> bool:
    """Return whether a word, or a part of one in capitals and small letters, is a number's."""
    return any(_NUMBER.fullmatch(fold(word)) for word in [piece, *_HUMPS.findall(piece)])


def _mixes_scripts(word: str) -> bool:
    scripts = {unicodedata.name(sign, "?").split()[0] for sign in word if sign.isalpha()}
    return len(scripts) > 1 and not scripts <= _EAST_ASIAN


def _is_known(host: str) -> bool:
    """Return whether many people know a site; a name in front of it has to be one that says nothing."""
    front, _, rest = host.partition(".")
    return host in _KNOWN or (front in SUBDOMAINS and rest in _KNOWN)


def _is_readable(piece: str) -> bool:
    """Return whether a part of a path reads like a word, a version or a year, and not like a code."""
    if _WITH_FIGURES.fullmatch(piece):
        return True
    if not piece.isalpha() or len(piece) > _LONGEST_WORD:
        return False
    if not piece.isascii():
        return not _mixes_scripts(piece)
    humps = _HUMPS.findall(piece)
    return len(humps) <= _LONGEST_INITIALS - 1 and all(map(_is_word, humps))


def _is_word(hump: str) -> bool:
    if hump.isupper():
        return len(hump) <= _LONGEST_INITIALS
    word = hump.casefold()
    return len(word) <= 3 or (_VOWEL.search(word) is not None and _UNREADABLE.search(word) is None)


def find_hidden_names(text: str, spans: Iterable[tuple[int, int]], private: PrivateWords) -> list[tuple[int, int]]:
    """Return those of `spans` whose names carry private words."""
    return [(start, end) for start, end in spans if private.carries(text[start:end])]
