"""When and how turns are read for memories."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractPolicy:
    """Thresholds of extraction. Tokens are estimated ones; times are minutes unless said otherwise.

    immediate: a turn with a high signal is read right after the reply. every_turns, every_minutes: else, when so many
    turns wait or the oldest has waited so long. batch_turns, batch_tokens: the most that one call reads.
    max_turn_tokens,
    max_reply_tokens: of one message of a person, and of the bot's answer to it. max_answer_tokens: longest answer of
    the model. max_facts: the most that one answer may give. max_known: memories shown for comparison. known_chars: of
    each of them. guideline_chars: characters of what experience says about what to note.
    scanned_chars: characters of a text that the signal scan looks at. pattern_steps: work it puts into the owner's
    patterns. halve_after_failures: failures of one batch after which it is halved, and a single turn is left to the
    rules. first_backoff_seconds, max_backoff_seconds: between tries of a model that cannot be reached, in seconds.
    """

    immediate: bool = True
    every_turns: int = 5
    every_minutes: float = 15.0
    batch_turns: int = 20
    batch_tokens: int = 6000
    max_turn_tokens: int = 1500
    max_reply_tokens: int = 250
    max_answer_tokens: int = 2500
    max_facts: int = 40
    max_known: int = 24
    known_chars: int = 300
    guideline_chars: int = 1000
    scanned_chars: int = 2000
    pattern_steps: int = 2500
    halve_after_failures: int = 2
    first_backoff_seconds: float = 30.0
    max_backoff_seconds: float = 900.0
