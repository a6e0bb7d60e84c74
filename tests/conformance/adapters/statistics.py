"""Statistics of response times, and how checks make a state of health."""

from typing import Any

from kenobot.core.health import HealthTracker, Reading
from kenobot.core.percentiles import distribution
from kenobot.storage.turn_stats import MessageCounts
from kenobot_testing.clock import START
from tests.conformance.cases import Case, Outcome, compare


def response_times(case: Case) -> Outcome:
    """The original keeps the last times in memory; here those of a window of days are read from the disk."""
    records = _records(case.input["records"])
    errors = sum(failed for _, failed in records)
    recent = records[-case.input["capacity"] :]
    times = distribution([millis for millis, _ in recent])
    counts = MessageCounts(len(records), 0, {"answered": len(records) - errors, "failed": errors})
    actual = {
        "total": counts.received,
        "errors": counts.ends["failed"],
        "recent": times.measured,
        "avgMs": times.mean,
        "maxMs": times.longest,
        "p95Ms": times.p95,
        "errorRate": f"{100 * counts.failure_rate:.1f}",
    }
    return compare(case, actual)


def _records(given: Any) -> list[tuple[int, bool]]:
    if isinstance(given, str):  # "10,20,...,1000 (100 records)"
        first, second, *_, last = given.partition(" ")[0].split(",")
        return [(millis, False) for millis in range(int(first), int(last) + 1, int(second) - int(first))]
    return [(millis, bool(failed)) for millis, *failed in given]


def health(case: Case) -> Outcome:
    """A check that warns or fails is beyond its limit; a critical one that fails is beyond what it can work with."""
    readings = [
        Reading(
            "queue",
            {"ok": 0.0, "warn": 1.0, "fail": 2.0}[each["status"]],
            str(number),
            critical=2.0 if each["critical"] else None,
            sudden=True,
        )
        for number, each in enumerate(case.input)
    ]
    tracker = HealthTracker()
    tracker.look(readings, START)
    return compare(case, tracker.state.upper())


ADAPTERS = {"stats.response_tracker": response_times, "watchdog.state": health}
