"""Match patterns to a message: how much of a trigger it names, times how surely the pattern works. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from kenobot.cognitive.procedural.pattern import Pattern, is_failure_word, keywords, stems_in, trigger_of_text


@dataclass(frozen=True, slots=True)
class MatchedPattern:
    """A pattern that fits. coverage: share of the trigger's words that the message has.

    matched_words: those, by a stem.
    """

    pattern: Pattern
    coverage: float
    matched_words: tuple[str, ...]

    @property
    def score(self) -> float:
        """Coverage times confidence, 0 to 1: the seed's rule, three words of four at .6 are .45."""
        return self.coverage * self.pattern.confidence


def match_patterns(patterns: Iterable[Pattern], message: str) -> list[MatchedPattern]:
    """Match the patterns of whose trigger `message` has a word, best first; the older one of equals first.

    A message that shares only the word for failing is about another failure.
    """
    said = stems_in(message)
    found = [fit for pattern in patterns if (fit := _fit(pattern, said)) is not None]
    return sorted(found, key=lambda fit: (-fit.score, fit.pattern.id))


def best_matches(known: Iterable[tuple[int, str, float]], message: str, least: float, most: int) -> list[int]:
    """Rank patterns, given as number, text and confidence; at most `most` of those that score at least `least`.

    What `match` would say of them, without reading the rest of their records.
    """
    said = stems_in(message)
    found: list[tuple[float, int]] = []
    for number, text, confidence in known:
        own = keywords(trigger_of_text(text))
        score = confidence * sum(not said.isdisjoint(word) for word in own) / len(own) if own else 0.0
        if score >= least:
            found.append((-score, number))
    return [number for _, number in sorted(found)[:most]]


def _fit(pattern: Pattern, said: frozenset[str]) -> MatchedPattern | None:
    own = keywords(pattern.trigger)
    shared = [word for word in own if not said.isdisjoint(word)]
    if not shared or pattern.confidence <= 0:
        return None
    names = sorted(min(word & said) for word in shared if not is_failure_word(word))
    return MatchedPattern(pattern, len(shared) / len(own), tuple(names))
