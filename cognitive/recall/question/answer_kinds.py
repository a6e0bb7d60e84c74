"""Tell the kind of answer that a question asks for, whether a memory holds one, and whether either is negative.

By words (see `answers.toml`). Hints for a ranking, never a filter.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from kenobot.cognitive.recall.question.answer_patterns import answer_pattern
from kenobot.cognitive.text.dates import asks_time_first, names_time
from kenobot.cognitive.text.words import fold

AnswerKind = Literal["time", "number", "person", "place"]

_ASKED: tuple[AnswerKind, ...] = ("number", "person", "place")
_NAME_ASKED = re.compile(r"\b(?:name|called|nombre|se llama)\b")
_OPENS = re.compile(
    r"\b(?:what|which|how|who|whom|whose|where|when|why|que|cual|quien|donde|adonde|cuando|cuant[oa]s?)\b"
)
_NAME = re.compile(
    r"(?<![.!?:] )(?<!^)\b[^\W\d_a-zà-ÿ][^\W\d_]*[a-zà-ÿ]\w*"  # a capital within a sentence
    r"|^[^\W\d_a-zà-ÿ]\w+(?='s |’s | (?:is|has|wants|likes|does|es|tiene|quiere|bebe|no)\b)"  # or at its beginning
)
_MARK = re.compile(r"[?？؟]")
_LONGEST = 2000  # characters of a message in which its question is looked for
_OPENING = 5  # words of a question within which it says what it asks for


def asked_kinds(question: str) -> frozenset[AnswerKind]:
    """The kinds of answer that a question asks for; none where it asks for another, or does not say."""
    plain = " ".join(fold(_question(question[:_LONGEST])).split()[:_OPENING])
    opens = _OPENS.search(plain)
    first = opens.start() if opens is not None else len(plain)
    found: set[AnswerKind] = {kind for kind, at in _asked_at(plain) if at <= first}
    if _NAME_ASKED.search(plain):
        found.add("person")
    return frozenset(found | {"time"} if asks_time_first(plain, first) else found)


def _question(text: str) -> str:
    """The first question of a text; all of it where it has none."""
    for mark in _MARK.finditer(text):
        begin = max(text.rfind(end, 0, mark.start()) for end in ".!?¿？؟\n") + 1
        if begin < mark.start():
            return text[begin : mark.start()]
    return text


def _asked_at(plain: str) -> Iterator[tuple[AnswerKind, int]]:
    """The kinds of answer that words of a question ask for, each with where it does so first."""
    for kind in _ASKED:
        if match := answer_pattern("kind_asked", kind).search(plain):
            yield kind, match.start()


@lru_cache(512)
def holds_kind(text: str, kind: AnswerKind) -> bool:
    """Whether a memory may hold this kind of answer."""
    text = text[:_LONGEST]
    plain = fold(text)
    if kind == "time":
        return answer_pattern("kind_held", "number").search(plain) is not None or names_time(plain)
    return answer_pattern("kind_held", kind).search(plain) is not None or (
        kind == "person" and _NAME.search(text) is not None
    )


@lru_cache(512)
def is_negative(text: str) -> bool:
    """Whether a question or a memory speaks of what is not so, not wanted, not allowed or feared."""
    return answer_pattern("other", "turned_down").search(fold(text[:_LONGEST])) is not None


def kind_score(wanted: frozenset[AnswerKind], text: str) -> float:
    """How well a memory fits the kinds of answer: 1 holds one, 0 none; a half where no kind is asked for."""
    return 0.5 if not wanted else float(any(holds_kind(text, kind) for kind in wanted))
