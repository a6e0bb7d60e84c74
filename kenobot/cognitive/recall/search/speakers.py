"""Compare what a speaker whom a question names said with what others said.

Where people talk with each other, turns about the same things are near to a question of whomever. A private chat has no
speakers.
"""

from collections.abc import Collection, Sequence
from dataclasses import fields

from kenobot.cognitive.recall.results.memory import Excerpt
from kenobot.language.question.search_terms import ParsedQuery, name_key
from kenobot.language.references import speaks_of
from kenobot.language.words import stems, words
from kenobot.ports.frozen import dataclass

_APOSTROPHE = "’"  # as the index writes it in a genitive, whose noun is a term of its own


@dataclass(frozen=True, slots=True)
class SpeakerFeatures:
    """Describe how well turns match a question that names a speaker. Each speaks for an answer."""

    own: float  # share of the question's words, names apart, that the best turn of or about a speaker named has
    behind: float  # by how much that is less than the share of the best turn of another, negated
    best: float  # the share of the best turn of anybody
    told: float  # 1 where a speaker named says that one, or it speaks of them


SPEAKER_NAMES = tuple(each.name for each in fields(SpeakerFeatures))


def speaker_features(query: ParsedQuery, excerpts: Sequence[Excerpt]) -> SpeakerFeatures | None:
    """Extract the features of excerpts; None where the question names none of their speakers, or says nothing else."""
    said = [each.turn.line for each in excerpts]
    wanted = set(query.names)
    named = {each for each in (name_key(line.name) for line in said) if each and _is_meant(each, wanted)}
    names = {stem for each in named for word in words(each) for stem in stems(word)}
    asked = {term.stems[0] for term in query.terms if names.isdisjoint(term.stems)}
    asked = {stem for stem in asked if _APOSTROPHE not in stem}
    if not named or not asked:
        return None
    theirs = [name_key(line.name) in named or speaks_of(named, line.text) for line in said]
    shares = [(len(asked.intersection(each.matched)) / len(asked), -at) for at, each in enumerate(excerpts)]
    own = max((share for (share, _), told in zip(shares, theirs, strict=True) if told), default=0.0)
    best, at = max(shares)
    return SpeakerFeatures(own, own - best, best, float(theirs[-at]))


def _is_meant(speaker: str, wanted: Collection[str]) -> bool:
    return speaker in wanted or speaker.partition(" ")[0] in wanted
