"""Estimate importance, 0 to 1, from a statement's category, tags and words, in Spanish and English.

An estimate orders memories and slows their decay; it never decides whether something is kept.
"""

import re
from collections.abc import Sequence

from kenobot.cognitive.text.lexicon import phrases, word_set
from kenobot.cognitive.text.words import fold, words

_PLAIN = 0.5
_KINDS = {
    "correction": 0.2,
    "principle": 0.15,
    "commitment": 0.15,
    "preference": 0.1,
    "relationship": 0.1,
    "decision": 0.08,
    "skill": 0.05,
    "entity": 0.05,
}
_TAGS = {"critical": 0.3, "important": 0.2, "urgent": 0.2, "importante": 0.2, "urgente": 0.2, "security": 0.15}
_SIGNS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (0.4, phrases("important_vital")),
    (0.25, phrases("important_person")),
    (0.2, phrases("important_decision")),
    (0.15, phrases("important_rule")),
    (0.1, phrases("important_liking")),
    (-0.15, phrases("important_unsure")),
)
_EMPTY_WORDS = word_set("empty_words")
_NOTHING = 0.1


def importance(text: str, category: str = "fact", tags: Sequence[str] = ()) -> float:
    """Estimate how important `text` is; lowest for a greeting or a thank-you of a plain category."""
    found = words(text[:2000])
    if category not in _KINDS and found and all(word in _EMPTY_WORDS for word in found):
        return _NOTHING
    folded = fold(text[:2000])
    signs = [weight for weight, sign in _SIGNS if sign.search(folded)]
    risen = max([0.0, *(weight for weight in signs if weight > 0)])
    fallen = min([0.0, *(weight for weight in signs if weight < 0)])
    tagged = max([0.0, *(_TAGS.get(fold(tag), 0.0) for tag in tags)])
    return min(1.0, max(_NOTHING, round(_PLAIN + risen + fallen + tagged + _KINDS.get(category, 0.0), 6)))
