"""Choose what is worth most for the tokens there are, and say how sure the answer is."""

from collections.abc import Sequence
from typing import TypeVar

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.results.memory import ConfidenceLevel

T = TypeVar("T")

_LEVELS: tuple[ConfidenceLevel, ...] = ("none", "low", "medium", "high")
_STEPS = 128


def confidence_level(score: float, policy: RecallPolicy) -> ConfidenceLevel:
    """How sure it is that what was asked for is among what was found."""
    if score <= 0:
        return "none"
    return "low" if score < policy.low_up_to else "medium" if score < policy.high_from else "high"


def answer_level(likely: float, said: float, policy: RecallPolicy) -> ConfidenceLevel:
    """The same of a question. likely: that a memory answers it. said: relevance of the best turn that is quoted."""
    found: ConfidenceLevel = "none"
    if likely >= policy.none_below:
        found = "low" if likely < policy.low_below else "medium" if likely < policy.medium_below else "high"
    return max(found, confidence_level(said, policy), key=_LEVELS.index)


def choose_most_valuable(items: Sequence[tuple[T, float, int]], room: int) -> list[T]:
    """Of `items`, each with its value and tokens, those that are worth most together and fit. Their order stays.

    Tokens are counted in steps, rounded up, so that a large budget costs no more work than a small one.
    """
    fitting = [item for item in items if item[2] <= room]
    if sum(item[2] for item in fitting) <= room:
        return [item[0] for item in fitting]
    step = max(1, room // _STEPS)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (room // step + 1)
    for at, (_, worth, tokens) in enumerate(fitting):
        cost = -(-tokens // step)
        for left in range(len(best) - 1, cost - 1, -1):
            before = best[left - cost]
            if before[0] + worth > best[left][0]:
                best[left] = (before[0] + worth, (*before[1], at))
    return [fitting[at][0] for at in best[-1][1]]
