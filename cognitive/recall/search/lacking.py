"""Tell where nothing that was found may hold the answer of the type that a question asks for.

What comes near is not an answer: of "What is Hannah's phone number?" a memory that speaks of Hannah and has no number
tells nothing, and neither does the number of another person.
"""

from collections.abc import Sequence

from kenobot.cognitive.recall.question import answers
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.scoring.relevance import proper_names
from kenobot.cognitive.text.words import words
from kenobot.core import lazy

_ONLY_ASKS = lazy.regex(r"[^.!?？؟\n]*[?？؟]\W*")


def lack_answer(question: str, shown: Sequence[RecalledMemory | Excerpt]) -> bool:
    """Return whether none of what is shown may hold the answer; False where no type of answer is asked for.

    Where some of it bears a name of the question, only what bears one counts: a name that none of it has may be written
    in other words there, as "Germany" is in "Berlin". A question is no answer, whether it was asked before or memory
    has it open.
    """
    asked = answers.asked_type(question)
    if asked is None:
        return False
    named = _names(" ".join(proper_names(question)))
    told = [(_text(item), _bears(item, named)) for item in shown]
    anywhere = any(bears for _, bears in told)
    for item, (text, bears) in zip(shown, told, strict=True):
        if _asks(item, text):
            continue
        if (bears or not anywhere or not answers.is_latin(text)) and not answers.lacks_answer(asked, question, text):
            return False
    return True


def _asks(item: RecalledMemory | Excerpt, text: str) -> bool:
    """Return whether an item is a question, and no more."""
    return _ONLY_ASKS.fullmatch(text) is not None if isinstance(item, Excerpt) else item.record.form == "question"


def _text(item: RecalledMemory | Excerpt) -> str:
    return item.turn.text if isinstance(item, Excerpt) else item.record.text


def _bears(item: RecalledMemory | Excerpt, names: frozenset[str]) -> bool:
    """Return whether an item speaks of one of these names, or a person of this name says it."""
    return not names.isdisjoint(_names(item.line))


def _names(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s").removesuffix("’s") for word in words(text))
