"""Every threshold of memory, in one place."""

from dataclasses import dataclass, field

from kenobot.ports import Trust


@dataclass(frozen=True, slots=True)
class Policy:
    """Numbers are the seeds' where a seed has one.

    confidence: of a new record, by who said it. reinforcement: added by a repeat, capped at 1.
    longest_text: characters of one record; the rest is cut. window_days: days of daily logs that count as recent.
    """

    confidence: dict[Trust, float] = field(
        default_factory=lambda: {"owner": 0.95, "guest": 0.7, "model": 0.7, "tool": 0.4, "forward": 0.4}
    )
    reinforcement: float = 0.1
    importance: float = 0.5
    stability: float = 1.0
    longest_text: int = 16_000
    window_days: int = 3
    long_term_share: float = 0.5
    chat_share: float = 0.25
    working_tokens: int = 800


DEFAULT = Policy()
