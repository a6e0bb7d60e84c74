"""Read what a prompt shows already, line by line: memory, files of the owner's, summaries, and the talk on show."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.question import Question
from kenobot.language.words import stems, words

_MARKS = ("- ", "— ")
_ENDS = ("\n", " _(")  # of an item; what is known of it may follow
_QUESTION_MARKS = ("?", "？", "؟")
_SAME_WORDS = 0.8  # of a text's words that a line has which says the same, and of the line's that the text has
_FEW_WORDS = 3  # below so many a line that says the same has no other word
_LINES, _SHORT = 1024, 800  # that are kept at hand, and characters of one
_MARKUP = lazy.regex(r"^\W*(?:\d{1,2}:\d\d — )?|\s*_\([^()\n]*\)_$")


class ShownTexts:
    """The texts of a prompt. Nothing of them is read before it is asked for."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __contains__(self, text: str) -> bool:
        """Return whether a text is an item of its own: behind the mark of a list."""
        if text not in self._shown:  # as most are not
            return False
        for mark in _MARKS:
            for end in _ENDS:
                if f"{mark}{text}{end}" in self._shown:
                    return True
        return False

    def say(self, text: str) -> bool:
        """Return whether a line says what a text says, but for a few words. A question says nothing."""
        said = content_words(text)
        if not said:
            return False
        least, size = 1.0 if len(said) < _FEW_WORDS else _SAME_WORDS, len(said)
        places, shared = self._places, defaultdict[int, int](int)
        for word in said:
            if word in places:
                for at in places[word]:
                    shared[at] += 1
        likely = [(at, count) for at, count in shared.items() if count >= least * size]
        return any(count >= least * len(self._statements[at][1]) for at, count in likely)

    def answer(self, question: Question, policy: RecallPolicy = DEFAULT.recall) -> bool:
        """Return whether lines that share a word with a question answer it, judged by words alone."""
        from kenobot.cognitive.recall.search.judge import is_answered_by  # noqa: PLC0415 - only a search asks

        shares = [(len(question.asked_stems & _stems(known)), line) for line, known in self._statements]
        best = sorted([each for each in shares if each[0]], key=lambda each: -each[0])
        return is_answered_by(question, [line for _, line in best], policy)

    @cached_property
    def _statements(self) -> list[tuple[str, frozenset[str]]]:
        """The lines that are no questions, without markup, and the words of each that mean something."""
        return [each for each in dict.fromkeys(map(_read_statement, self._shown.splitlines())) if each is not None]

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, ...]]:
        """The statements that have each word, by their places."""
        found = defaultdict[str, tuple[int, ...]](tuple)
        for at, (_, known) in enumerate(self._statements):
            for word in known:
                found[word] += (at,)
        return found


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that mean something, folded."""
    return _content_words(text) if len(text) <= _SHORT else _content_words.__wrapped__(text)


@lru_cache(_LINES)
def _content_words(text: str) -> frozenset[str]:
    return frozenset(words(text)) - STOPWORDS


@lru_cache(_LINES)  # most of a prompt's lines are those of the prompt before
def _read_statement(line: str) -> tuple[str, frozenset[str]] | None:
    line = _MARKUP.sub("", line.strip())
    return (line, content_words(line)) if line and not line.endswith(_QUESTION_MARKS) else None


@lru_cache(_LINES)
def _stems(known: frozenset[str]) -> frozenset[str]:
    return frozenset([stem for word in known for stem in stems(word)])
