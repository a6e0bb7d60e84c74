"""The weights of what turns are ranked by, as data: `weights.json`, made by `python -m bench.learn_weights`.

They are learned on the sets that ship, drawn towards round ones: `PRIOR`.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

PRIOR: Mapping[str, float] = {
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


@lru_cache(1)
def learned() -> Mapping[str, float]:
    """The weights that ship."""
    text = resources.files("kenobot.cognitive.recall").joinpath("weights.json").read_text("utf-8")
    found = json.loads(text)["turns"]
    return {name: float(found.get(name, weight)) for name, weight in PRIOR.items()}
