"""How the hands on memory work: what counts as the same fact, and how much is shown at once."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ControlPolicy:
    """shortest_prefix: characters of a key that name a record. match_from_share: share of a request's words that a
    record must
    say to be meant by it. repeats_from_share: share of a forgotten fact's words that make a turn tell it again.
    max_offered: candidates shown at once. max_messages_searched: newest messages of a scope that are searched for what
    repeats a forgotten fact.
    answer_within: how long a question waits for its answer. max_records_compared: newest records that are compared
    word by word when
    something is sought without an index. max_unextracted_turns: newest turns of a conversation that are looked
    through for what has
    not been read for memories yet. max_forgotten_together: memories that are forgotten in one go, since others
    wait meanwhile.
    """

    shortest_prefix: int = 4
    match_from_share: float = 0.5
    repeats_from_share: float = 0.75
    max_offered: int = 8
    max_messages_searched: int = 10_000
    answer_within: timedelta = timedelta(hours=1)
    max_records_compared: int = 20_000
    max_unextracted_turns: int = 200
    max_forgotten_together: int = 10
