"""Grade a reply by its text: too short, hedging, repeating itself, or without a word of the memories shown."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives, word_set
from kenobot.language.words import fold, stems
from kenobot.ports.turns import GradeSignal, Quality, ReplyGrade

# Where a signal begins, and what it costs.
_MAX_REPLY_CHARS = 20_000  # the beginning of longer replies is graded
_LONG_QUESTION_CHARS = 100
_SHORT_ANSWER_BELOW = 50  # characters
_EXCESSIVE_HEDGES_FROM = 3
_MAX_WORDS_PER_HEDGE = 40  # many hedges spread thinner are a careful text, not an unsure one
_CONTENT_WORD_MIN_CHARS = 4
_WINDOW_WORDS = 20  # content words among which repeated ones are counted
_MIN_WINDOW_WORDS = 8
_REPEATED_WORDS_FROM = 0.35
_MIN_SENTENCES = 3
_REPEATED_SENTENCES_FROM = 0.3
_GOOD_FROM = 0.7
_FAIR_FROM = 0.5
_COST_TOO_SHORT = 0.6
_COST_SHORTER = 0.2
_COST_EXCESSIVE_HEDGING = 0.3
_COST_MILD_HEDGING = 0.1
_COST_REPETITION = 0.2

_WORD = lazy.regex(r"[^\W\d_]+")
_SENTENCE_END = lazy.regex(r"[.!?\n]+")
_HEDGE = lazy.regex(
    rf"\b(?:{alternatives('hedges')})\b|n't (?:\w{{1,10}} )?(?:sure|certain|confident)\b",
    re.IGNORECASE,
)
_FUNCTION_WORDS = word_set("unspoken_of_replies")


def grade_reply(reply: str, asked: str = "", shown: Sequence[str] = ()) -> ReplyGrade:
    """Grade `reply` as an answer to `asked`. shown: the memories in the prompt. Pure."""
    text = reply[:_MAX_REPLY_CHARS].strip()
    words = _content_words(text)
    signals: list[GradeSignal] = []
    score = 1.0
    if not text:
        signals.append("response_too_short")
        score -= _COST_TOO_SHORT
    else:
        if len(text) < _SHORT_ANSWER_BELOW and len(asked.strip()) >= _LONG_QUESTION_CHARS:
            signals.append("response_shorter_than_expected")
            score -= _COST_SHORTER
        hedging = _hedging(text)
        if hedging is not None:
            signals.append(hedging)
            score -= _COST_EXCESSIVE_HEDGING if hedging == "excessive_hedging" else _COST_MILD_HEDGING
        if _repeats(text, words):
            signals.append("high_repetition")
            score -= _COST_REPETITION
    if _is_unused(words if len(reply) <= _MAX_REPLY_CHARS else _content_words(reply), shown):
        signals.append("unused_memory")
    score = round(max(score, 0.0), 2)
    quality: Quality = "good" if score >= _GOOD_FROM else "fair" if score >= _FAIR_FROM else "poor"
    return ReplyGrade(quality, score, tuple(signals))


def _hedging(text: str) -> Literal["excessive_hedging", "mild_hedging"] | None:
    hedges = sum(1 for _ in _HEDGE.finditer(text))
    if not hedges:
        return None
    words = sum(1 for _ in _WORD.finditer(text))
    excessive = hedges >= _EXCESSIVE_HEDGES_FROM and words <= hedges * _MAX_WORDS_PER_HEDGE
    return "excessive_hedging" if excessive else "mild_hedging"


def _repeats(text: str, words: Sequence[str]) -> bool:
    windows = [words[start : start + _WINDOW_WORDS] for start in range(0, len(words), _WINDOW_WORDS)]
    shares = [_measure_repeats(window) for window in windows if len(window) >= _MIN_WINDOW_WORDS]
    if shares and sum(shares) / len(shares) >= _REPEATED_WORDS_FROM:
        return True
    sentences = [plain for part in _SENTENCE_END.split(text.casefold()) if (plain := part.strip())]
    return len(sentences) >= _MIN_SENTENCES and _measure_repeats(sentences) >= _REPEATED_SENTENCES_FROM


def _measure_repeats(items: Sequence[str]) -> float:
    return 1 - len(set(items)) / len(items)


def _is_unused(words: Sequence[str], shown: Iterable[str]) -> bool:
    """Tell whether no content word of the reply stands in a memory, in this form or another."""
    said = frozenset(stem for word in set(words) for stem in stems(fold(word)))
    remembered = False
    for text in shown:
        found = _stems_of_lines(text)
        if not said.isdisjoint(found):
            return False
        remembered = remembered or bool(found)
    return remembered


@lru_cache(maxsize=64)  # what a prompt begins with is the same turn after turn
def _stems_of_lines(text: str) -> frozenset[str]:
    return frozenset().union(*map(_content_stems, text.split("\n")))


@lru_cache(maxsize=2048)
def _content_stems(line: str) -> frozenset[str]:
    """Return the stems of the content words of a line of memory, once for one that is shown turn after turn."""
    return frozenset(stem for word in _content_words(line) for stem in stems(fold(word)))


def _content_words(text: str) -> list[str]:
    return [word for word in map(str.casefold, _WORD.findall(text)) if _is_content_word(word)]


def _is_content_word(word: str) -> bool:
    return len(word) >= _CONTENT_WORD_MIN_CHARS and word not in _FUNCTION_WORDS
