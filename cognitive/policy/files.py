"""Thresholds of watching memory's files and of taking missing ones for a loss."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilesPolicy:
    """Thresholds of watching memory's files and of taking missing ones for a loss."""

    loss_above_share: float = 0.2  # of the scanned files, missing at once: a loss, if also
    loss_above_files: int = 3  # more than so many are missing
    announce_from: int = 20  # files or lines removed at once; lines of an emptied file that are a loss
    hot_days: int = 3  # days whose folders are scanned before each turn
    hot_files: int = 100  # newest files scanned of each day
    scan_step_files: int = 10_000  # files that one step of the background scan reads
    batch: int = 100  # files written before one note of them
    # Quoted word for word, from this confidence on.
    artifact_categories: frozenset[str] = frozenset({"decision", "correction", "principle", "commitment"})
    artifact_confidence: float = 0.8
