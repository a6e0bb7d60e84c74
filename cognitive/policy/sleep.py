"""Numbers of sleep."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["consolidate", "errors", "prune", "improve"]
PHASES: tuple[Phase, ...] = ("consolidate", "errors", "prune", "improve")


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """due_hours: since the last finished night. hot_days, warm_days: ages at which days become weeks, weeks lessons.

    daily_days: age at which a day's log leaves for the archive. scratchpad_days: age at which a scratchpad expires.
    expired: what becomes of files whose days are over; records only change their status. large_above_share: the share
    of live
    records above which a pass is pointed out in the report and to the owner, from `large_from_records` records on:
    two are never many.

    batch, batch_seconds: changes of one transaction, and how long it may take; whoever writes beside it waits as long.
    rest_factor: the pause after it, as a multiple of its time. max_changes: of one pass in one night; the rest comes
    with the next. budget_tokens: what a model may use in a night. max_attempts, max_backoff_seconds: of one question,
    while the model is
    out of reach, and seconds between them. drain_seconds: the longest that turns are read before. begin_seconds: from
    start-up until the first look. max_reported: changes of a pass that a report shows. kept_nights: nights in the
    ledger.
    """

    due_hours: float = 20.0
    hot_days: int = 3
    warm_days: int = 14
    daily_days: int = 30
    scratchpad_days: int = 7
    expired: Literal["archive", "delete"] = "archive"
    large_above_share: float = 0.05
    large_from_records: int = 3
    batch: int = 32
    batch_seconds: float = 0.005
    rest_factor: float = 30.0
    max_changes: int = 20_000
    budget_tokens: int = 100_000
    max_attempts: int = 2
    max_backoff_seconds: float = 120.0
    drain_seconds: float = 900.0
    begin_seconds: float = 60.0
    max_reported: int = 20
    kept_nights: int = 400


WEEKLY_LOGS = SleepPolicy(daily_days=4)
