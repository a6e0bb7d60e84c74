"""Numbers of procedural memory: what worked before, when it is offered, and how experience moves its confidence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PracticePolicy:
    """Numbers are the seeds' where a seed has one; confidences, scores and shares are 0 to 1.

    learned: confidence of a new pattern. least: score from which a pattern is shown; shown, tokens: of one message at
    most. read: patterns of a scope that a message is held against, the newest. worked, failed: what an outcome adds and
    takes. echo: share of a response's words that a reply has used when it used the pattern. trials: replies that an
    outcome may speak of, the last ones, within `trial_hours`. unsure: confidence below which a pattern that was never
    used expires.
    alike: share of words in common from which two patterns are one. together_minutes: what is told within them in one
    conversation is told together. trigger, response: characters of each, at most.
    asked, batch: entries that a model is shown in one night, and in one question.
    lines: how much of an entry it is shown, in characters. grounded: share of the words a model may use that the entry
    itself must have. same: share of words in common from which MEMORY.md is taken to say something already.
    statement: characters that a line must exceed to be taken for a statement.
    """

    learned: float = 0.6
    least: float = 0.3
    shown: int = 3
    tokens: int = 300
    read: int = 500
    worked: float = 0.1
    failed: float = 0.2
    echo: float = 0.5
    trials: int = 3
    trial_hours: float = 24.0
    unsure: float = 0.3
    alike: float = 0.8
    together_minutes: int = 30
    trigger: int = 160
    response: int = 300
    asked: int = 200
    batch: int = 40
    lines: int = 400
    grounded: float = 0.6
    same: float = 0.7
    statement: int = 10


DEFAULT = PracticePolicy()
