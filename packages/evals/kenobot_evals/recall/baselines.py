"""Baselines of recall: BM25 alone, as textbooks have it, and nearness of vectors alone."""

import math
from collections import Counter
from collections.abc import Sequence

from kenobot.language.words import terms
from kenobot_evals.recall.datasets import Passage


class BM25:
    """Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), over the words of the index."""

    def __init__(self, units: Sequence[Passage], k1: float = 0.9, b: float = 0.4) -> None:
        self._k1, self._b = k1, b
        self._keys = [unit.key for unit in units]
        held = [Counter(terms(unit.attributed_text)) for unit in units]
        self._sizes = [sum(each.values()) for each in held]
        self._mean = max(1.0, sum(self._sizes) / max(1, len(held)))
        self._lists: dict[str, list[tuple[int, int]]] = {}  # bounded: the data of one run; turn
        for at, each in enumerate(held):
            for term, count in each.items():
                self._lists.setdefault(term, []).append((at, count))

    def rank(self, text: str, most: int) -> list[str]:
        """Return the units that fit a text best, best first."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms(text)):
            rows = self._lists.get(term, ())
            idf = math.log(1 + (len(self._keys) - len(rows) + 0.5) / (len(rows) + 0.5))
            for at, count in rows:
                norm = self._k1 * (1 - self._b + self._b * self._sizes[at] / self._mean)
                scores[at] = scores.get(at, 0.0) + idf * count * (self._k1 + 1) / (count + norm)
        best = sorted(scores, key=lambda at: (-scores[at], at))
        return [self._keys[at] for at in best[:most]]
