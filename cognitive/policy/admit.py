"""Thresholds of admitting a candidate into memory."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdmitPolicy:
    """Similarities, shares and confidences are 0 to 1."""

    repeat_above: float = 0.85  # similarity above which a record may say the same
    compare_above: float = 0.70  # similarity above which a record must be compared
    related_from: float = 0.40  # similarity from which a record is linked as related
    max_neighbours: int = 8  # records compared
    max_links: int = 3  # links of type related
    min_supporting_turns: int = 3  # distinct turns that keep a contradicted record alive
    max_confidence_loss: float = 0.2  # taken from a record by a contradiction
    min_confidence: float = 0.1  # where that stops
    explicit_from: float = 0.95  # confidence
    implied_from: float = 0.70  # confidence
    inferred_from: float = 0.40  # confidence; below is speculative
    speculative_days: int = 30  # until what is speculative expires
    stated_from: float = 0.70  # confidence from which the owner's words count as said, not guessed
    keep_from_importance: float = 0.8  # importance from which a wish to discard is not followed
    defer_below: float = 0.35  # confidence below which a proposed action is deferred
