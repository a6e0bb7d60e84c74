"""What a process holds, looked at from outside, and whether that grows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PER = 50_000  # messages
FLAT = 0.02  # of the mean


@dataclass(frozen=True, slots=True)
class Sample:
    """One look: seconds and answers since the start, resident MB, open descriptors, threads, MB on disk."""

    seconds: float
    answered: int
    rss: float
    descriptors: int
    threads: int
    database: float
    log: float


def look(pid: int, home: Path, seconds: float, answered: int) -> Sample:
    """What the process holds now."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return Sample(
        seconds=round(seconds, 1),
        answered=answered,
        rss=int(status["VmRSS"].split()[0]) / 1024,
        descriptors=sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
        threads=int(status["Threads"]),
        database=_size(home / "kenobot.db"),
        log=_size(home / "kenobot.db-wal"),
    )


def _size(path: Path) -> float:
    return path.stat().st_size / 1e6 if path.exists() else 0.0


def drift(samples: Sequence[Sample]) -> float:
    """How much resident memory grows per 50,000 messages, as a share of its mean, over the second half of the run.

    The slope of a straight line through the samples (least squares). The first half is warm-up: caches fill.
    """
    late = samples[len(samples) // 2 :]
    middle = sum(sample.answered for sample in late) / len(late)
    mean = sum(sample.rss for sample in late) / len(late)
    spread = sum((sample.answered - middle) ** 2 for sample in late)
    if not spread:
        return 0.0
    slope = sum((sample.answered - middle) * (sample.rss - mean) for sample in late) / spread
    return slope * PER / mean
