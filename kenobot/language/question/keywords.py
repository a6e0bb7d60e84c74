"""Extract the keywords of a message and score memories by them: to explain a recall, not to choose.

A keyword scores three points as a word of a text, one as the beginning of a word. The mean points of facts, procedures
and episodes, weighted, give a grade. Short terms such as Go, AI and C# count too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.words import UNSPACED, fold, words
from kenobot.ports.frozen import dataclass

ConfidenceLevel = Literal["none", "low", "medium", "high"]
MemoryKind = Literal["facts", "procedures", "episodes"]

_TERM = lazy.regex(r"[^\W_]\w*(?:['’]\w+)*(?:\+\+|[+#])?")
_UNSPACED = lazy.regex(f"[{UNSPACED}]")
_SHORTEST = 3
_SHORT = frozenset(
    "ai ar bi cd ci db fm gb go gp hr id ip it js kb ml mb os pc pr qa tb ts tv ui us ux vm vr 3d".split()
)
_OF_WHICH = frozenset("cuando donde tengo".split())  # function words that say what is asked for
_IGNORED = STOPWORDS - _OF_WHICH
_WORD, _BEGINNING = 3, 1
_WEIGHTS: Mapping[MemoryKind, int] = {"facts": 2, "procedures": 2, "episodes": 1}
_HIGH, _MEDIUM = 4.0, 2.0


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """The score of a text, and the keywords that it has."""

    score: int = 0
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeywordGrade:
    """The grade of a recall. means: points of each kind of memory."""

    level: ConfidenceLevel
    score: float
    means: Mapping[MemoryKind, float]


def extract_keywords(text: str) -> list[str]:
    """Extract the keywords of a message, each once: lower case, no function words, in order."""
    found: dict[str, None] = {}
    for match in _TERM.finditer(text):
        term = match[0]
        if _UNSPACED.search(term):
            found.update(dict.fromkeys(words(term)))
        elif _counts(term):
            found[term.lower()] = None
    return list(found)


def _counts(term: str) -> bool:
    plain = fold(term)
    if plain in _IGNORED:
        return term.isupper() and plain in _SHORT  # IT is no "it"
    coined = term.isupper() or any(not char.isalpha() for char in term)
    return len(plain) >= _SHORTEST or (len(plain) > 1 and (plain in _SHORT or coined))


def score_keywords(keywords: Iterable[str], text: str) -> KeywordScore:
    """Score a text by these keywords."""
    plain_text = fold(text)
    score, matched = 0, []
    for keyword in keywords:
        plain = fold(keyword)
        if not plain or plain not in plain_text:
            continue
        if _UNSPACED.search(plain) or re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", plain_text):
            score += _WORD
        elif re.search(rf"(?<!\w){re.escape(plain)}", plain_text):  # tea is no part of instead
            score += _BEGINNING
        else:
            continue
        matched.append(keyword)
    return KeywordScore(score, tuple(matched))


def grade_keywords(scores: Mapping[MemoryKind, Sequence[float]]) -> KeywordGrade:
    """Grade a recall by the mean points of each kind of memory, weighted 2:2:1; kinds without points do not count."""
    means: dict[MemoryKind, float] = {}
    for kind in _WEIGHTS:
        each = scores.get(kind, ())
        means[kind] = round(sum(each) / len(each), 2) if each else 0.0
    weight = sum(_WEIGHTS[kind] for kind, mean in means.items() if mean)
    score = round(sum(_WEIGHTS[kind] * mean for kind, mean in means.items()) / weight, 2) if weight else 0.0
    level: ConfidenceLevel = (
        "none" if score <= 0 else "high" if score >= _HIGH else "medium" if score >= _MEDIUM else "low"
    )
    return KeywordGrade(level, score, means)
