"""Read the learned weights of turns and records: `weights.json`, made by `python -m bench.learn_weights`."""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

TURN_PRIOR: Mapping[str, float] = {
    "lex": 1.0,  # BM25 of the turn
    "win": 1.0,  # BM25 of the turn with its neighbours
    "ses": 1.0,  # BM25 of its segment
    "spk": 0.5,  # the speaker is named in the question
    "isq": -0.25,  # the turn is a question
    "len": 0.5,  # its length
    "when": 0.5,  # the question asks for a time, and the turn names one
    "then": 0.5,  # its date lies in the dates of the question
    "e5": 1.0,  # similarity of the turn
    "e5s": 1.0,  # similarity of the best turns of its segment
}
"""Features of a turn, each with the round weight that learning starts from."""

RECORD_PRIOR: Mapping[str, float] = {
    "meaning": 1.0,  # similarity of the record or one it superseded, as a share of a usual answer's
    "words": 0.2,  # relevance by words
    "who": 0.5,  # it names a person of the question
    "kind": 0.25,  # it holds the kind of answer asked for
    "then": 0.5,  # its day lies in the dates of the question
    "calendar": 0.25,  # both name the same day or month; below 0 where it names others
    "down": 0.1,  # both are negative
}
"""Features of a record, each with the round weight that learning starts from."""

FIXED_WEIGHTS = ("words",)
"""Weights that are not learned: the questions that ship avoid the words of their notes, as people do not."""


@lru_cache(1)
def turn_weights() -> Mapping[str, float]:
    """The weights for turns that ship."""
    return _read("turns", TURN_PRIOR)


@lru_cache(1)
def record_weights() -> Mapping[str, float]:
    """The weights for records that ship."""
    return _read("records", RECORD_PRIOR)


def _read(part: str, prior: Mapping[str, float]) -> Mapping[str, float]:
    text = resources.files(__package__).joinpath("weights.json").read_text("utf-8")
    found = json.loads(text).get(part, {})
    return {name: float(found.get(name, weight)) for name, weight in prior.items()}
