"""Find what a sentence must not lose: decisions, open items, names, numbers, dates.

Names are told by capital letters; numbers, dates in figures and questions work in every script.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple

from kenobot.core import lazy
from kenobot.language.dates import MONTHS, WEEKDAYS
from kenobot.language.lexicon import STOPWORDS, phrases
from kenobot.language.named_days import day_named
from kenobot.language.sentences import LONGEST, split_sentences
from kenobot.language.words import fold, stems, words

GapKind = Literal["decision", "open", "fact", "date", "number", "name"]

_MOST = 60  # sentences of a message


_DECISION = phrases("decision")
_OPEN = phrases("open")
_UNKNOWING = phrases("unknowing")
_ASKS = lazy.regex(r"[?？؟]\s*\W*$")
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = lazy.regex(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}|\d{{1,2}}(?:st|nd|rd|th)? (?:de |of )?(?:{_MONTH})"
    rf"(?: (?:de |del )?\d{{4}})?|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
)
_NUMBER = lazy.regex(r"(?<![\w.,])[$€£¥]?\d[\d.,:]*\d(?:\s?[%€$£¥°])?|(?<![\w.,])[$€£¥]?\d(?:\s?[%€$£¥°])?(?![\w.,:])")
_UNIT = lazy.regex(r"\s?([^\W\d_]{1,20})")
_WORD = lazy.regex(r"[^\W\d_][\w'’-]*")
_SIGN = lazy.regex(r"\W")
_DAYS = MONTHS.keys() | WEEKDAYS.keys()


def sentences(text: str) -> list[str]:
    """Return the sentences of a message, each in one line."""
    parts = (" ".join(part.split()) for part in split_sentences(text, clauses=False, most=_MOST))
    return [part for part in parts if any(map(str.isalnum, part))][:_MOST]


@lru_cache(1024)  # summarizing and its self-check read the same sentences, and both read the summary's lines again
def _fold_quotes(text: str) -> str:
    return fold(text).replace("’", "'")


@lru_cache(1024)
def is_decision(sentence: str) -> bool:
    """Return whether somebody settles something."""
    return _DECISION.search(_fold_quotes(sentence)) is not None


@lru_cache(1024)
def is_open(sentence: str) -> bool:
    """Return whether something is still to be done, known or decided."""
    return _OPEN.search(_fold_quotes(sentence)) is not None


def is_question(sentence: str) -> bool:
    """Return whether it is a question."""
    return _ASKS.search(sentence) is not None


def leaves_unanswered(answer: str) -> bool:
    """Return whether an answer leaves the question open."""
    return _UNKNOWING.search(_fold_quotes(answer[:LONGEST])) is not None


@lru_cache(1024)
def dates(sentence: str) -> tuple[str, ...]:
    """Return days that are named by figures or month."""
    return tuple(match[0] for match in _DATE.finditer(_fold_quotes(sentence)))


@lru_cache(1024)
def numbers(sentence: str) -> tuple[str, ...]:
    """Return numbers beside those of dates, each with the sign or the word after it: what is counted."""
    plain = _DATE.sub(" ", _fold_quotes(sentence))
    found = []
    for match in _NUMBER.finditer(plain):
        unit = _UNIT.match(plain, match.end())
        bare = match[0].strip()
        if unit is not None and unit[1] not in STOPWORDS:
            found.append(f"{bare} {unit[1]}")
        elif len(_SIGN.sub("", bare)) > 1 or not bare.isdecimal():
            found.append(bare)
    return tuple(found)


@lru_cache(1024)
def names(sentence: str) -> tuple[str, ...]:
    """Return words in capitals that do not begin the sentence, those that follow each other as one name."""
    found: list[list[str]] = []
    end = -1
    for at, match in enumerate(_WORD.finditer(sentence)):
        word = match[0]
        if not word[0].isupper() or len(word) == 1 or (folded := fold(word)) in STOPWORDS or folded in _DAYS:
            continue
        if found and match.start() == end + 1 and sentence[end] == " ":
            found[-1].append(word)
        elif at > 0 or _is_name_at_start(sentence, match.end()):
            found.append([word])
        else:
            continue
        end = match.end()
    return tuple(" ".join(parts[:4]) for parts in found)


def _is_name_at_start(sentence: str, end: int) -> bool:
    """Return whether a second capitalized word follows: "Marta Ruiz llega" as against "Mañana llega Marta"."""
    following = _WORD.match(sentence, end + 1)
    return following is not None and following[0][0].isupper() and fold(following[0]) not in STOPWORDS


class _StoredWords(NamedTuple):
    """A text that may hold an item. digits: of each number and date in it, without their signs."""

    folded: str
    stems: frozenset[str]
    digits: frozenset[str]


@lru_cache(512)
def _read_stored_words(text: str) -> _StoredWords:
    folded = fold(text)
    found = frozenset([stem for word in words(text) for stem in stems(word)])
    return _StoredWords(folded, found, frozenset([_SIGN.sub("", figure) for figure in _figures(folded)]))


class TextCoverage:
    """Looks up whether something stands in any of several texts."""

    def __init__(self, texts: Sequence[str], said: date, covered: float) -> None:
        """said: the day from which relative days are counted. covered: the share of a sentence's words that counts."""
        self._said = said
        self._covered = covered
        read = [_read_stored_words(text) for text in texts]
        self._texts = [each.folded for each in read]
        self._stems = [each.stems for each in read]
        self._digits = frozenset().union(*(each.digits for each in read))

    def __contains__(self, item: tuple[GapKind, str]) -> bool:
        kind, text = item
        if kind == "number":
            return any(_SIGN.sub("", figure) in self._digits for figure in _figures(fold(text)))
        if kind == "date":
            day = day_named(fold(text), self._said)
            iso = day.isoformat() if day is not None else ""
            return any(fold(text) in each or (iso and iso in each) for each in self._texts)
        wanted = {word for word in words(text) if word not in STOPWORDS} or set(words(text))
        pairs = [(stem, word) for word in wanted for stem in stems(word)]
        most = max([len({word for stem, word in pairs if stem in stands}) for stands in self._stems], default=0)
        if kind == "name":
            return bool(self._stems) and most == len(wanted)
        return not wanted or most / len(wanted) >= self._covered


def _figures(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        yield match[0]
    for match in _DATE.finditer(text):
        yield from re.findall(r"\d+", match[0])
