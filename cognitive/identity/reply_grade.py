"""Grade a reply by its text: too short, hedging, repeating itself, or without a word of the memories shown."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kenobot.cognitive.text.lexicon import alternatives, word_set

Quality = Literal["good", "fair", "poor"]
GradeSignal = Literal[
    "response_too_short",
    "response_shorter_than_expected",
    "excessive_hedging",
    "mild_hedging",
    "high_repetition",
    "unused_memory",
]


@dataclass(frozen=True, slots=True)
class GradeThresholds:
    """Where a signal begins and what it costs."""

    max_reply_chars: int = 20_000  # the beginning of longer replies is graded
    min_reply_chars: int = 1  # a chat answer can be one digit or one emoji
    long_question_chars: int = 100
    short_answer_below: int = 50  # characters
    excessive_hedges_from: int = 3
    max_words_per_hedge: int = 40  # many hedges spread thinner are a careful text, not an unsure one
    content_word_min_chars: int = 4
    window_words: int = 20  # content words among which repeated ones are counted
    min_window_words: int = 8
    repeated_words_from: float = 0.35
    min_sentences: int = 3
    repeated_sentences_from: float = 0.3
    good_from: float = 0.7
    fair_from: float = 0.5
    cost_too_short: float = 0.6
    cost_shorter: float = 0.2
    cost_excessive_hedging: float = 0.3
    cost_mild_hedging: float = 0.1
    cost_repetition: float = 0.2


@dataclass(frozen=True, slots=True)
class ReplyGrade:
    """A reply's score from 0 to 1, and the signals behind it."""

    quality: Quality
    score: float
    signals: tuple[GradeSignal, ...] = ()


THRESHOLDS = GradeThresholds()

_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?\n]+")
_HEDGE = re.compile(
    rf"\b(?:{alternatives('hedges')})\b|n't (?:\w{{1,10}} )?(?:sure|certain|confident)\b",
    re.IGNORECASE,
)
_FUNCTION_WORDS = word_set("unspoken_of_replies")


def grade_reply(
    reply: str, asked: str = "", shown: Sequence[str] = (), limits: GradeThresholds = THRESHOLDS
) -> ReplyGrade:
    """Grade `reply` as an answer to `asked`. shown: the memories in the prompt. Pure."""
    text = reply[: limits.max_reply_chars].strip()
    signals: list[GradeSignal] = []
    score = 1.0
    if len(text) < limits.min_reply_chars:
        signals.append("response_too_short")
        score -= limits.cost_too_short
    else:
        if len(text) < limits.short_answer_below and len(asked.strip()) >= limits.long_question_chars:
            signals.append("response_shorter_than_expected")
            score -= limits.cost_shorter
        hedging = _hedging(text, limits)
        if hedging is not None:
            signals.append(hedging)
            score -= limits.cost_excessive_hedging if hedging == "excessive_hedging" else limits.cost_mild_hedging
        if _repeats(text, limits):
            signals.append("high_repetition")
            score -= limits.cost_repetition
    if _unused(reply, shown, limits):
        signals.append("unused_memory")
    score = round(max(score, 0.0), 2)
    quality: Quality = "good" if score >= limits.good_from else "fair" if score >= limits.fair_from else "poor"
    return ReplyGrade(quality, score, tuple(signals))


def _hedging(text: str, limits: GradeThresholds) -> Literal["excessive_hedging", "mild_hedging"] | None:
    hedges = sum(1 for _ in _HEDGE.finditer(text))
    if not hedges:
        return None
    words = sum(1 for _ in _WORD.finditer(text))
    excessive = hedges >= limits.excessive_hedges_from and words <= hedges * limits.max_words_per_hedge
    return "excessive_hedging" if excessive else "mild_hedging"


def _repeats(text: str, limits: GradeThresholds) -> bool:
    words = list(_content_words(text, limits))
    windows = [words[start : start + limits.window_words] for start in range(0, len(words), limits.window_words)]
    shares = [_repeated_share(window) for window in windows if len(window) >= limits.min_window_words]
    if shares and sum(shares) / len(shares) >= limits.repeated_words_from:
        return True
    sentences = [plain for part in _SENTENCE_END.split(text.casefold()) if (plain := part.strip())]
    return len(sentences) >= limits.min_sentences and _repeated_share(sentences) >= limits.repeated_sentences_from


def _repeated_share(items: Sequence[str]) -> float:
    return 1 - len(set(items)) / len(items)


def _unused(reply: str, shown: Iterable[str], limits: GradeThresholds) -> bool:
    """Tell whether no content word of the reply stands in a memory."""
    remembered = [_folded(text) for text in shown]
    if all(next(iter(_content_words(text, limits)), None) is None for text in remembered):
        return False
    words = set(_content_words(reply, limits))
    return not any(word in text for text in remembered for word in words)


@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    """Fold case, once for a memory that is shown turn after turn."""
    return text.casefold()


def _content_words(text: str, limits: GradeThresholds) -> Iterable[str]:
    words = (match[0].casefold() for match in _WORD.finditer(text))
    return (word for word in words if len(word) >= limits.content_word_min_chars and word not in _FUNCTION_WORDS)
