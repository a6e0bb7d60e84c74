"""What is meant, besides what is said: the vectors' part in a recall, where there are any."""

from collections.abc import Mapping, Sequence

from kenobot.cognitive.reach import Reach, scopes_of
from kenobot.cognitive.recall.candidates import Found
from kenobot.cognitive.recall.index import Index
from kenobot.cognitive.recall.score import fuse


def records(index: Index, text: str, reach: Reach, by_words: Sequence[Found]) -> Mapping[int, float]:
    """How near in meaning records are to a message, 0 to 1: the nearest ones, and those that its words found."""
    if index.meaning is None:
        return {}
    near = index.meaning.records(text, scopes_of(reach), (found.number for found in by_words))
    return {number: relevance for number, relevance in near.items() if relevance > 0}


def turns(index: Index, text: str, reach: Reach, by_words: Sequence[Found]) -> list[Found]:
    """The turns that words found and those that are near in meaning, as one list, best first."""
    if index.meaning is None:
        return list(by_words)
    found = {each.number: each for each in by_words}
    near = index.meaning.turns(text, scopes_of(reach), found)
    for number, relevance in near.items():
        said = found.get(number, Found(number, 0.0, ()))
        found[number] = Found(number, fuse(said.relevance, relevance), said.matched, said.terms)
    return sorted(found.values(), key=lambda each: (-each.relevance, -each.number))
