"""What became of what was noted teaches what to note: a few lines that the extraction prompt carries.

Counted are decisions and what followed: noted things that served, were taken back, were known already or could not be
kept. Only figures by kind get into the lines, never anybody's words, so that they may be shown whoever speaks. They
fill a slot, whose earlier versions stay in its history.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from kenobot.cognitive.policy.pruning import PruningPolicy
from kenobot.cognitive.remember.extract.known_memories import GUIDELINES
from kenobot.cognitive.remember.extract.parse_facts import Category
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.upkeep_rows import ExtractionOutcome
from kenobot.cognitive.store import records
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate


@dataclass(frozen=True, slots=True)
class ActionBias:
    """What experience says of doing a thing: how much more or less of it, from -`step` to `step`, and how surely."""

    action: str
    delta: float
    direction: Literal["increase", "hold", "decrease"]
    confidence: Literal["low", "medium", "high"]


def action_bias(action: str, good: int, bad: int, policy: PruningPolicy) -> ActionBias:
    """Weigh outcomes: all good leans as far as it may, as many good as bad not at all. Pure."""
    judged = good + bad
    delta = round(policy.max_lean * (good - bad) / judged, 6) if judged else 0.0
    sure: Literal["low", "medium", "high"] = "low"
    if judged >= policy.min_decisions:
        sure = "high" if judged >= policy.sure_from_decisions else "medium"
    if abs(delta) < policy.ignore_lean_below:
        return ActionBias(action, 0.0, "hold", sure)
    return ActionBias(action, delta, "increase" if delta > 0 else "decrease", sure)


def guideline_lines(fates: Iterable[ExtractionOutcome], decisions: dict[str, int], policy: PruningPolicy) -> list[str]:
    """The guidelines that follow from what became of what was noted. Coarse, so that few nights change them."""
    found: list[str] = []
    known = frozenset(get_args(Category))
    for fate in fates:
        if fate.category not in known:
            continue
        lean = action_bias(fate.category, fate.useful, fate.retracted, policy)
        if lean.confidence == "low" or lean.direction == "hold":
            continue
        if lean.direction == "increase":
            found.append(f"{fate.category}: most of what you noted of this kind served later. Go on noting it.")
        else:
            found.append(
                f"{fate.category}: most of what you noted of this kind was taken back. Note it only when it was said "
                "outright, and with lower confidence."
            )
    judged = sum(decisions.values())
    if judged >= policy.sure_from_decisions:
        repeats, refused = decisions.get("reinforced", 0), decisions.get("refused", 0)
        if 2 * repeats > judged:
            found.append("Most of what you propose is known already: look harder for what is new.")
        if 10 * refused > judged:
            found.append("Much of what you propose is refused because it holds secrets: leave those out.")
    return found


def plan(view: NightView) -> Iterator[Change]:
    """Write the guidelines anew when experience says something else."""
    policy = view.policy.pruning
    since = view.now - timedelta(days=policy.telemetry_days)
    fates = upkeep_rows.extraction_outcomes(view.connection, since, view.now)
    found = guideline_lines(fates, upkeep_rows.count_extraction_decisions(view.connection, since, view.now), policy)
    text = _fitted(found, policy.guideline_chars)
    known = records.slot_record(view.connection, OWNER_SCOPE, "profile", GUIDELINES)
    if not text or (known is not None and known.text == text):
        return
    version = int(known.attributes.get("version", "0")) + 1 if known is not None else 1
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
    reason = f"version {version}, from what became of what was noted in the last {policy.telemetry_days:.0f} days"
    yield Change("learned", reason, (AdmitRecord(candidate),), known.id if known is not None else None)


def _fitted(found: Sequence[str], most: int) -> str:
    """As many whole lines as fit."""
    kept: list[str] = []
    for line in found:
        if sum(len(each) + 3 for each in kept) + len(line) + 2 > most:
            break
        kept.append(line)
    return "\n".join(f"- {line}" for line in kept)


PASS = Pass("guidelines", "consolidate", "learns from what became of what was noted what to note", plan)
