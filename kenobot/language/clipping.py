"""Clip a long text around the words that matter."""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from kenobot.core import lazy
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.words import fold, search_stems, stems_taken_for, words

_SENTENCE_END = lazy.regex(r"[.!?…]\s+|\n+|[。！？؟।]\s*")
_LETTERS = lazy.regex(r"[^\W_]+")
_LONGEST = 8000  # characters of a turn in which its matches are looked for
_CUT = "[…] "
_HEAD = 2  # letters in which a word and its stem may differ at the end, and that they share at the least


def clip_around(text: str, matched: Collection[str], tokens: int) -> str:
    """Cut the beginning of a long text, so that the next `tokens` have most of `matched`, stems.

    The sentence before them is left: it says what they are about, and may be what tells that one is a secret.
    """
    if estimate_tokens(text) <= tokens or not matched:
        return text
    sentences = _sentences(text[:_LONGEST])
    wanted = set(matched)
    likely = _words_like(wanted)
    held = [wanted & {stem for word in likely(each) for stem in search_stems(word)} for each in sentences]
    sizes = [estimate_tokens(each) for each in sentences]
    best, most = 0, len(_stems_within(held, sizes, 0, tokens))
    for first in range(1, len(sentences)):
        if held[first] and (found := len(_stems_within(held, sizes, first - 1, tokens))) > most:
            best, most = first - 1, found
    if best == 0:
        return text
    return f"{_CUT}{' '.join(sentences[best:])}"


def _sentences(text: str) -> list[str]:
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    return [each for begin, end in pairwise(ends) if (each := text[begin:end].rstrip())]


def _words_like(wanted: Collection[str]) -> Callable[[str], list[str]]:
    """Find the words of a text that may have one of these stems: to split and stem all of a long text takes longer."""
    if not all(stem.isascii() and stem.isalnum() for stem in wanted):
        return words
    meant = {other for stem in wanted for other in stems_taken_for(stem)}
    heads = tuple({stem[: max(_HEAD, len(stem) - _HEAD)] for stem in meant})

    def find(text: str) -> list[str]:
        plain = fold(text)
        if not any(head in plain for head in heads):
            return []
        return [word for word in _LETTERS.findall(plain) if word.startswith(heads)]

    return find


def _stems_within(held: Sequence[set[str]], sizes: Sequence[int], first: int, tokens: int) -> set[str]:
    """Return the stems that the sentences from `first` on have within `tokens`."""
    found = set[str]()
    for at in range(first, len(held)):
        tokens -= sizes[at]
        if tokens < 0 and at > first:
            break
        found |= held[at]
    return found
