"""Thresholds of pruning memory, of drawing lessons and of learning from its own decisions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PruningPolicy:
    """Times are days."""

    stale_below: float = 0.10  # effective confidence of a stale belief; below `ValuePolicy.faded_below` it leaves
    archive_days: float = 90.0  # age of a fact that leaves, if
    archive_importance: float = 0.3  # it is no more important
    archive_uses: int = 2  # and was used no more often
    keep_resolved_days: float = 90.0  # that a resolved commitment is kept
    max_searched: int = 2000  # newest messages and records searched for a commitment's end
    max_core_tokens: int = 2000  # size of MEMORY.md above which what is worth least leaves it
    error_days: float = 1.0  # looked back for errors before the last night
    error_batch: int = 20  # errors in one question
    error_chars: int = 400  # shown of each
    min_error_words: int = 3  # that teach something
    lesson_importance: float = 0.6  # of a lesson
    grave_lesson_importance: float = 0.8  # of a lesson that trying again cannot mend
    telemetry_days: float = 30.0  # of decisions that guidelines are drawn from
    min_decisions: int = 4  # that make a guideline
    sure_from_decisions: int = 8  # that make it sure
    max_lean: float = 0.15  # of a guideline on importance
    ignore_lean_below: float = 0.02  # lean too small for a guideline
    guideline_chars: int = 900  # of all guidelines
    max_identity_bytes: int = 8192  # size of IDENTITY.md above which it is condensed
    grounded_from_share: float = 0.6  # share of a condensed text's words that the old one must hold
    min_length_share: float = 0.05  # share of the old one's length that a condensed text must keep
