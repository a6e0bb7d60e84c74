"""Thresholds of summarising the beginning of a conversation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompactPolicy:
    """Tokens are estimated."""

    batch_turns: int = 40  # summarised by one call
    batch_tokens: int = 8000  # summarised by one call
    max_turn_tokens: int = 1000  # of one message of a person
    max_reply_tokens: int = 400  # of one answer of the bot
    max_answer_tokens: int = 2000  # of the model's summary
    max_model_batches: int = 3  # newest batches that a model summarises; those before are left to the rules
    min_chars: int = 40  # a shorter summary counts as failed
    min_length_share: float = 0.3  # a summary with a smaller share of the previous one's characters counts as failed
    max_lines: int = 60
    max_line_chars: int = 300
    missing_share: float = 0.2  # share of a summary's room for the list of what is not in it
    max_missing_items: int = 24  # in that list
    covered_from: float = 0.6  # share of a sentence's words in one place from which it counts as kept there
    max_memories_compared: int = 12  # with each turn
    max_evidence: int = 200  # newest turns kept as the sources of a summary
    first_backoff_seconds: float = 30.0
    max_backoff_seconds: float = 900.0
