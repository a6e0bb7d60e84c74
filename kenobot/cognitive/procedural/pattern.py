"""Parse patterns, which say what worked when something happened, and match their triggers to messages. Pure."""

from collections.abc import Iterable

from kenobot.language.problem_words import is_failure_word, keywords, stems_in
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, Form, Source
from kenobot.ports.records import Record

FORM: Form = "procedure"
CATEGORY = "procedure"
CONSOLIDATION = "consolidation"
_ARROW = " → "


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
