"""Numbers of what a record is worth, and of when that moves it from one state to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Feature = Literal[
    "confidence",
    "access",
    "recency",
    "importance",
    "feedback",
    "said",
    "touched",
    "heat",
    "stability",
    "disputed",
    "confirmed",
    "correction",
]
"""One side of a record, from 0 to 1; `kenobot.cognitive.beliefs.value.ValueFeatures` says what each means."""

FeatureWeights = Mapping[Feature, float]
"""How much each feature counts; the sum over all of them is held between 0 and 1."""


@dataclass(frozen=True, slots=True)
class ValuePolicy:
    """Numbers are the seeds' where a seed has one.

    heat_weights: how much a record is part of life now. retention_weights: what holds decay off; decay is what is
    missing to 1. tier_weights: what
    a record is worth having at hand. *_days: after so long without it the feature is 0; half_life_days is that of a
    belief of stability 1. max_counted_uses: as often used as counts at all; max_stability: as far as stability goes.
    promote_from_heat: heat from which a record rises. stale_from_decay, archive_from_decay: decay from which it
    sinks; quiet_days, archive_days: idle
    for at least so long before it is looked at, and before it leaves the hot tree. faded_below: strength below which a
    belief is gone. protected_from_importance: importance from which nothing sinks by itself. ephemeral_below:
    confidence below which a
    record is a guess that is not meant to last; explicit_from: from which what was read out of a talk counts as said
    in so many words.
    demote_days, demote_up_to, promote_tier_from: age and value that move a record between the tiers.
    approval_gain, objection_loss: what the person's word changes in confidence; min_disputed_confidence: as low as an
    objection brings it. reaction_hours: how long after a reply a reaction can mean it. used_from_share: share of a
    record's words that a reply has used when it used the record. max_confirmed_by_yes: how many records one yes can
    mean; a no means one. salience_weights: what each sign in a text adds; salient_from: what stands out.
    """

    heat_weights: FeatureWeights = field(
        default_factory=lambda: {
            "confidence": 0.25,
            "access": 0.3,
            "recency": 0.2,
            "importance": 0.15,
            "feedback": 0.1,
            "disputed": -0.2,
        }
    )
    retention_weights: FeatureWeights = field(
        default_factory=lambda: {"said": 0.3, "touched": 0.25, "confidence": 0.2, "heat": 0.15, "feedback": 0.1}
    )
    tier_weights: FeatureWeights = field(
        default_factory=lambda: {
            "confidence": 0.24,
            "access": 0.26,
            "recency": 0.2,
            "importance": 0.2,
            "feedback": 0.1,
            "correction": 0.08,
            "confirmed": 0.05,
            "disputed": -0.1,
        }
    )
    recency_days: float = 90.0
    said_days: float = 180.0
    touched_days: float = 120.0
    half_life_days: float = 30.0
    max_counted_uses: int = 20
    max_stability: float = 5.0
    promote_from_heat: float = 0.55
    stale_from_decay: float = 0.65
    archive_from_decay: float = 0.78
    archive_days: float = 180.0
    quiet_days: float = 30.0
    faded_below: float = 0.05
    protected_from_importance: float = 0.9
    ephemeral_below: float = 0.4
    explicit_from: float = 0.95
    protected_categories: frozenset[str] = frozenset({"commitment", "preference", "decision", "principle", "procedure"})
    demote_days: float = 14.0
    demote_up_to: float = 0.35
    promote_tier_from: float = 0.7
    approval_gain: float = 0.1
    objection_loss: float = 0.2
    min_disputed_confidence: float = 0.1
    reaction_hours: float = 24.0
    used_from_share: float = 0.6
    max_confirmed_by_yes: int = 4
    salience_weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "error": 0.4,
            "success": 0.3,
            "correction": 0.5,
            "new": 0.3,
            "preference": 0.6,
            "lesson": 0.4,
        }
    )
    salient_from: float = 0.5
