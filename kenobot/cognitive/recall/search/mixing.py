"""Put memories and turns into one order, by how likely each holds what the message asks for.

How likely it is among the memories at all, and how likely among the turns, is a logistic regression over the best of
each kind (`mixing.json`, made by `python -m bench.learn_mixing`); within a kind it falls with the place.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from functools import lru_cache
from importlib import resources

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.results.trace import MixFeatures
from kenobot.cognitive.recall.scoring.weights import weigh
from kenobot.ports.recall import ItemKey

_FIRST_TURNS = 8  # among which the best is looked for


FEATURE_NAMES = tuple(each.name for each in fields(MixFeatures))


def mix_features(memories: Sequence[RecalledMemory], excerpts: Sequence[Excerpt]) -> MixFeatures:
    """Extract the features of what may be shown, each kind best first.

    A turn that is not quoted - it was corrected since, or only asks the same - is no likelier answer than a memory.
    """
    first = excerpts[:_FIRST_TURNS]
    return MixFeatures(
        max((each.relevance_parts.get("meaning", 0.0) for each in memories), default=0.0),
        max((each.near or 0.0 for each in first), default=0.0),
        max((each.relevance for each in memories), default=0.0),
        max((each.relevance for each in first), default=0.0),
    )


def memory_share(features: MixFeatures) -> float:
    """Estimate the probability that a memory holds the answer, where either a memory or a turn does."""
    by = load_weights()["vectors" if features.turn_near or features.note_near else "words"]
    return weigh(by, FEATURE_NAMES, astuple(features))


def in_one_order(
    memories: Sequence[int], turns: Sequence[int], share: float, policy: RecallPolicy
) -> list[tuple[ItemKey, float]]:
    """Order records and messages, each kind best first, by their value: the probability of an answer in each."""
    found: list[tuple[ItemKey, float]] = []
    for place, number in enumerate(memories, 1):
        found.append((("record", number), share / place**policy.memory_falloff))
    for place, number in enumerate(turns, 1):
        found.append((("turn", number), (1 - share) / place**policy.turn_falloff))
    return sorted(found, key=lambda each: -each[1])


@lru_cache(1)
def load_weights() -> Mapping[str, Mapping[str, float]]:
    """Read the weights of each feature and of "always", in log-odds, with vectors and by words alone."""
    text = resources.files(__package__).joinpath("mixing.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, float]] = json.loads(text)["weights"]
    return found
