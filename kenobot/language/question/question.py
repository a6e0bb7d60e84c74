"""Parse a question once for all that searches, ranks and judges for it."""

from datetime import date
from functools import cached_property, lru_cache

from kenobot.language.dates import DateRange, asks_time, calendar_names, parse_date_range
from kenobot.language.fingerprint import normalise
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question import answers
from kenobot.language.question.answers import AnswerKind, AnswerType
from kenobot.language.question.asked_past import asks_past, list_present_forms
from kenobot.language.question.asked_values import ValueKind, classify_value, general_words, words_of_form
from kenobot.language.question.asking import asks, asks_for_work
from kenobot.language.question.related_words import word_groups
from kenobot.language.question.relations import Relationship, find_relationships, names_relationship
from kenobot.language.recall_need import RecallNeed, recall_need
from kenobot.language.words import fold, head_and_tail, stems, terms, words
from kenobot.ports.frozen import dataclass

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


@dataclass(frozen=True)
class Question:
    """A question, or another message that is searched for, and all that is read of its text alone.

    It is made once and handed down; each part is read when it is first asked for, since few messages need all of them.
    """

    text: str

    # ── its words ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def plain(self) -> str:
        """Return the folded text."""
        return fold(self.text)

    @cached_property
    def said(self) -> tuple[str, ...]:
        """Return all its words, folded."""
        return tuple(words(self.text))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Return the terms by which it is compared with other texts."""
        return frozenset(terms(self.text))

    @cached_property
    def key(self) -> str:
        """Return the text by which it is the same as another."""
        return normalise(self.text)

    @cached_property
    def asked_words(self) -> tuple[str, ...]:
        """Return the words that mean something, folded, as they stand."""
        return tuple(dict.fromkeys(word for word in words(self.text[:_LONGEST]) if word not in STOPWORDS))[:_MOST_WORDS]

    @cached_property
    def asked_stems(self) -> frozenset[str]:
        """Return the stems of these."""
        return frozenset(stem for word in self.asked_words for stem in stems(word))

    @cached_property
    def words(self) -> tuple[AskedWord, ...]:
        """Return the same words, with all that is known of each."""
        form, general = words_of_form(self.text), general_words()
        return tuple(
            AskedWord(
                word, frozenset(stems(word)), word_groups(word), word in self.names,
                word in form or answers.is_type_word(word), word in general or len(word) < _SHORTEST,
            )
            for word in self.asked_words
        )  # fmt: skip

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the words of the names in it, folded."""
        return frozenset(word for name in answers.proper_names(self.text) for word in words(name))

    @cached_property
    def is_latin(self) -> bool:
        """Return whether it is mostly in Latin letters."""
        return answers.is_latin(self.text)

    # ── its kind ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def need(self) -> RecallNeed:
        """Return how much of memory it calls for."""
        return recall_need(self.text)

    @cached_property
    def asks(self) -> bool:
        """Return whether it asks for something."""
        return asks(self.text)

    @cached_property
    def asks_past(self) -> bool:
        """Return whether it asks for what was so before."""
        return asks_past(self.text)

    @cached_property
    def with_present(self) -> "Question":
        """Return the question with the present forms of its verbs, where it asks for what was so before."""
        forms = list_present_forms(self.text) if self.asks_past else ""
        return Question(f"{self.text} {forms}") if forms else self

    @cached_property
    def asks_for_work(self) -> bool:
        """Return whether it asks for something to be done, which no single memory holds."""
        return asks_for_work(self.text)

    @cached_property
    def asks_time(self) -> bool:
        """Return whether it asks when."""
        return asks_time(self.plain)

    @cached_property
    def value(self) -> ValueKind:
        """Return the kind of value that it asks for."""
        return classify_value(self.text)

    @cached_property
    def answer_type(self) -> AnswerType | None:
        """Return the type of answer that it asks for."""
        return answers.classify_type(self.text)

    @cached_property
    def answer_kinds(self) -> frozenset[AnswerKind]:
        """Return the kinds of answer that it asks for."""
        return answers.classify_kinds(self.text)

    @cached_property
    def relationships(self) -> tuple[Relationship, ...]:
        """Return the relationships of the asker by which it means people."""
        return tuple(find_relationships(self.text))

    @cached_property
    def relative(self) -> bool:
        """Return whether it names a relationship."""
        return names_relationship(self.text)

    # ── its time and sense, of which the beginning and the end of a long one tell ────────────────────────────────────

    @cached_property
    def calendar_names(self) -> frozenset[str]:
        """Return the days of the week and months that it names."""
        return calendar_names(self._short)

    @cached_property
    def is_negative(self) -> bool:
        """Return whether it speaks of what is not so, not wanted or feared."""
        return answers.is_negative(head_and_tail(self.text))

    def find_days(self, today: date, *, whole: bool = False) -> DateRange | None:
        """Find the days that it names. whole: in all of a long one."""
        return parse_date_range(self.plain if whole else self._short, today)

    @cached_property
    def _short(self) -> str:
        return fold(head_and_tail(self.text))


@lru_cache(64)
def parse_question(text: str) -> Question:
    """Make the question of a text; of the same text it is the same one."""
    return Question(text)
