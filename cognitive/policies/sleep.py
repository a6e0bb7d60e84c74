"""Numbers of sleep."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """due_hours: since the last finished night. hot_days, warm_days: ages at which days become weeks, weeks lessons.

    daily_days: age at which a day's log leaves for the archive. scratchpad_days: age at which a scratchpad expires.
    large: the share of live records above which a pass is pointed out in the report.
    """

    due_hours: float = 20.0
    hot_days: int = 3
    warm_days: int = 14
    daily_days: int = 30
    scratchpad_days: int = 7
    large: float = 0.05


JOYA = SleepPolicy(daily_days=4)
