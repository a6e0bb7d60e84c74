"""Thresholds of taking something in."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AdmitPolicy:
    """Numbers are the seeds' where a seed has one; shares and confidences are 0 to 1.

    repeat_above, compare_above, related_from: similarity above which a record may be the same, must be compared, is
    worth a link.
    max_neighbours: records compared at most. max_links: of type related, at most. min_supporting_turns: distinct
    turns that keep a
    contradicted record alive. max_confidence_loss, min_confidence: what a contradiction takes from it, and where that
    stops.
    explicit_from, implied_from, inferred_from: lowest confidence of each tier; what is below the last is speculative
    and expires
    after `speculative_days`. stated_from: confidence from which the owner's words count as said, not guessed.
    keep_from_importance: importance from which a wish to discard is not followed. defer_below: confidence below which
    what is proposed is
    kept only as a guess. following_minutes: records this close in one conversation follow one another.
    importance: levels by their lowest score.
    """

    repeat_above: float = 0.85
    compare_above: float = 0.70
    related_from: float = 0.40
    max_neighbours: int = 8
    max_links: int = 3
    min_supporting_turns: int = 3
    max_confidence_loss: float = 0.2
    min_confidence: float = 0.1
    explicit_from: float = 0.95
    implied_from: float = 0.70
    inferred_from: float = 0.40
    speculative_days: int = 30
    stated_from: float = 0.70
    keep_from_importance: float = 0.8
    defer_below: float = 0.35
    following_minutes: int = 5
    importance: dict[str, float] = field(
        default_factory=lambda: {"critical": 0.9, "high": 0.7, "normal": 0.4, "low": 0.2, "trivial": 0.0}
    )
