"""Numbers of procedural memory: what worked before, when it is offered, and how experience moves its confidence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProceduralPolicy:
    """Numbers are the seeds' where a seed has one; confidences, scores and shares are 0 to 1.

    initial_confidence: confidence of a new pattern. min_score: score from which a pattern is shown; max_shown,
    max_tokens: of one message at
    most. max_matched: patterns of a scope that a message is held against, the newest. gain_when_worked,
    loss_when_failed: what an outcome adds and
    takes. used_from_share: share of a response's words that a reply has used when it used the pattern. max_trials:
    replies that an outcome may speak of, the last ones, within `trial_hours`. expire_below: confidence below which a
    pattern that was never used expires.
    same_from_share: share of words in common from which two patterns are one. together_minutes: what is told within
    them in one conversation is told together. trigger_chars, response_chars: characters of each, at most.
    max_entries_asked, batch: entries that a model is shown in one night, and in one question.
    entry_chars: how much of an entry it is shown, in characters. grounded_from_share: share of the words a model may
    use that the entry
    itself must have. known_from_share: share of words in common from which MEMORY.md is taken to say something already.
    statement_above_chars: characters that a line must exceed to be taken for a statement.
    """

    initial_confidence: float = 0.6
    min_score: float = 0.3
    max_shown: int = 3
    max_tokens: int = 300
    max_matched: int = 500
    gain_when_worked: float = 0.1
    loss_when_failed: float = 0.2
    used_from_share: float = 0.5
    max_trials: int = 3
    trial_hours: float = 24.0
    expire_below: float = 0.3
    same_from_share: float = 0.8
    together_minutes: int = 30
    trigger_chars: int = 160
    response_chars: int = 300
    max_entries_asked: int = 200
    batch: int = 40
    entry_chars: int = 400
    grounded_from_share: float = 0.6
    known_from_share: float = 0.7
    statement_above_chars: int = 10


DEFAULT = ProceduralPolicy()
