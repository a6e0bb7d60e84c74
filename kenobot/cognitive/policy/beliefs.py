"""Thresholds of a record's value, its lifecycle and its links."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from kenobot.ports.frozen import dataclass

Feature = Literal[
    "confidence", "access", "recency", "importance", "feedback", "said", "touched", "heat", "stability", "disputed",
    "confirmed", "correction",
]  # fmt: skip
"""One side of a record, from 0 to 1; `kenobot.cognitive.beliefs.value.features` says what each means."""

FeatureWeights = Mapping[Feature, float]
"""How much each feature counts; the sum over all of them is held between 0 and 1."""


@dataclass(frozen=True, slots=True)
class ValuePolicy:
    """Thresholds of a record's value and of its lifecycle. Values, confidences and shares are 0 to 1."""

    # How much a record is part of life now.
    heat_weights: FeatureWeights = field(
        default_factory=lambda: {
            "confidence": 0.25, "access": 0.3, "recency": 0.2, "importance": 0.15, "feedback": 0.1, "disputed": -0.2,
        }
    )  # fmt: skip
    # What holds decay off; decay is what is missing to 1.
    retention_weights: FeatureWeights = field(
        default_factory=lambda: {"said": 0.3, "touched": 0.25, "confidence": 0.2, "heat": 0.15, "feedback": 0.1}
    )
    # What a record is worth at hand.
    tier_weights: FeatureWeights = field(
        default_factory=lambda: {
            "confidence": 0.24, "access": 0.26, "recency": 0.2, "importance": 0.2, "feedback": 0.1, "correction": 0.08,
            "confirmed": 0.05, "disputed": -0.1,
        }
    )  # fmt: skip
    recency_days: float = 90.0  # without use until recency is 0
    said_days: float = 180.0  # until `said` is 0
    touched_days: float = 120.0  # until `touched` is 0
    half_life_days: float = 30.0  # of a belief of stability 1
    max_counted_uses: int = 20
    max_stability: float = 5.0
    promote_from_heat: float = 0.55  # heat
    stale_from_decay: float = 0.65  # decay
    archive_from_decay: float = 0.78  # decay
    archive_days: float = 180.0  # idle before a record is archived
    quiet_days: float = 30.0  # idle before a record is assessed
    faded_below: float = 0.05  # strength of a belief that is gone
    protected_from_importance: float = 0.9  # importance of records that never sink by themselves
    ephemeral_below: float = 0.4  # confidence of a guess that is not meant to last
    explicit_from: float = 0.95  # confidence from which an extracted fact counts as explicit
    protected_categories: frozenset[str] = frozenset({"commitment", "preference", "decision", "principle", "procedure"})
    demote_days: float = 14.0  # age
    demote_up_to: float = 0.35  # tier value
    promote_tier_from: float = 0.7  # tier value
    approval_gain: float = 0.1  # confidence
    objection_loss: float = 0.2  # confidence
    min_disputed_confidence: float = 0.1  # where objections stop
    reaction_hours: float = 24.0  # after a reply in which a reaction is about it
    used_from_share: float = 0.6  # share of a record's words in a reply that used it
    max_confirmed_by_yes: int = 4  # records; a no means one
    # What each sign in a text adds.
    salience_weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "error": 0.4, "success": 0.3, "correction": 0.5, "new": 0.3, "preference": 0.6, "lesson": 0.4,
        }
    )  # fmt: skip
    salient_from: float = 0.5  # sum of the weights of a salient text


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """Thresholds of growing, fading and following links. Confidences and weights are 0 to 1."""

    growth_per_repeat: float = 0.05  # confidence gained by a repeat
    # Confidence of a new link, 1 for other types; only these fade.
    first_confidence: Mapping[str, float] = field(
        default_factory=lambda: {"related": 0.6, "entity": 0.7, "time": 0.4, "causal": 0.6, "trace": 0.5}
    )
    grace_days: float = 90.0  # without a repeat before a link fades, and between two losses
    loss_per_period: float = 0.1  # confidence lost each time
    min_confidence: float = 0.1  # where fading stops
    follow_from: float = 0.2  # confidence of links that are followed
    # How well links of a type carry activation; others are not followed.
    weight_by_type: Mapping[str, float] = field(
        default_factory=lambda: {
            "related": 1.0, "entity": 1.0, "causal": 1.0, "supports": 1.0, "derived": 0.8, "time": 0.6, "trace": 0.6,
            "member": 0.5,
        }
    )  # fmt: skip
    step_decay: float = 0.7  # activation left after each step
    max_steps: int = 3  # from a start
    read: int = 16  # rows read on each side of a record
    fan_out: int = 8  # links followed from one record
    frontier: int = 10  # records that a step starts from
    iterations: int = 8  # of PageRank
    damping: float = 0.85  # of PageRank
    inhibition: float = 0.15  # activation taken from weaker rivals
    rivals: int = 7  # strongest records that inhibit others
    blend: float = 0.65  # share of the activation in a neighbour's score
    least_blend: float = 0.05
    most_blend: float = 0.95
    links_per_type: int = 3  # that a new record gets
    window_minutes: float = 30.0  # between records that are linked by time
