"""Numbers of what sleep lets go, of the lessons it draws, and of what it learns about its own noting."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PruningPolicy:
    """Numbers are the seeds' where a seed has one; times are days unless said otherwise.

    stale_below: effective confidence below which a belief is stale; below `ValuePolicy.faded` it leaves.
    archive_*: a fact older, less important and no more used than this leaves. keep_resolved_days: how long a
    commitment is kept
    once it is resolved. max_searched: newest messages and records that are looked at for a commitment's end.
    max_core_tokens: size of a scope's MEMORY.md above which what is worth least leaves it.
    error_days: how far back errors are looked for before the last night; error_batch: of one question, each cut to
    error_chars; min_error_words: what is shorter teaches nothing. lesson_importance, grave_lesson_importance:
    importance of a lesson, and of one from what cannot be mended by trying again.
    telemetry_days: days of decisions that guidelines are drawn from; min_decisions, sure_from_decisions: decisions
    that make a guideline, and
    make it sure; max_lean: the most that it leans, ignore_lean_below: below which it does not; guideline_chars: their
    longest text.
    max_identity_bytes: size of IDENTITY.md above which it is condensed. grounded_from_share: share of a condensed
    text's words that the old one must have; min_length_share: share of the old one's length below which it has lost
    too much.
    """

    stale_below: float = 0.10
    archive_days: float = 90.0
    archive_importance: float = 0.3
    archive_uses: int = 2
    keep_resolved_days: float = 90.0
    max_searched: int = 2000
    max_core_tokens: int = 2000
    error_days: float = 1.0
    error_batch: int = 20
    error_chars: int = 400
    min_error_words: int = 3
    lesson_importance: float = 0.6
    grave_lesson_importance: float = 0.8
    telemetry_days: float = 30.0
    min_decisions: int = 4
    sure_from_decisions: int = 8
    max_lean: float = 0.15
    ignore_lean_below: float = 0.02
    guideline_chars: int = 900
    max_identity_bytes: int = 8192
    grounded_from_share: float = 0.6
    min_length_share: float = 0.05
