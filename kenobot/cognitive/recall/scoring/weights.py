"""Read the learned weights of turns and records: `weights.json`, made by `python -m bench.learn_weights`."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, get_args

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
    "e5w": 0.25,  # similarity of its neighbours
    "far": 0.25,  # BM25 of the turns behind its neighbours
    "reply": 0.25,  # the turn before is a question
    "mine": 0.25,  # a person said it, not the assistant
    "wish": 0.25,  # a person says how things are always to be, or what they prefer
    "opens": 0.25,  # the first after a pause, among people the first two: there a person tells what is new
    "rare": 0.25,  # how many words it has that hardly any other turn has; a half where they were not counted
}
"""Features of a turn, each with the round weight that learning starts from."""

TalkKind = Literal["people", "assistant"]
TALK_KINDS: tuple[TalkKind, ...] = get_args(TalkKind)
"""Kinds of talk with weights of their own: of people who are named, and of one person with the assistant."""

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

MOST_ODDS = 30.0
"""Bound of odds, as their logarithm."""

FIXED_WEIGHTS = ("words",)
"""Weights that are not learned: the questions that ship avoid the words of their notes, as people do not."""


@lru_cache(4)
def turn_weights(kind: TalkKind, *, by_meaning: bool) -> Mapping[str, float]:
    """Return the weights for turns of a kind of talk that ship. by_meaning: where vectors are searched as well."""
    return _name(_load().get("turns" if by_meaning else "turns by words", {}).get(kind, {}), TURN_PRIOR)


@lru_cache(1)
def record_weights() -> Mapping[str, float]:
    """Return the weights for records that ship."""
    return _name(_load().get("records", {}), RECORD_PRIOR)


@lru_cache(1)
def _load() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("weights.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def _name(found: Mapping[str, float], prior: Mapping[str, float]) -> Mapping[str, float]:
    return {name: float(found.get(name, weight)) for name, weight in prior.items()}


# ── logistic regressions ─────────────────────────────────────────────────────────────────────────────────────────


def weigh(weights: Mapping[str, float], names: Sequence[str], values: Sequence[float]) -> float:
    """Estimate a probability by the weights of named features and of "always", in log-odds."""
    return probability(
        weights["always"] + sum(weights[name] * value for name, value in zip(names, values, strict=True))
    )


def probability(odds: float) -> float:
    """Convert the logarithm of odds to a probability."""
    return 1 / (1 + math.exp(-max(-MOST_ODDS, min(MOST_ODDS, odds))))
