"""Read what a search found, memories and turns alike: their keys and texts, and which of them only ask."""

import re
from typing import Literal

from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.core import lazy
from kenobot.language.question.asking import asks

_SENTENCE = lazy.regex(r"[^.!?？؟\n]*\w[^.!?？؟\n]*[.!?？؟]*")
_MARKED = lazy.regex(r".*[?？؟]\W*", re.DOTALL)
_FIGURE = lazy.regex(r"\d")

ItemKey = tuple[Literal["record", "turn"], int]


def item_key(item: RecalledMemory | Excerpt) -> ItemKey:
    """Return the key of an item."""
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
