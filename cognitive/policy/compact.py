"""When the beginning of a conversation is summed up, and how long the summary may be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompactPolicy:
    """Tokens are estimated ones.

    batch_turns, batch_tokens: the most that one call sums up. max_turn_tokens, max_reply_tokens: of one message of a
    person,
    and of the bot's answer to it. max_answer_tokens: longest answer of the model. max_model_batches: batches that a
    model sums up when more have piled up, the newest ones; those before are left to the rules. min_chars,
    min_length_share: a summary with fewer characters, or with a smaller share of those it takes the place of, counts
    as failed. lines, line_chars: the most lines of a summary, and characters of one. missing_share: the part of a
    summary's room that the list of what is not in it may take; max_missing_items: the most that it may name.
    covered_from: the share of a sentence's words that must stand in one place for it to count as kept there.
    max_memories_compared: memories that each turn is compared with. max_evidence: turns that are kept as what a
    summary was made of, the newest. first_backoff_seconds, max_backoff_seconds: between tries after a failure, in
    seconds.
    """

    batch_turns: int = 40
    batch_tokens: int = 8000
    max_turn_tokens: int = 1000
    max_reply_tokens: int = 400
    max_answer_tokens: int = 2000
    max_model_batches: int = 3
    min_chars: int = 40
    min_length_share: float = 0.3
    max_lines: int = 60
    max_line_chars: int = 300
    missing_share: float = 0.2
    max_missing_items: int = 24
    covered_from: float = 0.6
    max_memories_compared: int = 12
    max_evidence: int = 200
    first_backoff_seconds: float = 30.0
    max_backoff_seconds: float = 900.0
