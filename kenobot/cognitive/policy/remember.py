"""Thresholds of remembering: admission, boxes, extraction and summaries of conversations."""

from datetime import timedelta

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class AdmitPolicy:
    """Thresholds of admitting a candidate into memory. Similarities, shares and confidences are 0 to 1."""

    repeat_above: float = 0.85  # similarity above which a record may say the same
    compare_above: float = 0.70  # similarity above which a record must be compared
    related_from: float = 0.40  # similarity from which a record is linked as related
    max_neighbours: int = 8  # records compared
    max_links: int = 3  # links of type related
    min_supporting_turns: int = 3  # distinct turns that keep a contradicted record alive
    max_confidence_loss: float = 0.2  # taken from a record by a contradiction
    min_confidence: float = 0.1  # where that stops
    explicit_from: float = 0.95  # confidence
    implied_from: float = 0.70  # confidence
    inferred_from: float = 0.40  # confidence; below is speculative
    speculative_days: int = 30  # until what is speculative expires
    stated_from: float = 0.70  # confidence from which the owner's words count as said, not guessed
    keep_from_importance: float = 0.8  # importance from which a wish to discard is not followed
    defer_below: float = 0.35  # confidence below which a proposed action is deferred


@dataclass(frozen=True, slots=True)
class BoxPolicy:
    """Thresholds of closing memory boxes and of joining them to traces."""

    close_below_overlap: float = 0.35  # share of topics in common below which a box is closed
    close_after: timedelta = timedelta(minutes=30)  # time without a memory that closes a box
    max_records: int = 50
    box_single_records: bool = False  # whether one memory alone makes a box
    trace_from_overlap: float = 0.4  # share of topics in common from which two closed boxes belong to one trace
    lookback: timedelta = timedelta(days=7)  # age of the closed boxes that are compared
    max_candidates: int = 50  # newest closed boxes that are compared
    max_topics: int = 24  # of one memory


@dataclass(frozen=True, slots=True)
class ExtractPolicy:
    """Thresholds of extracting memories from turns. Tokens are estimated."""

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
    halve_after_failures: int = 2  # of one batch; a single turn is then left to the rules
    first_backoff_seconds: float = 30.0
    max_backoff_seconds: float = 900.0


@dataclass(frozen=True, slots=True)
class CompactPolicy:
    """Thresholds of summarising the beginning of a conversation. Tokens are estimated."""

    batch_turns: int = 40  # summarised by one call
    batch_tokens: int = 8000  # summarised by one call
    max_turn_tokens: int = 1000  # of one message of a person
    max_reply_tokens: int = 400  # of one answer of the bot
    max_answer_tokens: int = 2000  # of the model's summary
    max_model_batches: int = 3  # newest batches that a model summarises; those before are left to the rules
    min_chars: int = 40  # a shorter summary counts as failed
    min_length_share: float = 0.3  # a summary with a smaller share of the previous one's characters counts as failed
    missing_share: float = 0.2  # share of a summary's room for the list of what is not in it
    max_memories_compared: int = 12  # with each turn
    max_evidence: int = 200  # newest turns kept as the sources of a summary
    first_backoff_seconds: float = 30.0
    max_backoff_seconds: float = 900.0
