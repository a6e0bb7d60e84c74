"""The X-ray of a miss: of each unit that answers a question, which stage of recall lost it."""

from dataclasses import dataclass
from typing import Literal

from kenobot.ports.recall import SourceKind
from kenobot_evals.recall.datasets import Question
from kenobot_evals.recall.eval_home import EvalHome, RecallAnswer

MissStage = Literal["not kept", "no candidate", "filtered", "outscored", "not packed"]
"""Memory did not take it in; nothing led to it; it may not be shown; others were better; there was no room."""


@dataclass(frozen=True, slots=True)
class MissedPassage:
    """An answering unit that was lost, and where. why: in a few words, with its features as far as it came to that."""

    unit: str
    stage: MissStage
    why: str


def explain_misses(place: EvalHome, question: Question, answer: RecallAnswer, depth: int) -> tuple[MissedPassage, ...]:
    """Find the stage that lost each answering unit that is not among the first `depth`."""
    shown = set(answer.ranking[:depth])
    units: dict[str, tuple[SourceKind, int]] = {key: ("record", number) for number, key in place.record_keys.items()}
    units |= {key: ("turn", number) for number, key in place.turn_keys.items()}
    return tuple(
        _find_loss(key, answer, *units[key])
        if key in units
        else MissedPassage(key, "not kept", place.rejected.get(key, "it is not in the data"))
        for key in question.gold
        if key not in shown
    )


def _find_loss(key: str, answer: RecallAnswer, kind: SourceKind, number: int) -> MissedPassage:
    trace = answer.trace
    seen = trace.ranked.get((kind, number))
    if (reason := trace.dropped.get((kind, number))) is not None and reason != "no room":
        return MissedPassage(key, "filtered", reason)
    if seen is None:
        unsearched = kind == "turn" and not trace.turns_searched
        why = "turns were not looked for: a memory was strong enough" if unsearched else "nothing"
        return MissedPassage(key, "no candidate", why)
    shown = len(answer.pack.excerpts if kind == "turn" else answer.pack.memories)
    stage: MissStage = "outscored" if seen.rank > shown else "not packed"
    return MissedPassage(key, stage, f"place {seen.rank}: {seen.summary}")
