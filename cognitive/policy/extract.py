"""Thresholds of extracting memories from turns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractPolicy:
    """Tokens are estimated."""

    immediate: bool = True  # whether a turn with a high signal is extracted right after the reply
    every_turns: int = 5  # waiting turns that start an extraction
    every_minutes: float = 15.0  # age of the oldest waiting turn that starts one
    batch_turns: int = 20  # in one call
    batch_tokens: int = 6000  # in one call
    max_turn_tokens: int = 1500  # of one message of a person
    max_reply_tokens: int = 250  # of one answer of the bot
    max_answer_tokens: int = 2500  # of the model
    max_facts: int = 40  # of one answer
    max_known: int = 24  # memories shown for comparison
    known_chars: int = 300  # of each of them
    guideline_chars: int = 1000  # of what experience says about what to note
    scanned_chars: int = 2000  # of a text that the signal scan reads
    pattern_steps: int = 2500  # work spent on the owner's patterns in one scan
    halve_after_failures: int = 2  # of one batch; a single turn is then left to the rules
    first_backoff_seconds: float = 30.0
    max_backoff_seconds: float = 900.0
