"""The X-ray of a miss: of each unit that answers a question, which stage of recall lost it."""

from dataclasses import dataclass
from typing import Literal

from kenobot.evals.recall.datasets import Question
from kenobot.evals.recall.place import Answer, Place

Stage = Literal["not kept", "no candidate", "filtered", "outscored", "not packed"]
"""Memory did not take it in; nothing led to it; it may not be shown; others were better; there was no room."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where an answering unit was lost. why: in a few words, with its features as far as it came to that."""

    unit: str
    stage: Stage
    why: str


def explain(place: Place, question: Question, answer: Answer, depth: int) -> tuple[Verdict, ...]:
    """Of each answering unit that is not among the first `depth`, the stage that lost it."""
    shown = set(answer.ranking[:depth])
    records = {key: number for number, key in place.of_record.items()}
    turns = {key: number for number, key in place.of_turn.items()}
    found: list[Verdict] = []
    for key in question.gold:
        if key in shown:
            continue
        if key in turns:
            found.append(_lost(key, answer, "turn", turns[key]))
        elif key in records:
            found.append(_lost(key, answer, "record", records[key]))
        else:
            found.append(Verdict(key, "not kept", place.lost.get(key, "it is not in the data")))
    return tuple(found)


def _lost(key: str, answer: Answer, kind: Literal["turn", "record"], number: int) -> Verdict:
    trace = answer.trace
    seen = trace.seen.get((kind, number))
    if (reason := trace.dropped.get((kind, number))) is not None and reason != "no room":
        return Verdict(key, "filtered", reason)
    if seen is None:
        why = (
            "turns were not looked for: a memory was strong enough" if kind == "turn" and not trace.turns else "nothing"
        )
        return Verdict(key, "no candidate", why)
    shown = len(answer.pack.excerpts if kind == "turn" else answer.pack.memories)
    stage: Stage = "outscored" if seen.place > shown else "not packed"
    return Verdict(key, stage, f"place {seen.place}: {seen.told}")
