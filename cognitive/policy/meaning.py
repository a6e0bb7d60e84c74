"""Thresholds of embedding, and of searching and comparing vectors."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeaningPolicy:
    """Thresholds of embedding, and of searching and comparing vectors."""

    exact_up_to: int = 2048  # vectors compared one by one; of more, `shortlist` are chosen by their signs
    shortlist: int = 1024
    records: int = 60  # found for a message
    past: int = 12  # superseded records found for a message
    turns: int = 60  # found for a message
    max_turns_compared: int = 200_000  # newest turns
    relevant_from: float = 0.5  # where relevance begins, between an unrelated text (0) and the usual answer (1)
    fully_relevant_from: float = 2.0  # where relevance is 1, on the same scale
    passage_chars: int = 1000  # of a text that is embedded
    query_chars: int = 300  # of a query that are embedded
    cached_texts: int = 512  # vectors of texts in memory, of each kind
    query_seconds: float = 1.0  # waited for the embedding of a query
    settle_seconds: float = 0.25  # of these, for records just remembered
    prepare_seconds: float = 0.4  # waited for the embedding of a candidate
    page_rows: int = 2000  # read at a time
    resync_from_rows: int = 1000  # new rows that start a full synchronisation
    max_batch: int = 32  # texts
    grow_batch_below_seconds: float = 0.1  # of one batch
    shrink_batch_above_seconds: float = 0.25  # of one batch
    first_backoff_seconds: float = 5.0
    max_backoff_seconds: float = 600.0
    trip_after_failures: int = 3  # in a row, after which queries do not wait for the model
    cooldown_seconds: float = 60.0  # for so long
