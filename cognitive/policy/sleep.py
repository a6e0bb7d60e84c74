"""Thresholds of sleep."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["consolidate", "errors", "prune", "improve"]
PHASES: tuple[Phase, ...] = ("consolidate", "errors", "prune", "improve")


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """Thresholds of sleep."""

    due_hours: float = 20.0  # since the last finished night
    hot_days: int = 3  # age at which days become weeks
    warm_days: int = 14  # age at which weeks become lessons
    daily_days: int = 30  # age at which a day's log is archived
    scratchpad_days: int = 7  # age at which a scratchpad expires
    expired: Literal["archive", "delete"] = "archive"  # what becomes of expired files; records only change their status
    large_above_share: float = 0.05  # share of live records whose change by one pass is pointed out
    large_from_records: int = 3  # and how many they must be
    batch: int = 32  # changes of one transaction
    batch_seconds: float = 0.005  # longest transaction; other writers wait as long
    rest_factor: float = 30.0  # pause after a transaction, as a multiple of its time
    max_changes: int = 20_000  # of one pass in a night; the rest comes with the next
    budget_tokens: int = 100_000  # of the model in a night
    max_attempts: int = 2  # of one question while the model is out of reach
    max_backoff_seconds: float = 120.0
    drain_seconds: float = 900.0  # longest extraction before the night
    begin_seconds: float = 60.0  # from start-up until the first check
    max_reported: int = 20  # changes of a pass in a report
    kept_nights: int = 400  # in the ledger


WEEKLY_LOGS = SleepPolicy(daily_days=4)
