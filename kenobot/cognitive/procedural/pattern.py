"""Parse patterns, which say what worked when something happened, and match their triggers to messages. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kenobot.language.lexicon import NEGATIONS, STOPWORDS, word_set
from kenobot.language.words import stems, words
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, Form, Source
from kenobot.ports.records import Record

FORM: Form = "procedure"
CATEGORY = "procedure"
CONSOLIDATION = "consolidation"
_ARROW = " → "
_LONGEST = 2_000  # characters of a text whose words are looked at
_TROUBLE = "\0trouble"  # whatever a failure is called, in either language, it is one word

Keyword = frozenset[str]
"""A word by its stems in either language; two that share one are the same word."""

_FAILURES = frozenset(stem for word in word_set("failures") for stem in stems(word))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A lesson: trigger, action and where it was learned."""

    record: Record
    trigger: str
    response: str
    learned_from: str

    @property
    def id(self) -> int:
        return self.record.id

    @property
    def confidence(self) -> float:
        return self.record.confidence


def pattern_of(record: Record) -> Pattern | None:
    """Parse the pattern of a record; None for a procedure written as prose. The text prevails over the attributes."""
    if record.form != FORM:
        return None
    held = record.attribute_map
    learned = held.get("learnedFrom", record.source)
    trigger, response = held.get("trigger", ""), held.get("response", "")
    if not (trigger and response) or text_of(trigger, response) != record.text:
        trigger, arrow, response = record.text.partition(_ARROW)
        if not arrow:
            return None
    trigger, response = trigger.strip(), response.strip()
    return Pattern(record, trigger, response, learned) if trigger and response else None


def patterns_of(records: Iterable[Record]) -> list[Pattern]:
    return [found for record in records if (found := pattern_of(record)) is not None]


def text_of(trigger: str, response: str) -> str:
    return f"{one_line(trigger)}{_ARROW}{one_line(response)}"


def trigger_of_text(text: str) -> str:
    return text.partition(_ARROW)[0]


def one_line(text: str) -> str:
    """Return `text` on one line, without the sign that parts a trigger from its response."""
    return " ".join(text.replace("→", "->").split())


def candidate_of(
    scope: str,
    trigger: str,
    response: str,
    *,
    source: Source,
    trust: Trust,
    learned_from: str,
    confidence: float,
    evidence: tuple[int, ...] = (),
) -> Candidate:
    trigger, response = one_line(trigger), one_line(response)
    return Candidate(
        form=FORM,
        scope=scope,
        text=text_of(trigger, response),
        category=CATEGORY,
        source=source,
        trust=trust,
        attributes=(("trigger", trigger), ("response", response), ("learnedFrom", learned_from)),
        confidence=confidence,
        evidence=evidence,
    )


def keywords(text: str) -> tuple[Keyword, ...]:
    """Split `text` into content words, each once, of every script, in order."""
    return _keywords(text[:_LONGEST])


@lru_cache(2_000)
def _keywords(text: str) -> tuple[Keyword, ...]:
    found: dict[Keyword, None] = {}
    seen: set[str] = set()
    for word in words(text):
        if word in STOPWORDS or word in NEGATIONS:
            continue
        key = frozenset(stems(word))
        if key & _FAILURES:
            key = frozenset({_TROUBLE})
        if seen.isdisjoint(key):
            found[key] = None
        seen |= key
    return tuple(found)


def is_failure_word(keyword: Keyword) -> bool:
    """Tell whether a word only says that something fails, and not what."""
    return _TROUBLE in keyword


def stems_in(text: str) -> frozenset[str]:
    """Collect the stems of all keywords of `text`."""
    return frozenset(stem for keyword in keywords(text) for stem in keyword)


def keyword_coverage(part: str, whole: str) -> float:
    """Measure the share of the keywords of `part` that `whole` has too; 0 when `part` has none."""
    own, there = keywords(part), stems_in(whole)
    return sum(not there.isdisjoint(word) for word in own) / len(own) if own else 0.0


def keyword_similarity(one: str, other: str) -> float:
    """Measure how many keywords two texts have in common, as a share of all (Jaccard 1901)."""
    here, there = keywords(one), keywords(other)
    if not here or not there:
        return 0.0
    known = stems_in(other)
    common = sum(not known.isdisjoint(word) for word in here)
    return min(1.0, common / max(1, len(here) + len(there) - common))


# ── matching ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class MatchedPattern:
    """A pattern that fits. coverage: share of the trigger's words in the message. matched_words: their stems."""

    pattern: Pattern
    coverage: float
    matched_words: tuple[str, ...]

    @property
    def score(self) -> float:
        """Coverage times confidence, 0 to 1."""
        return self.coverage * self.pattern.confidence


def match_patterns(patterns: Iterable[Pattern], message: str) -> list[MatchedPattern]:
    """Match the patterns of whose trigger `message` has a word, best first; the older one of equals first.

    A message that shares only the word for failing is about another failure.
    """
    said = stems_in(message)
    found = [fit for pattern in patterns if (fit := _match(pattern, said)) is not None]
    return sorted(found, key=lambda fit: (-fit.score, fit.pattern.id))


def best_matches(known: Iterable[tuple[int, str, float]], message: str, least: float, most: int) -> list[int]:
    """Rank the patterns, as number, text and confidence, that score at least `least`; the best `most` of them."""
    said = stems_in(message)
    found: list[tuple[float, int]] = []
    for number, text, confidence in known:
        own = keywords(trigger_of_text(text))
        score = confidence * sum(not said.isdisjoint(word) for word in own) / len(own) if own else 0.0
        if score >= least:
            found.append((-score, number))
    return [number for _, number in sorted(found)[:most]]


def _match(pattern: Pattern, said: frozenset[str]) -> MatchedPattern | None:
    own = keywords(pattern.trigger)
    shared = [word for word in own if not said.isdisjoint(word)]
    if not shared or pattern.confidence <= 0:
        return None
    names = sorted(min(word & said) for word in shared if not is_failure_word(word))
    return MatchedPattern(pattern, len(shared) / len(own), tuple(names))
