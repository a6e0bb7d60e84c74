"""Tell where a question asks about one speaker what only others said, by a logistic regression.

Where people talk with each other, turns about the same things are near to a question of whomever. Its weights are
`attribution.json`, made by `python -m bench.learn_attribution`. A private chat has no speakers.
"""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from importlib import resources

from kenobot.cognitive.recall.candidates.by_words import ParsedQuery
from kenobot.cognitive.recall.index.documents import name_key
from kenobot.cognitive.recall.results.memory import Excerpt
from kenobot.core import lazy
from kenobot.language.words import fold, stems, words

_GOES_ON = lazy.regex(r"'s\b|\s+\w")
_CALLS = lazy.regex(r"(?:[,!¡]|\b(?:hi|hey|hello|hola|buenas|dear|thanks|thank you|gracias|oh|wow|yes|no|yeah|ok))\s+$")
_APOSTROPHE = "’"  # as the index writes it in a genitive, whose noun is a term of its own


@dataclass(frozen=True, slots=True)
class AttributionFeatures:
    """Describe how well turns match a question that names a speaker. Each speaks for an answer."""

    own: float  # share of the question's words, names apart, that the best turn of or about a speaker named has
    behind: float  # by how much that is less than the share of the best turn of another, negated
    best: float  # the share of the best turn of anybody
    told: float  # 1 where a speaker named says that one, or it speaks of them


FEATURE_NAMES = tuple(each.name for each in fields(AttributionFeatures))


def attribution_features(query: ParsedQuery, excerpts: Sequence[Excerpt]) -> AttributionFeatures | None:
    """Extract the features of excerpts; None where the question names none of their speakers, or says nothing else."""
    said = [each.turn.line for each in excerpts]
    wanted = set(query.names)
    named = {each for each in (name_key(line.name) for line in said) if each and _is_meant(each, wanted)}
    names = {stem for each in named for word in words(each) for stem in stems(word)}
    asked = {term.stems[0] for term in query.terms if names.isdisjoint(term.stems)}
    asked = {stem for stem in asked if _APOSTROPHE not in stem}
    if not named or not asked:
        return None
    theirs = [name_key(line.name) in named or _speaks_of(named, line.text) for line in said]
    shares = [(len(asked.intersection(each.matched)) / len(asked), -at) for at, each in enumerate(excerpts)]
    own = max((share for (share, _), told in zip(shares, theirs, strict=True) if told), default=0.0)
    best, at = max(shares)
    return AttributionFeatures(own, own - best, best, float(theirs[-at]))


def _is_meant(speaker: str, wanted: Collection[str]) -> bool:
    return speaker in wanted or speaker.partition(" ")[0] in wanted


def _speaks_of(named: Collection[str], text: str) -> bool:
    """Return whether a text says something of one of these people; a name that it only calls out says nothing."""
    plain = fold(text)
    found = (match for each in named for match in re.finditer(rf"\b{re.escape(each.partition(' ')[0])}\b", plain))
    return any(_GOES_ON.match(plain, each.end()) and not _CALLS.search(plain, 0, each.start()) for each in found)


def attribution_probability(features: AttributionFeatures) -> float:
    """Estimate the probability that the excerpts answer the question."""
    by = learned_weights()
    odds = by["always"] + sum(by[name] * value for name, value in zip(FEATURE_NAMES, astuple(features), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def is_of_others(query: ParsedQuery, excerpts: Sequence[Excerpt], least: float) -> bool:
    """Return whether the probability that excerpts tell it of the speaker asked about is below `least`."""
    features = attribution_features(query, excerpts)
    return features is not None and attribution_probability(features) < least


@lru_cache(1)
def learned_weights() -> Mapping[str, float]:
    """Read the weights of each feature and of "always", in log-odds."""
    text = resources.files(__package__).joinpath("attribution.json").read_text("utf-8")
    found: Mapping[str, float] = json.loads(text)["weights"]
    return found
