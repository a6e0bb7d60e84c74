"""Judge whether an address that the model put together is plain: a known site, and a short path in plain words.

It has no query, hardly a figure and no private word, so it can carry next to nothing. It is judged for turns in which
nothing is fetched unless a person opens it.
"""

from collections.abc import Iterable, Sequence

from kenobot.agent.safety.hosts import FRONT_PAGES, PATH_WORDS, SITES, SUBDOMAINS
from kenobot.agent.safety.relay import PrivateWords
from kenobot.agent.safety.urls import find_urls, host_and_path
from kenobot.cognitive.text.provenance import content_words, is_long
from kenobot.core import lazy

_KNOWN = SITES | {page for page in FRONT_PAGES if "/" not in page}
_PATH = lazy.regex(r"(?:/[\w.+()-]*)*(?:#[\w.-]*)?\Z")
_PARTS = lazy.regex(r"[/#]")
_PIECES = lazy.regex(r"[\W_]+")
_HUMPS = lazy.regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WITH_FIGURES = lazy.regex(r"[^\W\d_]{0,8}[0-9]{1,2}[a-z]?|(?:19|20)[0-9]{2}")
_VOWEL = lazy.regex(r"[aeiouy]")
_UNREADABLE = lazy.regex(r"[^aeiouy]{5}|[aeiou]{4}|(?<!s)q[^u]|(.)\1\1|[jqvwx][jqvwxz]|[bcdfgkmpt]q|[cfgkmt][jx]")
_LONGEST_PATH, _MOST_PARTS = 80, 8
_LONGEST_WORD, _LONGEST_INITIALS = 18, 5
_MOST_FIGURES = 6


class PlainUrls:
    """Judges addresses.

    private: the words that none may carry. own: the speaker's messages, whose hosts are known; the words of the first,
    the one that is answered, may be said again.
    """

    def __init__(self, private: PrivateWords, own: Sequence[str]) -> None:
        self._private = private
        asked = content_words(own[0]) if own and not is_long(own[0]) else frozenset[str]()
        self._exempt = PATH_WORDS | {word for word in asked if not word.isdigit()}  # bounded: one message; turn
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
        if len(figures) > _MOST_FIGURES or not all(map(_is_readable, telling)):
            return False
        return not any(map(self._private.carries, [*telling, "".join(telling), figures]))


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
        return True
    humps = _HUMPS.findall(piece)
    return len(humps) <= _LONGEST_INITIALS - 1 and all(map(_is_word, humps))


def _is_word(hump: str) -> bool:
    if hump.isupper():
        return len(hump) <= _LONGEST_INITIALS
    word = hump.casefold()
    return len(word) <= 3 or (_VOWEL.search(word) is not None and _UNREADABLE.search(word) is None)


def hidden_names(text: str, spans: Iterable[tuple[int, int]], private: PrivateWords) -> list[tuple[int, int]]:
    """Return those of `spans` whose names carry private words."""
    return [(start, end) for start, end in spans if private.carries(text[start:end])]
