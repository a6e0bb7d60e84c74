"""What the figures of a night say about how memory is doing. Pure; the rules and their wording are the seed's."""

from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.policy.proposals import ProposalPolicy

Priority = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class NightStatistics:
    """What a night came to: entries it looked at, facts and patterns it took from them, errors it found and lessons it
    drew, scratchpads that expired, patterns that were dropped.
    """

    episodes: int = 0
    facts: int = 0
    patterns: int = 0
    errors: int = 0
    lessons: int = 0
    expired_scratchpads: int = 0
    patterns_pruned: int = 0


@dataclass(frozen=True, slots=True)
class Advice:
    """name: tells it from other advice. observation: what is so; suggestion: what could be done; evidence: why."""

    name: str
    observation: str
    suggestion: str
    evidence: str
    priority: Priority


@dataclass(frozen=True, slots=True)
class Adjustment:
    """kind: tells it from others."""

    kind: str
    suggestion: str
    insight: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """insights: what stands out. adjustments: what could be changed, each with the insight that it follows from."""

    insights: tuple[str, ...]
    adjustments: tuple[Adjustment, ...]


def advise(figures: NightStatistics, policy: ProposalPolicy) -> list[Advice]:
    """What could be done, given the figures of a night."""
    found = []
    if figures.episodes > policy.episodes_without_pattern and not figures.patterns:
        found.append(
            Advice(
                "no-patterns",
                f"{figures.episodes} episodes processed but 0 patterns extracted",
                "Consider adding more specific memory tags to conversations so patterns can be detected",
                f"Consolidation processed {figures.episodes} episodes",
                "medium",
            )
        )
    if figures.expired_scratchpads > policy.expired_scratchpads:
        found.append(
            Advice(
                "abandoned",
                f"{figures.expired_scratchpads} stale working memory sessions deleted",
                "Many sessions are being abandoned — check if the stale threshold is appropriate or if sessions need "
                "better lifecycle management",
                f"Memory pruner deleted {figures.expired_scratchpads} sessions",
                "low",
            )
        )
    if figures.patterns_pruned > policy.patterns_pruned:
        found.append(
            Advice(
                "patterns-pruned",
                f"{figures.patterns_pruned} procedural patterns were pruned due to low confidence",
                "Pattern extraction may be too aggressive — consider raising the confidence threshold for new patterns",
                f"Memory pruner removed {figures.patterns_pruned} unused low-confidence patterns",
                "medium",
            )
        )
    if not (figures.episodes or figures.errors or figures.expired_scratchpads):  # what patterns lose is no sign of life
        found.append(
            Advice(
                "idle",
                "Sleep cycle found nothing to process",
                "System appears idle — verify that memory is being recorded during conversations",
                "All sleep cycle phases returned zero counts",
                "low",
            )
        )
    return found


def reflect(figures: NightStatistics, policy: ProposalPolicy) -> Reflection:
    """What the figures of a night say of learning as a whole."""
    found: list[Adjustment] = []
    if figures.errors and not figures.lessons:
        found.append(
            Adjustment(
                "error_handling",
                "Improve error message formatting to enable lesson extraction",
                "Errors occurred but no lessons were extracted — error messages may not be descriptive enough",
            )
        )
    if figures.episodes and (figures.facts + figures.patterns) / figures.episodes < policy.few_results:
        found.append(
            Adjustment(
                "memory_tagging",
                "Consider encouraging more specific memory tags in conversations",
                "Consolidation effectiveness is low — most episodes are not producing facts or patterns",
            )
        )
    if figures.patterns_pruned > figures.patterns:
        found.append(
            Adjustment(
                "pattern_quality",
                "Increase initial confidence threshold for new patterns",
                "More patterns pruned than added — learning and retention are not balanced",
            )
        )
    much = f"High learning rate: {figures.facts} new facts from {figures.episodes} episodes"
    insights = [much] if figures.facts > policy.many_facts else []
    return Reflection((*insights, *(each.insight for each in found)), tuple(found))
