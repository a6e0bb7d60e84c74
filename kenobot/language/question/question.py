"""Parse a question once for all that judges what was found for it."""

from dataclasses import dataclass
from functools import lru_cache

from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question import answers
from kenobot.language.question.answers import AnswerKind, AnswerType
from kenobot.language.question.asked_values import ValueKind, asked_value, general_words, words_of_form
from kenobot.language.question.related_words import word_groups
from kenobot.language.question.relations import names_relationship
from kenobot.language.words import fold, stems, words

_LONGEST = 2000  # characters that are read
_MOST_WORDS = 8  # whose vectors are made
_SHORTEST = 3  # letters of a word that says what a question is about


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A folded word of a question.

    groups: see `related_words`. named: it is part of a name. of_form: it says which value is wanted. general: it says
    hardly anything.
    """

    text: str
    stems: frozenset[str]
    groups: frozenset[int]
    named: bool
    of_form: bool
    general: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question with all that is read of its text alone. relative: it names a relationship."""

    text: str
    plain: str
    words: tuple[AskedWord, ...]
    value: ValueKind
    answer_type: AnswerType | None
    answer_kinds: frozenset[AnswerKind]
    relative: bool


@lru_cache(64)
def asked_words(question: str) -> tuple[str, ...]:
    """List the words of a question that mean something, folded, as they stand."""
    return tuple(dict.fromkeys(word for word in words(question[:_LONGEST]) if word not in STOPWORDS))[:_MOST_WORDS]


@lru_cache(64)
def parse_question(text: str) -> Question:
    """Parse a question."""
    names = {word for name in answers.proper_names(text) for word in words(name)}
    form, general = words_of_form(text), general_words()
    found = (
        AskedWord(
            word, frozenset(stems(word)), word_groups(word), word in names, word in form or answers.is_type_word(word),
            word in general or len(word) < _SHORTEST,
        )
        for word in asked_words(text)
    )  # fmt: skip
    return Question(
        text,
        fold(text),
        tuple(found),
        asked_value(text),
        answers.asked_type(text),
        answers.asked_kinds(text),
        names_relationship(text),
    )
