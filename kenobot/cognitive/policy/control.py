"""Thresholds of the commands on memory and of watching its files."""

from datetime import timedelta

from kenobot.ports.frozen import dataclass


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


@dataclass(frozen=True, slots=True)
class FilesPolicy:
    """Thresholds of watching memory's files and of taking missing ones for a loss."""

    loss_above_share: float = 0.2  # of the scanned files, missing at once: a loss, if also
    loss_above_files: int = 3  # more than so many are missing
    announce_from: int = 20  # files or lines removed at once; lines of an emptied file that are a loss
    alike_from: float = 0.4  # likeness of an edited line to one that it is taken for a correction of
    intake_batch: int = 8  # edited lines taken in in one transaction
    large_from: int = 200  # edited lines or files for which no turn waits
    cut_within: timedelta = timedelta(hours=1)  # a line cut from one file and put into another by then has moved
    hot_days: int = 3  # days whose folders are scanned before each turn
    hot_files: int = 100  # newest files scanned of each day
    scan_step_files: int = 10_000  # files that one step of the background scan reads
    batch: int = 16  # files written before one note of them, for which a turn that looks at files waits
    # Quoted word for word, from this confidence on.
    artifact_categories: frozenset[str] = frozenset({"decision", "correction", "principle", "commitment"})
    artifact_confidence: float = 0.8
