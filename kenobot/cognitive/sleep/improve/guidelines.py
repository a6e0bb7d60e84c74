"""Learn guidelines for extraction from what became of extracted records: a few lines in the extraction prompt.

Counted are records that served or were taken back, and candidates that were kept, known or refused. Only figures by
category get into the lines, never people's words, so they may be shown in every chat. Earlier versions stay in the
history.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Literal, get_args

from kenobot.cognitive.policy.sleep import PruningPolicy
from kenobot.cognitive.remember.extract.known_memories import GUIDELINES
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.pass_rows import ExtractionOutcome
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import records
from kenobot.language.facts.parse_facts import Category
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.ports.sentences import Sentence

_ADVICE = {
    "increase": "served later. Go on noting it.",
    "decrease": "was taken back. Note it only when it was said outright, and with lower confidence.",
}

# The decisions about extraction's candidates, as action, outcome and verdict.
_DECIDED: Mapping[str, tuple[str, str, str]] = {
    "created": ("store_note", "applied", "allow"),
    "replaced": ("update_note", "applied", "allow"),
    "reinforced": ("store_note", "skipped", "allow"),
    "discarded": ("store_note", "skipped", "deny"),
    "refused": ("store_note", "skipped", "deny"),
}


@dataclass(frozen=True, slots=True)
class ActionBias:
    """Bias of experience for or against an action, and its certainty."""

    delta: float
    direction: Literal["increase", "hold", "decrease"]
    confidence: Literal["low", "medium", "high"]


def action_bias(good: int, bad: int, policy: PruningPolicy) -> ActionBias:
    """Weigh outcomes: all good give the largest bias, as many good as bad none. Pure."""
    judged = good + bad
    delta = round(policy.max_lean * (good - bad) / judged, 6) if judged else 0.0
    sure: Literal["low", "medium", "high"] = "high" if judged >= policy.sure_from_decisions else "medium"
    if judged < policy.min_decisions:
        sure = "low"
    if abs(delta) < policy.ignore_lean_below:
        return ActionBias(0.0, "hold", sure)
    return ActionBias(delta, "increase" if delta > 0 else "decrease", sure)


def outcome_prior(action: str, outcome: str, verdict: str, policy: PruningPolicy) -> float:
    """Weigh one outcome of an action, from -1 to 1: a failure first, then the verdict; 0 for an unknown one."""
    weights = policy.outcome_priors
    if outcome == "failed" or verdict not in ("deny", "defer"):
        return weights.get(action if outcome == "applied" else outcome, 0.0)
    return weights[verdict]


def _mean_prior(decisions: Mapping[str, int], policy: PruningPolicy) -> float:
    """Average what the decisions about proposals say about proposing."""
    judged = sum(decisions[kind] for kind in _DECIDED if kind in decisions)
    weighed = sum(decisions.get(kind, 0) * outcome_prior(*told, policy) for kind, told in _DECIDED.items())
    return weighed / judged if judged else 0.0


def guideline_lines(
    outcomes: Iterable[ExtractionOutcome], decisions: Mapping[str, int], policy: PruningPolicy
) -> list[str]:
    """Word the guidelines that follow from outcomes. Coarse, so that few nights change them."""
    lines: list[str] = []
    for outcome in outcomes:
        bias = action_bias(outcome.useful, outcome.retracted, policy)
        if outcome.category in get_args(Category) and bias.confidence != "low" and bias.direction != "hold":
            lines.append(f"{outcome.category}: most of what you noted of this kind {_ADVICE[bias.direction]}")
    judged = sum(decisions.values())
    if judged >= policy.sure_from_decisions:
        before = len(lines)
        repeats, refused = decisions.get("reinforced", 0), decisions.get("refused", 0)
        if 2 * repeats > judged:
            lines.append("Most of what you propose is known already: look harder for what is new.")
        if 10 * refused > judged:
            lines.append("Much of what you propose is refused because it holds secrets: leave those out.")
        if len(lines) == before and _mean_prior(decisions, policy) < 0:
            lines.append("Much of what you propose is not kept: propose what was said outright and still holds.")
    return lines


def plan(view: NightView) -> Iterator[Change]:
    """Write the guidelines anew when experience says something else."""
    policy = view.policy.pruning
    since = view.now - timedelta(days=policy.telemetry_days)
    outcomes = pass_rows.extraction_outcomes(view.connection, since, view.now)
    decisions = pass_rows.count_extraction_decisions(view.connection, since, view.now)
    lines = [f"- {line}" for line in guideline_lines(outcomes, decisions, policy)]
    while len(text := "\n".join(lines)) > policy.guideline_chars:
        lines.pop()
    current = records.slot_record(view.connection, OWNER_SCOPE, "profile", GUIDELINES)
    if not text or (current is not None and current.text == text):
        return
    version = int(current.attribute_map.get("version", "0")) + 1 if current is not None else 1
    candidate = Candidate(
        "profile",
        OWNER_SCOPE,
        text,
        category="guideline",
        source="sleep",
        trust="model",
        slot=GUIDELINES,
        attributes=(("version", str(version)),),
    )
    reason = Sentence("reasons.guidelines", version=version, days=policy.telemetry_days)
    yield Change("learned", reason, (AdmitRecord(candidate),), current.id if current is not None else None)


PASS = Pass("guidelines", "consolidate", "learns from what became of what was noted what to note", plan)
