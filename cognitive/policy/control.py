"""Limits of the commands on memory."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ControlPolicy:
    """Limits of the commands on memory."""

    shortest_prefix: int = 4  # characters of a key that name a record
    match_from_share: float = 0.5  # share of a request's words that a record must hold to be meant
    repeats_from_share: float = 0.75  # share of a forgotten fact's words that make a turn a repetition of it
    max_offered: int = 8  # candidates shown at once
    max_messages_searched: int = 10_000  # newest messages of a scope searched for repetitions of a forgotten fact
    answer_within: timedelta = timedelta(hours=1)  # how long a question waits for its answer
    max_records_compared: int = 20_000  # newest records compared word by word where there is no index
    max_unextracted_turns: int = 200  # newest turns of a conversation searched for what is not extracted yet
    max_forgotten_together: int = 10  # memories forgotten in one transaction
