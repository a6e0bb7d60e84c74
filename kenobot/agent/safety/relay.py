"""Find what a reply tells a person to carry out of the chat: a word made of private words, to be pasted or sent.

People read what they pass on, so plain words stay. Found are words that hide what they say: private words joined to
others or to one another (`goya-7741`, `GOYAVAULT`), encoded ones (base64, hexadecimal, reversed, rot13), and long ones
that nobody can read.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Collection, Iterator
from urllib.parse import unquote

from kenobot.core import lazy
from kenobot.language.lexicon import load_phrases
from kenobot.language.provenance import content_words

Span = tuple[int, int]

_PASSING_ON = lazy.regex(
    rf"(?<!\w)(?:{load_phrases(__package__, 'relay.toml')['passing_on']})(?!\w)",
    re.IGNORECASE,
)
_TOKEN = lazy.regex(r"(?<![\w@])[\w%](?:[\w%+/._~=-]*[\w=])")
_CODED = lazy.regex(r"[\w%+-]{8,}={0,2}")
_PIECES = lazy.regex(r"[^\W\d_]+|[0-9]+")
_GROUPED = lazy.regex(r"(?<=[0-9])[.,' \u00a0](?=[0-9])")
_HEX = lazy.regex(r"(?:[0-9a-fA-F]{2}){4,}")
_BASE64 = lazy.regex(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_UNREADABLE = lazy.regex(r"(?=[^0-9]*[0-9])(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/=_-]{24,}|[0-9a-fA-F]{32,}")
_SHORTEST = 6
_LONGEST = 512
_LETTERS, _DIGITS = 4, 3
_MOST_PRIVATE_WORDS = 20_000
_HOLDING, _HELD = 7, 5  # letters of a word that may hold a private one, and of that


def asks_to_pass_on(text: str) -> bool:
    """Return whether `text` tells a person to paste, send, type or say something somewhere."""
    return _PASSING_ON.search(text) is not None


class PrivateWords:
    """The words that memory and history show, and neither the message nor others' texts do.

    shown: the texts of the prompt; a word that stands there hides nothing new.
    """

    def __init__(self, private: Collection[str], others: Collection[str], shown: Collection[str]) -> None:
        plain = {word for text in private for word in content_words(f"{text} {_GROUPED.sub('', text)}")}
        alien = {word for text in others for word in content_words(text)}
        words = sorted(word for word in plain - alien if _is_telling(word))
        self._words = frozenset(words[:_MOST_PRIVATE_WORDS])  # bounded: by the prompt; turn
        self._figures = tuple(word for word in self._words if word.isdigit())  # bounded: same; turn
        self._long = tuple(
            word for word in self._words if len(word) >= _HELD and not word.isdigit()
        )  # bounded: same; turn
        self._shown = "\n".join(shown).casefold()

    def find(self, text: str) -> Iterator[Span]:
        """Find the words of `text` that hide private ones."""
        for match in _TOKEN.finditer(text):
            token = match[0]
            if len(token) < _SHORTEST or token.casefold() in self._shown:
                continue
            if len(token) > _LONGEST or self._hides(token):
                yield match.span()

    def carries(self, text: str) -> bool:
        """Return whether a part of `text` is a private word, is made of such, holds one or hides one."""
        words = content_words(text.replace("_", " "))
        if any(map(self._carries, {*words, *_PIECES.findall(" ".join(words))})):
            return True
        return any(self._tells(reading) for token in _CODED.findall(text) for reading in _readings(token))

    def _carries(self, piece: str) -> bool:
        if piece in self._words or piece.removesuffix("s") in self._words or self._is_chain(piece):
            return True
        if piece.isdigit():
            return any(piece in word or word in piece for word in self._figures) if len(piece) >= _DIGITS else False
        holds = len(piece) > _HOLDING and any(word in piece for word in self._long)
        return holds or any(self._tells(reading) for reading in _readings(piece))

    def _hides(self, token: str) -> bool:
        return (
            _UNREADABLE.fullmatch(token) is not None
            or self._joins(token)
            or any(self._tells(reading) for reading in _readings(token))
        )

    def _joins(self, token: str) -> bool:
        pieces = [piece.casefold() for piece in _PIECES.findall(token)]
        if all(map(str.isdigit, pieces)):
            return False
        held = [piece for piece in pieces if piece in self._words]
        if any(map(self._is_chain, pieces)):
            return True
        return len(held) > 1 or (bool(held) and any(map(str.isdigit, pieces)))

    def _is_chain(self, word: str) -> bool:
        """Return whether `word` is nothing but private words, two or more."""
        reached = {0: 0}
        for end in range(1, len(word) + 1):
            for start, count in list(reached.items()):
                if word[start:end] in self._words:
                    reached[end] = max(reached.get(end, 0), count + 1)
        return reached.get(len(word), 0) > 1

    def _tells(self, reading: str) -> bool:
        return any(word in self._words for word in content_words(reading))


def _is_telling(word: str) -> bool:
    return len(word) >= (_DIGITS if word.isdigit() else _LETTERS)


def _readings(token: str) -> Iterator[str]:
    """Yield what `token` says when decoded, for each code that may be meant."""
    yield token[::-1]
    yield codecs.encode(token, "rot13")
    if "%" in token:
        yield unquote(token)
    if _HEX.fullmatch(token):
        yield bytes.fromhex(token).decode("utf-8", "replace")
    if _BASE64.fullmatch(token):
        try:
            padded = token.rstrip("=") + "=" * (-len(token.rstrip("=")) % 4)
            yield base64.b64decode(padded, altchars=b"-_" if {"-", "_"} & set(token) else None).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return
