"""Attribute a memory's words to the speaker or to others, so that their words do not become the speaker's.

A memory is another's when more of its words come from their texts alone than from the speaker's; when the speaker only
agreed ("yes, do that") or quoted, and neither the speaker nor the model said any of it; and when others spoke, and less
than a quarter of its words are the speaker's or of an answer to them, though they speak its language or only asked:
others' texts can be decoded, translated or reworded. Words are compared by their beginnings, without case, accents and
function words; in scripts without blanks, by pairs of letters.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from kenobot.core import lazy
from kenobot.core.attachment_words import without_attachments
from kenobot.core.sized_cache import SizedCache
from kenobot.language.lexicon import UNSPOKEN
from kenobot.language.pasted import split_pasted
from kenobot.language.words import detect_language
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import LEAST_TRUSTED_FIRST, Trust, trust_rank
from kenobot.ports.memory import Candidate

_WORD = lazy.regex(r"\w+")
# Scripts that put no blanks between words: CJK, kana, Thai, Lao, Khmer, Burmese.
_UNSPACED = lazy.regex("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")
_LONGEST = 100_000
_SHORTEST_BEGINNING = 3
_ENDING = 3
_FEW = 1
_ASKS = lazy.regex(r"[?？؟;⁇]\s*\Z")
_SUPPORTED = 4  # one word in so many

_TAGS_BLOCK = range(0xE0020, 0xE007F)  # ASCII that models read and people do not see

_QUOTED_LINE = lazy.regex(r"^[ \t]{0,3}>[^\n]*+", re.MULTILINE)
_FENCE = r"[ \t]{0,3}(?:```|~~~)[^\n]*+"
_FENCED = lazy.regex(rf"^{_FENCE}\n(?:(?!{_FENCE})[^\n]*+\n)*+(?:{_FENCE})?", re.MULTILINE)
_IN_MARKS = lazy.regex(r"«[^«»]*+»|“[^“”]*+”|\"[^\"]*+\"|「[^「」]*+」|『[^『』]*+』|„[^„“”]*+[“”]")
_PASSAGE = 60
_LONG = 500


@dataclass(frozen=True, slots=True)
class AttributedText:
    """A text and the trust of its author."""

    trust: Trust
    text: str


def split_quotes(text: str) -> tuple[str, list[str]]:
    """Split `text` into its sender's words and the passages of others: lines after `>`, fenced blocks, long
    quotations, and what was pasted.
    """
    rest, found = _splits.get(text, _split_quotes)
    return rest, list(found)


def _split_quotes(text: str) -> tuple[str, tuple[str, ...]]:
    text, pasted = split_pasted(text)
    found = [*pasted, *(match[0] for match in _FENCED.finditer(text))]
    rest = _FENCED.sub("\n", text)
    found += [match[0] for match in _QUOTED_LINE.finditer(rest)]
    rest = _QUOTED_LINE.sub("", rest)
    found += [match[0] for match in _IN_MARKS.finditer(rest) if len(match[0]) >= _PASSAGE]
    return _IN_MARKS.sub(lambda match: " " if len(match[0]) >= _PASSAGE else match[0], rest), tuple(found)


_Split = tuple[str, tuple[str, ...]]
_splits = SizedCache[str, _Split](256, 400_000, lambda split: sum(map(len, split[1]), len(split[0])))
"""Texts split lately: each rule about a turn asks for the same again."""


def find_quoted_passages(text: str) -> list[str]:
    """Find the passages of others in `text`."""
    return split_quotes(text)[1]


def without_quotes(text: str) -> str:
    """Remove the passages of others from `text`, and what stands for attachments."""
    return without_attachments(split_quotes(text)[0])


def is_long(text: str) -> bool:
    """Return whether `text` is longer than people type in a chat: part of it may be pasted."""
    return len(text) > _LONG


def content_words(text: str) -> frozenset[str]:
    """Split `text` into content words, folded for comparison."""
    plain = text[:_LONGEST]
    if not plain.isascii():
        plain = "".join(map(_letter, plain))
    plain = plain.casefold()
    found: set[str] = set()
    for run in _UNSPACED.findall(plain):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    found.update(word for word in _WORD.findall(_UNSPACED.sub(" ", plain)) if word not in UNSPOKEN)
    return frozenset(found)


@lru_cache(maxsize=4096)
def _letter(char: str) -> str:
    """Fold a character: no accents, and nothing for an invisible one."""
    if ord(char) in _TAGS_BLOCK:
        return chr(ord(char) - 0xE0000)
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if not unicodedata.combining(part) and unicodedata.category(part) != "Cf")


def _beginnings(word: str) -> Iterable[str]:
    """Shorten a word by its possible endings: "vive", "vivo" and "vivir" share "viv"."""
    if word[0].isdigit():
        return (word,)
    shortest = min(len(word), max(_SHORTEST_BEGINNING, len(word) - _ENDING))
    return (word[:end] for end in range(shortest, len(word) + 1))


class _WordIndex:
    """The beginnings of the words of some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._beginnings = {begin for text in texts for word in content_words(text) for begin in _beginnings(word)}

    def __contains__(self, word: str) -> bool:
        return any(begin in self._beginnings for begin in _beginnings(word))


@dataclass(frozen=True, slots=True)
class SpeechContext:
    """The texts of a turn and shortly before it.

    trust: of the speaker, who wrote message and earlier_messages. model_replies: to those. other_texts: the rest of
    the prompt, and the replies to it. has_quotes: whether the message quotes. others_spoke: whether the conversation
    shows others' words, and not memory alone.
    """

    trust: Trust
    message: str
    earlier_messages: tuple[str, ...] = ()
    model_replies: tuple[str, ...] = ()
    other_texts: tuple[AttributedText, ...] = ()
    has_quotes: bool = False
    others_spoke: bool = False


class Provenance:
    """Attributes memories within one context, whose texts are indexed once."""

    def __init__(self, context: SpeechContext) -> None:
        self._trust = context.trust
        lesser = [voice for voice in context.other_texts if trust_rank(voice.trust) < trust_rank(context.trust)]
        self._others = {
            trust: _WordIndex(voice.text for voice in lesser if voice.trust == trust)
            for trust in LEAST_TRUSTED_FIRST
            if any(voice.trust == trust for voice in lesser)
        }
        self._own = _WordIndex([context.message, *context.earlier_messages] if lesser else [])
        self._asked = _WordIndex(context.model_replies if lesser else [])
        self._others_spoke = context.others_spoke
        self._asks = _ASKS.search(context.message) is not None
        self._language = detect_language(context.message)
        self._leaning = context.has_quotes or len(content_words(context.message)) <= _FEW

    def lowest_trust(self, candidate: Candidate) -> Trust:
        """Lower the trust of `candidate` to that of the authors of its words."""
        return min(candidate.trust, self.trust_of(candidate.text), key=trust_rank)

    def trust_of(self, text: str) -> Trust:
        """Return the trust of the author of a memory's words."""
        if not self._others:
            return self._trust
        found = content_words(text)
        own = {word for word in found if word in self._own}
        alien = {trust: {word for word in found - own if word in heard} for trust, heard in self._others.items()}
        copied = set().union(*alien.values())
        answered = {word for word in found - copied - own if word in self._asked}
        unsupported = (self._leaning and not own and not answered) or (
            self._others_spoke and len(own | answered) * _SUPPORTED < len(found) and self._is_comparable(text)
        )
        if len(copied) > len(own) or unsupported:
            return max(alien, key=lambda trust: len(alien[trust]))
        return self._trust

    def _is_comparable(self, text: str) -> bool:
        """Return whether words of the speaker's are to be expected in a memory of what they said.

        Not after a statement in another language; a question states nothing.
        """
        return self._asks or (bool(self._language) and self._language == detect_language(text))
