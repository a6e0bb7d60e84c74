"""How sure a link is: it grows with each repeat and fades with silence.

Fading is worked out when a link is read, from the time of its last repeat, so it needs no nightly job and costs nothing
while nobody looks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from kenobot.cognitive.beliefs.value import clamp
from kenobot.cognitive.policy.graph import GraphPolicy

DEFAULT = GraphPolicy()


@dataclass(frozen=True, slots=True)
class DecayedConfidence:
    """What is left of a link's confidence, and how many days of silence that accounts for."""

    confidence: float
    days: float


def stored_confidence(confidence: float | None) -> float:
    """A link's confidence as it was written; one that was written without any is sure."""
    return 1.0 if confidence is None else clamp(confidence)


def raised_confidence(confidence: float | None, growth: float) -> float:
    """Confidence after a repeat: never less than before, at most 1."""
    return min(1.0, stored_confidence(confidence) + max(0.0, growth))


def decayed_confidence(confidence: float | None, days: float, policy: GraphPolicy = DEFAULT) -> DecayedConfidence:
    """Confidence after `days` of silence: nothing happens for a grace period, then it sinks by steps down to a floor.

    A link that is already below the floor stays where it is.
    """
    sure, window = stored_confidence(confidence), policy.grace_days
    steps = max(0, math.ceil(days / window) - 1) if window > 0 and math.isfinite(days) else 0
    lowest = min(sure, clamp(policy.min_confidence))
    return DecayedConfidence(max(lowest, sure - steps * max(0.0, policy.loss_per_period)), steps * window)


def decay_function(type_: str, policy: GraphPolicy = DEFAULT) -> Callable[[float, float], float]:
    """How links of a type fade, as a function of confidence and days: what is not observed but decided does not."""
    if type_ not in policy.first_confidence:
        return lambda confidence, _: stored_confidence(confidence)
    return lambda confidence, days: decayed_confidence(confidence, days, policy).confidence
