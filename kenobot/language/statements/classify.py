"""Classify facts as episodes or notes, and estimate their importance, in Spanish and English.

An episode happened once; a note holds until something else does. Evidence counts in this order: time, category, tags,
verbs of doing, words of lasting. Importance orders memories and slows their decay; it decides nothing else.
"""

import re
from collections.abc import Sequence
from typing import Literal

from kenobot.language.lexicon import phrases, word_set
from kenobot.language.words import fold, words

FactKind = Literal["episode", "note"]

_ONCE = phrases("kind_once")
_ON_A_DAY = phrases("kind_on_a_day")
_AGAIN = phrases("kind_again")
_LASTING = frozenset({"preference", "principle", "rule", "habit", "relationship", "policy"})
_NOTES = _LASTING | {"decision", "commitment", "goal", "constraint", "skill", "correction", "profile"}
_EPISODES = frozenset({"event", "action", "moment", "observation", "incident"})
_NOTE_TAGS = _NOTES | {"preferences", "rules", "policies", "principles", "preferencia", "norma", "politica", "decision"}
_EPISODE_TAGS = _EPISODES | {"deploy", "release", "meeting", "trip", "evento", "incidente", "reunion", "viaje"}
_DONE = phrases("kind_done")
_STAYS = phrases("kind_stays")
_PLAIN = 0.5
_CATEGORY_GAINS = {
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
_LEAST = 0.1


def kind_of(text: str, category: str = "fact", tags: Sequence[str] = (), default: FactKind = "episode") -> FactKind:
    """Return whether `text` tells of an event or of how things are; `default` where nothing in it tells."""
    said = fold(text[:2000])
    recurs = _AGAIN.search(said) is not None
    done = _DONE.search(said) is not None
    once = _ONCE.search(said) is not None or (_ON_A_DAY.search(said) is not None and (done or category in _EPISODES))
    if once and not recurs and category not in _LASTING:
        return "episode"
    if category in _NOTES:
        return "note"
    if category in _EPISODES:
        return "episode"
    marks = {fold(tag) for tag in tags}
    if marks & _NOTE_TAGS:
        return "note"
    if marks & _EPISODE_TAGS or done:
        return "episode"
    return "note" if _STAYS.search(said) else default


def importance(text: str, category: str = "fact", tags: Sequence[str] = ()) -> float:
    """Estimate how important `text` is; lowest for a greeting or a thank-you of a plain category."""
    found = words(text[:2000])
    if category not in _CATEGORY_GAINS and found and all(word in _EMPTY_WORDS for word in found):
        return _LEAST
    folded = fold(text[:2000])
    signs = [weight for weight, sign in _SIGNS if sign.search(folded)]
    risen = max([0.0, *(weight for weight in signs if weight > 0)])
    fallen = min([0.0, *(weight for weight in signs if weight < 0)])
    tagged = max([0.0, *(_TAGS.get(fold(tag), 0.0) for tag in tags)])
    return min(1.0, max(_LEAST, round(_PLAIN + risen + fallen + tagged + _CATEGORY_GAINS.get(category, 0.0), 6)))
