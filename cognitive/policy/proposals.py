"""When something is worth a proposal."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProposalPolicy:
    """episodes_without_pattern: looked at in a night without a pattern among them. expired_scratchpads: scratchpads
    that expired in a night.
    patterns_pruned: in a night. many_facts, few_results: what counts as much learned, and as little of what was said.

    days: how far back is looked. errors, corrections, violations: repeats of one kind that are worth a rule.
    replies, share: graded replies that are enough to tell, and the share of them with one flaw that is worth a word.
    searches: recalls that are enough to tell. gaps: things that summaries lost. max_pending: proposals that may wait;
    while so many do, no further ones are made.
    """

    episodes_without_pattern: int = 10
    expired_scratchpads: int = 5
    patterns_pruned: int = 3
    many_facts: int = 5
    few_results: float = 0.1
    days: int = 30
    errors: int = 3
    corrections: int = 3
    violations: int = 3
    replies: int = 20
    share: float = 0.3
    searches: int = 20
    gaps: int = 20
    max_pending: int = 20
