"""What memory may be asked to do with something, and whether it does.

Parsing is strict: what is not exactly one of the known forms becomes the safe default, never an error. The taxonomy and
the bounds of eligibility are Engram's; what it denies or defers is never lost here, only kept with less standing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from kenobot.cognitive.policy.admit import AdmitPolicy

Action = Literal[
    "store_episode", "store_note", "update_note", "create_artifact", "summarize_node", "discard", "link_graph"
]
LifecycleStage = Literal["active", "validated", "candidate", "stale", "archived"]
Origin = Literal["extraction", "consolidation", "replay", "manual", "unknown"]
ActionVerdict = Literal["allow", "deny", "defer"]
Outcome = Literal["applied", "skipped", "failed"]

_ACTIONS = frozenset(get_args(Action))
_STATES = frozenset(get_args(LifecycleStage))
_ORIGINS = frozenset(get_args(Origin))
_RESTED = frozenset({"archived", "stale"})
_REVISING = frozenset({"update_note", "create_artifact", "link_graph"})
_PRIORS: Mapping[Outcome, float] = {"applied": 0.12, "skipped": -0.1, "failed": -0.3}
_LINK_PRIOR = 0.04
_DENIED_PRIOR = -0.22


@dataclass(frozen=True, slots=True)
class Eligibility:
    """On what an action is judged. confidence and importance are 0 to 1. The default is the safe one."""

    confidence: float = 0.0
    lifecycle_state: LifecycleStage = "candidate"
    importance: float = 0.0
    source: Origin = "unknown"


@dataclass(frozen=True, slots=True)
class ActionRuling:
    """Whether an action is allowed, and why, in a word that programs can count."""

    decision: ActionVerdict
    rationale: str


def parse_action(value: object) -> Action:
    """The action that `value` names; `discard` when it names none."""
    if isinstance(value, str) and value in _ACTIONS:
        return value  # type: ignore[return-value]
    return "discard"


def parse_eligibility(value: object) -> Eligibility:
    """The eligibility that `value` holds; the safe default when anything in it is missing, strange or out of range."""
    match value:
        case {"confidence": confidence, "lifecycle_state": state, "importance": importance, "source": source, **rest}:
            known = isinstance(state, str) and state in _STATES and isinstance(source, str) and source in _ORIGINS
            if not rest and known and _is_share(confidence) and _is_share(importance):
                return Eligibility(float(confidence), state, float(importance), source)
    return Eligibility()


def check_action(
    action: Action,
    eligibility: Eligibility,
    policy: AdmitPolicy,
    *,
    enabled: bool = True,
    tokens_an_hour: int | None = None,
) -> ActionRuling:
    """Whether `action` may be carried out. tokens_an_hour: what summaries may cost; None for no limit."""
    if not enabled:
        return ActionRuling("deny", "actions_disabled")
    if action == "summarize_node" and tokens_an_hour == 0:
        return ActionRuling("defer", "no_tokens_for_summaries")
    if action == "discard" and eligibility.importance >= policy.keep_from_importance:
        return ActionRuling("deny", "importance_too_high_for_discard")
    if eligibility.lifecycle_state in _RESTED and action in _REVISING:
        return ActionRuling("deny", f"lifecycle_state_{eligibility.lifecycle_state}_restricted")
    if action != "discard" and eligibility.source != "unknown" and eligibility.confidence < policy.defer_below:
        return ActionRuling("defer", "confidence_below_threshold")
    return ActionRuling("allow", "eligible")


def prior(action: Action, outcome: Outcome, *, denied: bool = False) -> float:
    """What the outcome of an action says about the record it was about, from -1 to 1: good ones speak for it."""
    if outcome == "skipped" and denied:
        return _DENIED_PRIOR
    if outcome == "applied" and action == "link_graph":
        return _LINK_PRIOR
    return _PRIORS[outcome]


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
