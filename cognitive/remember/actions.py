"""Decide whether memory carries out a proposed action. What is denied or deferred is kept with less standing."""

from dataclasses import dataclass
from typing import Literal, get_args

from kenobot.cognitive.beliefs.lifecycle import LifecycleStage
from kenobot.cognitive.policy.remember import AdmitPolicy

Action = Literal[
    "store_episode", "store_note", "update_note", "create_artifact", "summarize_node", "discard", "link_graph"
]
Origin = Literal["extraction", "consolidation", "replay", "manual", "unknown"]
ActionVerdict = Literal["allow", "deny", "defer"]

_ACTIONS = frozenset(get_args(Action))
_RESTED = frozenset({"archived", "stale"})
_REVISING = frozenset({"update_note", "create_artifact", "link_graph"})


@dataclass(frozen=True, slots=True)
class Eligibility:
    """What an action is decided on. confidence, importance: 0 to 1."""

    confidence: float = 0.0
    lifecycle_state: LifecycleStage = "candidate"
    importance: float = 0.0
    source: Origin = "unknown"


@dataclass(frozen=True, slots=True)
class ActionRuling:
    """A verdict on an action and its reason, as a word that programs can count."""

    decision: ActionVerdict
    rationale: str


def parse_action(value: object) -> Action:
    """Return the action that `value` names; `discard` when it names none."""
    if isinstance(value, str) and value in _ACTIONS:
        return value  # type: ignore[return-value]
    return "discard"


def check_action(action: Action, eligibility: Eligibility, policy: AdmitPolicy) -> ActionRuling:
    """Decide whether `action` may be carried out."""
    if action == "discard" and eligibility.importance >= policy.keep_from_importance:
        return ActionRuling("deny", "importance_too_high_for_discard")
    if eligibility.lifecycle_state in _RESTED and action in _REVISING:
        return ActionRuling("deny", f"lifecycle_state_{eligibility.lifecycle_state}_restricted")
    if action != "discard" and eligibility.source != "unknown" and eligibility.confidence < policy.defer_below:
        return ActionRuling("defer", "confidence_below_threshold")
    return ActionRuling("allow", "eligible")
