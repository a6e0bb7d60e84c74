"""Advise on memory from the figures of a night. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.policy.sleep import ProposalPolicy

Priority = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class NightStatistics:
    """What a night read and did. episodes: records it read. patterns_pruned: patterns that expired."""

    episodes: int = 0
    facts: int = 0
    patterns: int = 0
    errors: int = 0
    lessons: int = 0
    expired_scratchpads: int = 0
    patterns_pruned: int = 0


@dataclass(frozen=True, slots=True)
class Advice:
    """An observation and what could be done about it. name: identifies it."""

    name: str
    observation: str
    suggestion: str
    evidence: str
    priority: Priority


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change that follows from an insight. kind: identifies it."""

    kind: str
    suggestion: str
    insight: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """The insights of a night, and the adjustments that follow from them."""

    insights: tuple[str, ...]
    adjustments: tuple[Adjustment, ...]


def advise(figures: NightStatistics, policy: ProposalPolicy) -> list[Advice]:
    """Advise on the figures of a night."""
    return list(_advice(figures, policy))


def _advice(figures: NightStatistics, policy: ProposalPolicy) -> Iterator[Advice]:
    if figures.episodes > policy.episodes_without_pattern and not figures.patterns:
        yield Advice(
            "no-patterns",
            f"{figures.episodes} episodes processed but 0 patterns extracted",
            "Consider adding more specific memory tags to conversations so patterns can be detected",
            f"Consolidation processed {figures.episodes} episodes",
            "medium",
        )
    if figures.expired_scratchpads > policy.expired_scratchpads:
        yield Advice(
            "abandoned",
            f"{figures.expired_scratchpads} stale working memory sessions deleted",
            "Many sessions are being abandoned — check if the stale threshold is appropriate or if sessions need "
            "better lifecycle management",
            f"Memory pruner deleted {figures.expired_scratchpads} sessions",
            "low",
        )
    if figures.patterns_pruned > policy.patterns_pruned:
        yield Advice(
            "patterns-pruned",
            f"{figures.patterns_pruned} procedural patterns were pruned due to low confidence",
            "Pattern extraction may be too aggressive — consider raising the confidence threshold for new patterns",
            f"Memory pruner removed {figures.patterns_pruned} unused low-confidence patterns",
            "medium",
        )
    if not (figures.episodes or figures.errors or figures.expired_scratchpads):  # what patterns lose is no sign of life
        yield Advice(
            "idle",
            "Sleep cycle found nothing to process",
            "System appears idle — verify that memory is being recorded during conversations",
            "All sleep cycle phases returned zero counts",
            "low",
        )


def reflect(figures: NightStatistics, policy: ProposalPolicy) -> Reflection:
    """Reflect on what the figures of a night say of learning as a whole."""
    learned = figures.facts + figures.patterns
    adjustments = []
    if figures.errors and not figures.lessons:
        suggestion = "Improve error message formatting to enable lesson extraction"
        insight = "Errors occurred but no lessons were extracted — error messages may not be descriptive enough"
        adjustments.append(Adjustment("error_handling", suggestion, insight))
    if figures.episodes and learned / figures.episodes < policy.few_results:
        suggestion = "Consider encouraging more specific memory tags in conversations"
        insight = "Consolidation effectiveness is low — most episodes are not producing facts or patterns"
        adjustments.append(Adjustment("memory_tagging", suggestion, insight))
    if figures.patterns_pruned > figures.patterns:
        suggestion = "Increase initial confidence threshold for new patterns"
        insight = "More patterns pruned than added — learning and retention are not balanced"
        adjustments.append(Adjustment("pattern_quality", suggestion, insight))
    rate = f"High learning rate: {figures.facts} new facts from {figures.episodes} episodes"
    insights = [rate] if figures.facts > policy.many_facts else []
    return Reflection((*insights, *(each.insight for each in adjustments)), tuple(adjustments))
