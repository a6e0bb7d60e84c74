"""The weights of what turns and records are ranked by, made by `python -m bench.learn_weights`: `weights.json`.

They are learned on the sets that ship, drawn towards round ones: `PRIOR`, `RECORDS`.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

TURN_PRIOR: Mapping[str, float] = {
    "lex": 1.0,
    "win": 1.0,
    "ses": 1.0,
    "spk": 0.5,
    "isq": -0.25,
    "len": 0.5,
    "when": 0.5,
    "then": 0.5,
    "e5": 1.0,
    "e5s": 1.0,
}
"""lex, win, ses: BM25 of the turn, of it with its neighbours, of its stretch. spk: the one who is named said it. isq:
it asks. len: its length. when: the question asks for a time, and it names one. then: it was said when the question
says. e5, e5s: nearness in meaning of the turn, and of the best of its stretch."""


RECORD_PRIOR: Mapping[str, float] = {
    "meaning": 1.0,
    "words": 0.2,
    "who": 0.5,
    "kind": 0.25,
    "then": 0.5,
    "calendar": 0.25,
    "down": 0.1,
}
"""meaning: nearness of the record, or of what it took the place of, as a share of a usual answer's. words: relevance
by words. who: it speaks of whom the question means. kind: it holds the kind of answer that is asked for. then: it was
told when the question says. calendar: both name the same day or month, less than nothing where it names others. down:
both speak of what is not so or not wanted."""

FIXED_WEIGHTS = ("words",)
"""What is not learned: the notes that ship are asked for in other words than they are told in, as people do not."""


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
