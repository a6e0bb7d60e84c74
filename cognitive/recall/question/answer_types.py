"""Tell the type of answer that a question asks for - a colour, a price, a name - and which memories cannot hold it.

A memory without any number does not answer "how much does the dog weigh?", however near it lies. By words (see
`answers.toml`) and only of texts in Latin letters. A hint, never a filter.
"""

import re
from typing import Literal, get_args

from kenobot.cognitive.recall.question.answer_patterns import answer_pattern, sentence_beginnings
from kenobot.cognitive.recall.question.relations import names_other_relationship
from kenobot.cognitive.text.dates import calendar_names, names_time
from kenobot.cognitive.text.words import fold, words

AnswerType = Literal[
    "mail", "weight", "money", "size", "age", "often", "long", "colour", "code", "clock", "festivity", "language",
    "address", "name", "person",
]  # fmt: skip

_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)  # as they are tried: the first that is found counts
_CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-zà-ÿ][\w'’-]*")
_MARKED = re.compile(r"[\"“«]\w|\d[A-Za-z]|[A-Za-z]\d")  # a title, or the name of a thing
_SELF = frozenset("i'm i've i'd i'll".split())
_OPENING = 12  # words of a question within which it says what it asks for
_LONGEST = 2000  # characters of a text that are looked through
_LATIN = 0.7  # share of Latin letters from which on a text is one in Latin letters
_LEADING = re.compile(r"^\W*(?:(?:y|and|but|pero|so|in|on|at|from|to|en|de|a|desde|por|con)\s+)?")


def asked_type(question: str) -> AnswerType | None:
    """The kind of answer that a question asks for by its opening; None where it asks for another, or does not say."""
    plain = " ".join(fold(question[:_LONGEST]).replace("¿", " ").split()[:_OPENING])
    start = _LEADING.match(plain)
    begin = start.end() if start is not None else 0
    return next((kind for kind in _TYPES if answer_pattern("type_asked", kind).match(plain, begin)), None)


def lacks_answer(kind: AnswerType | None, question: str, text: str) -> bool:
    """Whether a memory certainly does not hold what a question asks for. kind: as `asked` gave it."""
    if kind is None or not _latin(text):
        return False
    if kind in ("name", "person"):
        return not _names(kind, question, text) or (kind == "name" and names_other_relationship(question, text))
    if kind == "festivity":
        return not _dated(text)
    return answer_pattern("type_held", kind).search(fold(text[:_LONGEST])) is None


def _latin(text: str) -> bool:
    letters = [char for char in text[:_LONGEST] if char.isalpha()]
    return sum(ord(char) < 0x250 for char in letters) >= _LATIN * len(letters)


def _dated(text: str) -> bool:
    """Whether a text says anything of a day."""
    plain = fold(text[:_LONGEST])
    return names_time(plain) or re.search(r"\d", plain) is not None


def _names(kind: AnswerType, question: str, text: str) -> bool:
    """Whether a text names somebody or something that the question does not, or says by another word who it is."""
    plain = fold(text[:_LONGEST])  # a name may stand without its capital, as people write to each other
    if _MARKED.search(text[:_LONGEST]) or answer_pattern("type_held", kind).search(plain):
        return True
    asked_of, beginnings = set(words(question)), sentence_beginnings()
    for name in _CAPITAL.finditer(text[:_LONGEST]):
        first = not text[: name.start()].rstrip(" ¿¡\"'(").strip() or text[: name.start()].rstrip()[-1] in ".:;!?"
        said = [word for word in words(name[0]) if len(word) > 1 and word not in _SELF]
        if any(
            word not in asked_of and not (first and word in beginnings) and not calendar_names(word) for word in said
        ):
            return True
    return False
