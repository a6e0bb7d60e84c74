"""Tell where nothing that was found may hold the answer of the type that a question asks for.

What comes near is not an answer: of "What is Hannah's phone number?" a memory that speaks of Hannah and has no number
tells nothing, and neither does the number of another person; nor, of "What colour is my car?", one of her purple hair.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.question import answers
from kenobot.cognitive.recall.question.answers import AnswerType
from kenobot.cognitive.recall.question.slots import asks
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.scoring.relevance import proper_names
from kenobot.core import lazy
from kenobot.language.words import fold, stems, words

_SENTENCE = lazy.regex(r"[^.!?？؟\n]*\w[^.!?？؟\n]*[.!?？؟]*")
_MARKED = lazy.regex(r".*[?？؟]\W*", re.DOTALL)
_FIGURE = lazy.regex(r"\d")

ItemKey = tuple[Literal["record", "turn"], int]
NOTHING_MEASURED: Mapping[ItemKey, float] = MappingProxyType({})
_NEEDS_TOPIC = frozenset(
    "phone mail weight money favourite colour code clock festivity year count language address surname school name "
    "thing".split()
)
"""Types of which something else is told in nearly every chat; of the others an answer often shares no word."""


def lack_answer(
    question: str,
    shown: Sequence[RecalledMemory | Excerpt],
    by_nearness: RecallPolicy | None = None,
    topic_nearness: Mapping[ItemKey, float] = NOTHING_MEASURED,
) -> bool:
    """Return whether none of what is shown may hold the answer; False where no type of answer is asked for.

    Where some of it bears a name of the question, only what bears one counts: a name that none of it has may be written
    in other words there, as "Germany" is in "Berlin". A question is no answer, whether it was asked before or memory
    has it open.

    Likewise of names only what has a word of what the question is about counts, where some of it has one: the
    landlord's is not the dentist's.

    by_nearness: given where vectors were searched. Of most types only what has a word of what the question is about
    counts then, or comes near: another colour, or another number, is always told of something.

    topic_nearness: how near items are to what the question is about, apart from the words that ask for the type. One
    that has such a word, as another's code has "code", is near the question for that; it must be near to this, too.
    """
    asked = answers.asked_type(question)
    if asked is None:
        return False
    least = _least_nearness(asked, question, by_nearness)
    named = _names(" ".join(proper_names(question)))
    topic, typed = frozenset[str](), frozenset[str]()
    if least or answers.asks_name(question):
        typed = answers.type_words_in(question)
        topic = answers.topic_stems(question) - {stem for name in named for stem in stems(name)}
    if not least and not any(_has(topic, item_text(item)) for item in shown if not only_asks(item)):
        topic = frozenset()
    told = [(item_text(item), _bears(item, named)) for item in shown]
    before = {(item.turn.session, item.turn.id): item.turn.text for item in shown if isinstance(item, Excerpt)}
    anywhere = any(bears for _, bears in told)
    for item, (text, bears) in zip(shown, told, strict=True):
        if only_asks(item):
            continue
        meant = bears or not anywhere or not answers.is_latin(text)
        if meant and not answers.lacks_answer(asked, question, text):
            about = f"{text} {_replied_to(item, before)}" if topic else text
            apart = topic_nearness.get(item_key(item), least)
            if _is_about(item, about, topic, least, apart_from=typed, apart=apart):
                return False
    return True


def _least_nearness(asked: AnswerType, question: str, policy: RecallPolicy | None) -> float:
    """Return from which similarity on what has no word of the question counts; 0 where all of it does."""
    if policy is None:
        return 0.0
    if asked == "thing":
        return policy.thing_near_from
    return policy.type_near_from if asked in _NEEDS_TOPIC or answers.asks_name(question) else 0.0


def _has(topic: frozenset[str], text: str) -> bool:
    return not topic.isdisjoint(stem for word in words(fold(text)) for stem in stems(word))


def _is_about(
    item: RecalledMemory | Excerpt,
    text: str,
    topic: frozenset[str],
    least: float,
    *,
    apart_from: frozenset[str],
    apart: float,
) -> bool:
    """Return whether an item has a word of `topic`, stems, or comes as near to the question as `least`.

    apart_from: stems; an item that has one must come as near without them, and `apart` is how near it then is.
    """
    if not least:
        return not topic or _has(topic, text)
    said = frozenset(stem for word in words(fold(text)) for stem in stems(word))
    near = item.near if isinstance(item, Excerpt) else item.relevance_parts.get("meaning")
    if (near or 0.0) >= least and (apart >= least or said.isdisjoint(apart_from)):
        return True
    return not said.isdisjoint(topic)


def _replied_to(item: RecalledMemory | Excerpt, said: Mapping[tuple[str, int], str]) -> str:
    """Return the question that a turn answers and what that was asked about, as far as `said` has them; "" for none.

    "Six hundred" has no word of what costs that, nor has the "How much?" before it. said: texts by session and id.
    """
    if not isinstance(item, Excerpt):
        return ""
    session, at = item.turn.session, item.turn.id
    question = said.get((session, at - 1), "")
    return f"{said.get((session, at - 2), '')} {question}" if question.rstrip().endswith(("?", "？")) else ""


def item_key(item: RecalledMemory | Excerpt) -> ItemKey:
    """Return the key of an item, for `topic_nearness`."""
    return ("turn", item.turn.id) if isinstance(item, Excerpt) else ("record", item.record.id)


def only_asks(item: RecalledMemory | Excerpt) -> bool:
    """Return whether an item is a question, or some, and no more; one without a mark tells where it has a figure."""
    if not isinstance(item, Excerpt):
        return item.record.form == "question"
    sentences = [match[0].strip() for match in _SENTENCE.finditer(item.turn.text)]
    return bool(sentences) and all(
        _MARKED.fullmatch(each) is not None or (asks(each) and _FIGURE.search(each) is None) for each in sentences
    )


def item_text(item: RecalledMemory | Excerpt) -> str:
    """Return what an item says."""
    return item.turn.text if isinstance(item, Excerpt) else item.record.text


def _bears(item: RecalledMemory | Excerpt, names: frozenset[str]) -> bool:
    """Return whether an item speaks of one of these names, or a person of this name says it."""
    return not names.isdisjoint(_names(item.line))


def _names(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s").removesuffix("’s") for word in words(text))
