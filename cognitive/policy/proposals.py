"""Thresholds of making a proposal to the owner."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProposalPolicy:
    """Thresholds of making a proposal to the owner."""

    episodes_without_pattern: int = 10  # read in a night without a pattern among them
    expired_scratchpads: int = 5  # in a night
    patterns_pruned: int = 3  # in a night
    many_facts: int = 5  # learned facts that count as much
    few_results: float = 0.1  # share of them in replies that counts as little
    days: int = 30  # that are looked back
    errors: int = 3  # of one kind that are worth a rule
    corrections: int = 3  # of one kind that are worth a rule
    violations: int = 3  # of one rule
    replies: int = 20  # graded replies that suffice to judge
    share: float = 0.3  # of them with one flaw that is worth a proposal
    searches: int = 20  # recalls that suffice to judge
    gaps: int = 20  # facts that summaries lost
    max_pending: int = 20  # proposals that wait; at so many no further ones are made
