"""The keywords of a message, and what a memory scores by them: for people who ask why, not for choosing.

Three points for a keyword that stands in a text as a word, one for a part of a word. Of what was found the mean points
of facts, procedures and episodes, weighted, give a grade. Rules and weights are KenoBot's first retrieval; letters of
every script count, whatever their accents, and so do short terms such as Go, AI and C#.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.text.lexicon import STOPWORDS
from kenobot.cognitive.text.words import UNSPACED, fold, words

ConfidenceLevel = Literal["none", "low", "medium", "high"]
MemoryKind = Literal["facts", "procedures", "episodes"]

_TERM = re.compile(r"[^\W_]\w*(?:['’]\w+)*(?:\+\+|[+#])?")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SHORTEST = 3
_SHORT = frozenset(
    "ai ar bi cd ci db fm gb go gp hr id ip it js kb ml mb os pc pr qa tb ts tv ui us ux vm vr 3d".split()
)
_OF_WHICH = frozenset("cuando donde tengo".split())  # function words that say what is asked for
_IGNORED = STOPWORDS - _OF_WHICH
_WORD, _PART = 3, 1
_WEIGHTS: Mapping[MemoryKind, int] = {"facts": 2, "procedures": 2, "episodes": 1}
_HIGH, _MEDIUM = 4.0, 2.0


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """What a text scores, and the keywords that it holds."""

    score: int = 0
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeywordGrade:
    """How well the keywords of a message were met. means: points of each kind of memory."""

    level: ConfidenceLevel
    score: float
    means: Mapping[MemoryKind, float]


def extract_keywords(text: str) -> list[str]:
    """What a message asks about, each once: lower case, no function words, in the order they stand."""
    found: dict[str, None] = {}
    for match in _TERM.finditer(text):
        said = match[0]
        if _UNSPACED.search(said):
            found.update(dict.fromkeys(words(said)))
        elif _counts(said):
            found[said.lower()] = None
    return list(found)


def _counts(said: str) -> bool:
    plain = fold(said)
    if plain in _IGNORED:
        return said.isupper() and plain in _SHORT  # IT is no "it"
    coined = said.isupper() or any(not char.isalpha() for char in said)
    return len(plain) >= _SHORTEST or (len(plain) > 1 and (plain in _SHORT or coined))


def score_keywords(wanted: Iterable[str], text: str) -> KeywordScore:
    """What `text` scores by these keywords."""
    said = fold(text)
    score, matched = 0, []
    for keyword in wanted:
        plain = fold(keyword)
        if not plain or plain not in said:
            continue
        whole = _UNSPACED.search(plain) or re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", said)
        score += _WORD if whole else _PART
        matched.append(keyword)
    return KeywordScore(score, tuple(matched))


def grade_keywords(scores: Mapping[MemoryKind, Sequence[float]]) -> KeywordGrade:
    """The grade of what was found: the mean points of each kind, weighted 2:2:1, what has none left out."""
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
