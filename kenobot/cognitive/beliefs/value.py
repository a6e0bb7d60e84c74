"""Compute heat, decay, tier value and strength of a record, each from 0 to 1, from one vector of features."""

import math
from collections.abc import Mapping
from datetime import datetime

from kenobot.cognitive.policy.beliefs import Feature, FeatureWeights, ValuePolicy
from kenobot.cognitive.store.feedback import NO_FEEDBACK, FeedbackCounts
from kenobot.language.calendar import parse_time
from kenobot.language.salience import salience_signs
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record

_DAY = 86_400.0
_GUESSED = frozenset({"extraction", "sleep"})
_PRIOR_HALF_LIFE = 0.023  # per day: recency is halved in thirty
DEFAULT = ValuePolicy()


@dataclass(frozen=True, slots=True)
class ValueFeatures:
    """Features of a record. shares: each feature, from 0 to 1.

    protected: exempt from decay. explicit: said by its owner outright. idle_days: since its last use.
    """

    shares: Mapping[Feature, float]
    protected: bool
    explicit: bool
    idle_days: float
    age_days: float

    def value(self, row: FeatureWeights) -> float:
        """Return what a row of weights makes of the features, from 0 to 1."""
        return clamp(sum(weight * self.shares[name] for name, weight in row.items()))


def features(
    record: Record, now: datetime, opinions: FeedbackCounts = NO_FEEDBACK, policy: ValuePolicy = DEFAULT
) -> ValueFeatures:
    """Return the features of a record at a moment. Times that cannot be read, or lie ahead, count as now."""
    idle = days_since(now, record.created, record.last_used, record.last_seen, record.confirmed)
    unsaid = days_since(now, record.created, record.last_seen, record.confirmed)
    shares: dict[Feature, float] = {
        "confidence": clamp(record.confidence),
        "access": clamp(math.log1p(max(0, record.use_count)) / math.log1p(policy.max_counted_uses)),
        "recency": clamp(1 - idle / policy.recency_days),  # time without use, on the scale of heat
        "importance": clamp(record.importance),
        "feedback": approval_ratio(opinions.approvals, opinions.objections),  # .5 without any
        "said": clamp(1 - unsaid / policy.said_days),  # days since a person said it
        "touched": clamp(1 - idle / policy.touched_days),  # time without use, on the scale of decay
        "stability": clamp(record.stability / policy.max_stability),
        "disputed": float(record.verification == "disputed"),
        "confirmed": float(record.verification == "user_confirmed"),
        "correction": float(record.category == "correction"),
    }
    shares["heat"] = clamp(sum(weight * shares[name] for name, weight in policy.heat_weights.items()))
    return ValueFeatures(
        shares=shares,
        protected=is_protected(record, policy),
        explicit=is_explicit(record, policy),
        idle_days=idle,
        age_days=days_since(now, record.created),
    )


def decay(known: ValueFeatures, policy: ValuePolicy = DEFAULT) -> float:
    """Return how far a record has gone to waste: 0 fresh, 1 gone."""
    return clamp(1 - known.value(policy.retention_weights))


@dataclass(frozen=True, slots=True)
class TierRouting:
    """Decision whether a record belongs to the hot tier. reason: a word that programs can count."""

    value: float
    hot: bool
    reason: str


def route_tier(known: ValueFeatures, hot: bool, policy: ValuePolicy = DEFAULT) -> TierRouting:
    """Decide the tier of a record: new ones stay, and between the limits nothing moves."""
    value = known.value(policy.tier_weights)
    if not hot:
        rises = value >= policy.promote_tier_from
        return TierRouting(value, rises, f"value_{'above' if rises else 'below'}_promotion_threshold")
    if known.age_days < policy.demote_days:
        return TierRouting(value, True, "demotion_min_age_not_met")
    sinks = value <= policy.demote_up_to
    return TierRouting(value, not sinks, f"value_{'below' if sinks else 'above'}_demotion_threshold")


def strength(record: Record, now: datetime, policy: ValuePolicy = DEFAULT) -> float:
    """Compute today's confidence: an unused fact fades by halves unless explicit, protected or consolidated."""
    if never_fades(record, policy):
        return clamp(record.confidence)
    idle = days_since(now, record.created, record.last_used, record.last_seen, record.confirmed)
    return effective_confidence(record.confidence, idle, record.stability, policy)


def effective_confidence(confidence: float, days: float, stability: float, policy: ValuePolicy = DEFAULT) -> float:
    """Compute a confidence after so many days of silence: halved every `half_life_days` times `stability`.

    Never raised.
    """
    stability = min(max(stability, 0.01), policy.max_stability) if math.isfinite(stability) else 1.0
    return clamp(clamp(confidence) * 0.5 ** (max(0.0, days) / (policy.half_life_days * stability)))


def recency_weight(days: float) -> float:
    """Return how much being recent counts when memories are ranked: 1 today, half of it in thirty days."""
    return clamp(math.exp(-_PRIOR_HALF_LIFE * max(0.0, days)))


def approval_ratio(ups: int, downs: int) -> float:
    """Return what experience says of a record: the share of good outcomes, one of each assumed before there is any."""
    ups, downs = max(0, ups), max(0, downs)
    return (ups + 1) / (ups + downs + 2)


def is_explicit(record: Record, policy: ValuePolicy = DEFAULT) -> bool:
    """Return whether its owner said it in so many words, so that it is no guess. A guest owns a scope of their own."""
    own = record.trust == "owner" or (record.trust == "guest" and record.scope.startswith("user:"))
    said = policy.explicit_from if record.source in _GUESSED else policy.ephemeral_below
    return own and record.verification != "disputed" and record.confidence >= said


def is_protected(record: Record, policy: ValuePolicy = DEFAULT) -> bool:
    """Return whether a record stays as it is however long nobody asks for it."""
    return (
        record.policy_class == "protected"
        or record.verification == "user_confirmed"
        or record.importance >= policy.protected_from_importance
    )


def is_consolidated(record: Record) -> bool:
    """Return whether it stands in MEMORY.md or a topic file, which it leaves by rules of their own, not by silence."""
    return record.tier == "core" or record.tier.startswith("ref:")


def never_fades(record: Record, policy: ValuePolicy = DEFAULT) -> bool:
    """Return whether silence takes nothing from a record, such as a promise, which ends when it is kept."""
    kept = is_explicit(record, policy) or is_protected(record, policy) or is_consolidated(record)
    kept = kept or record.category == "commitment"
    return kept or record.form not in ("note", "episode")


def has_faded(record: Record, now: datetime, policy: ValuePolicy = DEFAULT) -> bool:
    """Return whether a belief is too weak to be held any longer. What silence cannot weaken never is."""
    return not never_fades(record, policy) and strength(record, now, policy) < policy.faded_below


def days_since(now: datetime, *times: str | None) -> float:
    """Return days since the newest of `times`; 0 when there is none that can be read, or when it lies ahead."""
    newest: datetime | None = None
    for time in times:
        if time and (found := parse_time(time)) is not None and (newest is None or found > newest):
            newest = found
    return 0.0 if newest is None else max(0.0, (now - newest).total_seconds() / _DAY)


def clamp(value: float) -> float:
    """Return `value` between 0 and 1; what is no number is 0."""
    return value if 0.0 < value < 1.0 else 1.0 if value >= 1.0 else 0.0


def salience(text: str, policy: ValuePolicy = DEFAULT) -> float:
    """Return how much `text` stands out, from 0 to 1."""
    return clamp(sum(policy.salience_weights[name] for name in salience_signs(text)))


def is_salient(text: str, policy: ValuePolicy = DEFAULT) -> bool:
    """Return whether `text` stands out enough for MEMORY.md."""
    return salience(text, policy) >= policy.salient_from
