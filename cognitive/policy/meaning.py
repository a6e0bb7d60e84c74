"""Thresholds of finding and comparing by meaning."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeaningPolicy:
    """How vectors are kept and compared.

    exact_up_to: so many vectors are compared one by one; of more, `shortlist` are chosen by their signs first. records,
    turns: found for a message at most, each; past: as many that others took the place of. max_turns_compared: of the
    talk that
    are compared, the newest. relevant_from, fully_relevant_from: where relevance begins and where it is full, between
    what has nothing to do with a question (0) and its usual answer (1).
    passage_chars, query_chars: characters of a text that count. cached_texts: vectors of texts that are kept at hand,
    of each kind.
    Asking a model, in seconds: query_seconds: for what a message is looked for by; settle_seconds: of that for what
    was remembered
    last; prepare_seconds: for what a turn asks to remember. page_rows: rows read at a time; resync_from_rows: new
    rows from which on everything
    is looked through again. grow_batch_below_seconds, shrink_batch_above_seconds: a batch that takes less or more is
    made larger or smaller, up to `max_batch`
    texts. first_backoff_seconds, max_backoff_seconds: after a failure. trip_after_failures, cooldown_seconds: after
    so many in a row no message waits for the model for so long.
    """

    exact_up_to: int = 2048
    shortlist: int = 1024
    records: int = 60
    past: int = 12
    turns: int = 60
    max_turns_compared: int = 200_000
    relevant_from: float = 0.5
    fully_relevant_from: float = 2.0
    passage_chars: int = 1000
    query_chars: int = 300
    cached_texts: int = 512
    query_seconds: float = 1.0
    settle_seconds: float = 0.25
    prepare_seconds: float = 0.4
    page_rows: int = 2000
    resync_from_rows: int = 1000
    max_batch: int = 32
    grow_batch_below_seconds: float = 0.1
    shrink_batch_above_seconds: float = 0.25
    first_backoff_seconds: float = 5.0
    max_backoff_seconds: float = 600.0
    trip_after_failures: int = 3
    cooldown_seconds: float = 60.0
