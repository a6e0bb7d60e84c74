"""Cache which pairs of records came to nothing when they were compared: unchanged, they need no second look.

It lives as long as the process and only saves work: a comparison of the same two records has the same result.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping

_MOST = 1_000_000  # pairs of one comparing pass, eight bytes each

LikelyPairs = Mapping[tuple[int, int], float]
"""Pairs that may be near each other, the smaller number first, with an upper bound of their nearness."""


class ComparisonCache:
    """The different pairs by comparing pass; and, during a night, the pairs to compare. most: pairs kept for each."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        # bounded: 1,000,000 pairs of each pass that compares, 8 bytes each; test_no_more_pairs_are_kept_than_may_be
        self._apart: dict[str, array[int]] = {}
        self._likely: tuple[int, float, LikelyPairs] | None = None

    def likely_pairs(self, event: int, least: float, find: Callable[[], LikelyPairs]) -> LikelyPairs:
        """Get the pairs that may be as near as `least`. event: the newest about any record; until then they hold."""
        if self._likely is None or self._likely[0] != event or self._likely[1] > least:
            self._likely = event, least, find()
        return self._likely[2]

    def end_night(self) -> None:
        """Drop what is of use within one night only."""
        self._likely = None

    def begin_round(self, name: str, versions: Mapping[int, int]) -> "ComparisonRound":
        """Begin another comparison. versions: a number for each record that differs once the record does."""
        return ComparisonRound(self, name, versions, self._apart.get(name, array("Q")))

    def save_round(self, name: str, apart: Iterable[int]) -> None:
        """Keep these pairs, and no others, for the next round of this name."""
        self._apart[name] = array("Q", sorted(apart)[: self._most])


class ComparisonRound:
    """One comparison of all pairs by one pass. `close` it when all have been seen."""

    def __init__(self, cache: ComparisonCache, name: str, versions: Mapping[int, int], previous: "array[int]") -> None:
        self._cache = cache
        self._name = name
        self._versions = versions
        self._previous = previous
        self._apart: array[int] = array("Q")

    def is_known_different(self, one: int, other: int) -> bool:
        """Return whether these two came to nothing before, and have not changed."""
        seal = self._seal(one, other)
        at = bisect_left(self._previous, seal)
        if at == len(self._previous) or self._previous[at] != seal:
            return False
        self._apart.append(seal)
        return True

    def mark_different(self, one: int, other: int) -> None:
        """Note that two records came to nothing."""
        self._apart.append(self._seal(one, other))

    def close(self) -> None:
        """Save the round for the next one."""
        self._cache.save_round(self._name, self._apart)

    def _seal(self, one: int, other: int) -> int:
        """Hash two records in their versions; among a million pairs a collision is one in millions."""
        first, second = (one, other) if one < other else (other, one)
        seal = (first, self._versions.get(first, 0), second, self._versions.get(second, 0))
        return hash(seal) & 0xFFFF_FFFF_FFFF_FFFF
