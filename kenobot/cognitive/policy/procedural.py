"""Thresholds of procedural memory: matching patterns and moving their confidence."""

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ProceduralPolicy:
    """Confidences, scores and shares are 0 to 1."""

    initial_confidence: float = 0.6  # of a new pattern
    min_score: float = 0.3  # of a pattern that is shown
    max_shown: int = 3  # patterns of one message
    max_tokens: int = 300  # of the patterns of one message
    max_matched: int = 500  # newest patterns of a scope compared with a message
    gain_when_worked: float = 0.1  # confidence
    loss_when_failed: float = 0.2  # confidence
    used_from_share: float = 0.5  # share of a response's words in a reply that used the pattern
    max_trials: int = 3  # last replies that an outcome may be about
    trial_hours: float = 24.0  # age of such a reply
    expire_below: float = 0.3  # confidence below which a pattern that was never used expires
    same_from_share: float = 0.8  # share of words in common of two patterns that are one
    together_minutes: int = 30  # between turns of one conversation that are read together
    max_entries_asked: int = 200  # shown to a model in a night
    batch: int = 40  # entries in one question
    entry_chars: int = 400  # shown of an entry
    known_from_share: float = 0.7  # share of words in common with MEMORY.md that make a pattern known
    statement_above_chars: int = 10  # length of a line that is taken for a statement


DEFAULT = ProceduralPolicy()
