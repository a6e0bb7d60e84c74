"""Define what words about a time mean: a moment, a recurrence, or a choice between readings."""

from datetime import datetime

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of the owner's local time.

    has_time: False where only a day was said; `at` is its midnight. exact: counted from now, as a duration.
    """

    at: datetime
    has_time: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Moments that come again and again: an RFC 5545 rule without its DTSTART, which is `start`, in local time.

    has_time: False where only days were said; `start` is a midnight.
    """

    rule: str
    start: datetime
    has_time: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """Two or three readings of the same words."""

    options: tuple[Moment | Recurrence, ...]


Meaning = Moment | Recurrence | Choice


@dataclass(frozen=True, slots=True)
class When:
    """The meaning of the words of a text that name a time, None where it is not understood, and their places."""

    meaning: Meaning | None
    spans: tuple[tuple[int, int], ...]
