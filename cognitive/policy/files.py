"""How memory's files are watched, what is quoted in them, and when missing ones are a loss."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilesPolicy:
    """loss_above_share, loss_above_files: more missing at once than both, of the files looked at, is a loss and no
    wish.

    announce_from: so many files or lines that are taken out at once are told; so many of a file that is empty are a
    loss.
    hot_days: days whose folders are looked at before each turn; hot_files: of each, the newest so many. round_files:
    files that one step of the slow round looks at. batch: files written with one note of them.
    artifact_categories, artifact_confidence: what is kept word for word, and how sure it must be.
    """

    loss_above_share: float = 0.2
    loss_above_files: int = 3
    announce_from: int = 20
    hot_days: int = 3
    hot_files: int = 100
    scan_step_files: int = 10_000
    batch: int = 100
    artifact_categories: frozenset[str] = frozenset({"decision", "correction", "principle", "commitment"})
    artifact_confidence: float = 0.8
