"""What came of comparing memories in earlier nights: two that have not changed since need no second look.

It is kept for as long as the process runs, and only ever saves work: what it tells of a pair is what another look would
tell, as both are just what they were. A new process compares everything once more.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping

_MOST = 1_000_000  # pairs of a pass, eight bytes each; of those beyond, each night finds out anew


LikelyPairs = Mapping[tuple[int, int], float]
"""Pairs that may be near each other, the smaller number first, and how near they may be at most."""


class ComparisonCache:
    """The pairs that came to nothing, by who compared them; and, during a night, which pairs there are to compare.

    most: pairs that are kept of each who compares.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._apart: dict[str, array[int]] = {}
        self._likely: tuple[int, float, LikelyPairs] | None = None

    def likely_pairs(self, event: int, least: float, find: Callable[[], LikelyPairs]) -> LikelyPairs:
        """The pairs that may be as near as `least`, and maybe others, as `find` tells them.

        event: the newest that speaks of a record; while it is the same, nobody has to look for them again.
        """
        if self._likely is None or self._likely[0] != event or self._likely[1] > least:
            self._likely = event, least, find()
        return self._likely[2]

    def end_night(self) -> None:
        """A night is over: what is only of use within one goes."""
        self._likely = None

    def begin_round(self, name: str, versions: Mapping[int, int]) -> "ComparisonRound":
        """Begin to compare once more. versions: of each record, what differs as soon as anything of it does."""
        return ComparisonRound(self, name, versions, self._apart.get(name, array("Q")))

    def save_round(self, name: str, apart: Iterable[int]) -> None:
        """Remember these pairs, and no others, until the next round of this name."""
        self._apart[name] = array("Q", sorted(apart)[: self._most])


class ComparisonRound:
    """One comparison of all pairs by one who compares. `close` it when all have been seen."""

    def __init__(self, home: ComparisonCache, name: str, versions: Mapping[int, int], known: "array[int]") -> None:
        self._home = home
        self._name = name
        self._versions = versions
        self._known = known
        self._apart: array[int] = array("Q")

    def is_known_different(self, one: int, other: int) -> bool:
        """Whether these two came to nothing before, and are as they were."""
        seal = self._seal(one, other)
        at = bisect_left(self._known, seal)
        if at == len(self._known) or self._known[at] != seal:
            return False
        self._apart.append(seal)
        return True

    def mark_different(self, one: int, other: int) -> None:
        """They come to nothing."""
        self._apart.append(self._seal(one, other))

    def close(self) -> None:
        """Have the next round know."""
        self._home.save_round(self._name, self._apart)

    def _seal(self, one: int, other: int) -> int:
        """A number for the two as they are: of a million pairs no two share one but by a chance of one in millions."""
        first, second = (one, other) if one < other else (other, one)
        seal = (first, self._versions.get(first, 0), second, self._versions.get(second, 0))
        return hash(seal) & 0xFFFF_FFFF_FFFF_FFFF
