"""What became of everything that a recall looked at, for who wants to know why something is not there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["record", "turn"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A record or turn that was valued. place: among those of its kind, 1 is the best. features: what its score is of."""

    place: int
    score: float
    features: Mapping[str, float]


@dataclass(slots=True)
class Trace:
    """seen: what was valued. dropped: what may not be shown, and why. turns: whether turns were looked for."""

    seen: dict[tuple[Kind, int], Seen] = field(default_factory=dict)
    dropped: dict[tuple[Kind, int], str] = field(default_factory=dict)
    turns: bool = False
