"""Close the ways out of a text: addresses that may carry something, and private words that the reader is to pass on."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from kenobot.agent.safety.plain_urls import PlainUrls, find_hidden_names
from kenobot.agent.safety.relay import PrivateWords, asks_to_pass_on
from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.urls import (
    SeenUrls,
    find_code_names,
    find_urls,
    host_and_path,
    is_picture,
    join_spaced,
    remove_urls,
)
from kenobot.core import lazy
from kenobot.language.provenance import content_words
from kenobot.postprocessors.code_ranges import code_ranges

# What may begin a link, or code, in which some addresses are none; also in wide letters.
_SIGN = lazy.regex(r"[\[`｀]|[~～]{3}")
_LINK = lazy.regex(r"!?\[[^\[\]\n]*\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|(?=[ ,;.!?)\n]))")
_FENCE = lazy.regex(r"```|[~～]{3}|｀")
_PARAGRAPH_END = lazy.regex(r"\n[ \t\r]*\n")
# Not a dot that is part of an address or a number, whatever blanks are around it.
_SENTENCE_END = lazy.regex(r"\n+|(?<=[^\W\d_])[.!?…]+[\"”»’')]*\s++(?![\[({@]|(?ai:at|arroba)\b)")
_CONTEXT = 20  # characters behind a number that may tell that it is a telephone's
_ENDS_TRIED = 50  # of sentences: behind more than that within one block of code, what was shown before stays
_WORD = lazy.regex(r"\w+")
_IN_A_ROW = 3  # words


class _Guard:
    """Judges what a reply may carry out of a turn that shows `shown`."""

    def __init__(self, shown: ShownTexts) -> None:
        self._shown = shown
        self._everything, self._others = tuple(shown.everything()), tuple(shown.others())
        self._known = SeenUrls(self._everything)
        self.private = PrivateWords(tuple(shown.private()), self._others, self._everything)

    def keeps(self, address: str) -> bool:
        """Return whether an address may be shown: one that stands in the prompt, or is plain."""
        return self._known(address) or self._plain(address)

    def is_telling(self, address: str) -> bool:
        """Return whether an address carries a private word that the speaker's message does not have."""
        return self._told.carries(_telling_part(address))

    def keeps_picture(self, address: str) -> bool:
        """Return whether a picture may be shown, which a client may fetch by itself."""
        return self._known(address)

    def find_hidden(self, text: str) -> list[tuple[int, int]]:
        """Find the words that hide private ones."""
        return list(self.private.find(text))

    def telling_names(self, text: str) -> list[tuple[int, int]]:
        """Find the names of programs that carry private words."""
        return find_hidden_names(text, find_code_names(text), self.private)

    @cached_property
    def _told(self) -> PrivateWords:
        replies = frozenset(self._shown.replies())
        told = [text for text in self._shown.private() if text not in replies]
        return PrivateWords(told, tuple(self._shown.own())[:1], ())

    @cached_property
    def _plain(self) -> PlainUrls:
        return PlainUrls(self._told, tuple(self._shown.own()))


def close_ways_out(texts: Sequence[str], shown: ShownTexts, mark: str) -> tuple[Sequence[str], list[str]]:
    """Return the texts with `mark` in the place of each way out, and what stood there."""
    is_asked = any(map(asks_to_pass_on, shown.others()))  # by the text itself: the reply need not say it again
    if not is_asked and not any(map(_may_lead_out, texts)):
        return texts, []
    guard = _Guard(shown)
    if shown.only_recalled and not _takes_something(texts, shown, guard, is_asked):
        return texts, []
    closed, held = zip(*(_close(text, guard, mark, is_asked) for text in texts), strict=True)
    return closed, [each for found in held for each in found]


def _may_lead_out(text: str) -> bool:
    return asks_to_pass_on(text) or bool(find_urls(text)) or any(find_code_names(text))


def _close(text: str, guard: _Guard, mark: str, is_asked: bool) -> tuple[str, list[str]]:
    closed, held = remove_urls(text, guard.keeps, mark, guard.keeps_picture)
    spans = guard.telling_names(closed)
    if is_asked or asks_to_pass_on(closed):
        spans += guard.find_hidden(closed)
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += closed[at:start], mark
            held.append(closed[start:end])
            at = end
    return "".join([*pieces, closed[at:]]), held


# ── what is recalled ─────────────────────────────────────────────────────────────────────────────────────────────


def _takes_something(texts: Sequence[str], shown: ShownTexts, guard: _Guard, is_asked: bool) -> bool:
    """Return whether a reply takes something of others' words that memory alone shows.

    That is three words in a row, or a part of an address that is not the speaker's. An address that carries a private
    word counts as taken too, and so do hidden private words where others' words ask for something to be passed on.
    """
    recalled, own = tuple(shown.recalled()), tuple(shown.own())
    if _share_a_row(texts, recalled, own) or (is_asked and any(map(guard.find_hidden, texts))):
        return True
    words = PrivateWords(recalled, own[:1], ())
    new = [url.text for text in texts for url in find_urls(text) if not guard.keeps(url.text)]
    return any(guard.is_telling(address) or words.carries(_telling_part(address)) for address in new)


def _telling_part(address: str) -> str:
    """Return an address without what most of them have: the scheme and the ending of its host."""
    address = join_spaced(address)
    found = host_and_path(address)
    return address if found is None else f"{found[0].rpartition('.')[0]} {found[1]}"


def _share_a_row(texts: Iterable[str], others: Iterable[str], own: Iterable[str]) -> bool:
    theirs = {row for text in others for row in _rows(text)} - {row for text in own for row in _rows(text)}
    return any(row in theirs for text in texts for row in _rows(text))


def _rows(text: str) -> Iterable[tuple[str, ...]]:
    words = [word for word in _WORD.findall(text.casefold()) if content_words(word)]
    return zip(*(words[start:] for start in range(_IN_A_ROW)), strict=False)


# ── while it is written ──────────────────────────────────────────────────────────────────────────────────────────


class OpenSentences:
    """Closes the ways out of a reply that is still being written, in as much of it as can be shown.

    It is shown by sentences, each once the next has begun, because an address may begin in words that look harmless,
    and none that ends within a link or code that is open. It ends before a word that the rest may have closed.
    """

    def __init__(self, shown: ShownTexts, mark: str) -> None:
        self._guard = _Guard(shown)
        self._mark = mark
        self._is_asked = any(map(asks_to_pass_on, shown.others()))
        self._waits = shown.only_recalled  # the rest decides whether it is closed at all

    def close(self, text: str) -> str:
        """Return what can be shown of a reply that begins with `text`."""
        beginning = text[: self._measure_settled(text)]
        return _close(beginning, self._guard, self._mark, self._is_asked)[0]

    def _measure_settled(self, text: str) -> int:
        doubted = min(self._doubts(text), default=len(text))
        ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, doubted)]
        found = find_urls(text)

        def is_settled(end: int) -> bool:
            before = [url for url in found if url.start < end]
            return end + _CONTEXT <= len(text) and _is_closed(text[:end]) and find_urls(text[:end]) == before

        return next(filter(is_settled, reversed(ends[-_ENDS_TRIED:])), 0)

    def _doubts(self, text: str) -> Iterable[int]:
        guard = self._guard
        held = [url for url in find_urls(text) if not guard.keeps(url.text) or is_picture(text, url.start)]
        if self._waits:
            yield from (url.start for url in held)
            yield from (start for start, _ in guard.telling_names(text))
        if self._waits or not self._is_asked:
            hidden = (start for start, _ in guard.find_hidden(text))
            yield from (at for at in hidden if not any(url.start <= at < url.end for url in held))


def _is_closed(beginning: str) -> bool:
    """Return whether no link or code is open at the end of `beginning`, whatever comes."""
    pieces: list[str] = []
    at = 0
    for start, end in code_ranges(beginning):
        pieces.append(beginning[at:start])
        at = end
    rest = "".join([*pieces, beginning[at:]])
    if _FENCE.search(rest):
        return False
    *_, paragraph = _PARAGRAPH_END.split(rest)
    return _SIGN.search(_LINK.sub("", paragraph)) is None
