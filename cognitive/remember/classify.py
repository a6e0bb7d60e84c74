"""Classify facts as episodes or notes, and confidences as tiers.

An episode happened once; a note holds until something else does. Evidence counts in this order: time, category, tags,
verbs of doing, words of lasting.
"""

from collections.abc import Sequence
from typing import Literal

from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.cognitive.text.lexicon import phrases
from kenobot.cognitive.text.words import fold

FactKind = Literal["episode", "note"]
ConfidenceTier = Literal["explicit", "implied", "inferred", "speculative"]

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


def kind_of(text: str, category: str = "fact", tags: Sequence[str] = (), default: FactKind = "episode") -> FactKind:
    """Whether `text` tells of an event or of how things are; `default` where nothing in it tells."""
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


def tier_of_confidence(confidence: float, policy: AdmitPolicy) -> ConfidenceTier:
    """What a confidence is worth: said, meant, concluded, or guessed."""
    if confidence >= policy.explicit_from:
        return "explicit"
    if confidence >= policy.implied_from:
        return "implied"
    return "inferred" if confidence >= policy.inferred_from else "speculative"
