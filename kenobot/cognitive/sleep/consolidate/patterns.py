"""Learn patterns from problems that were told with their solution: what to do when it happens again.

Rules find them, in Spanish and English; a model may word them better, in the entry's own words. Each entry teaches one
pattern, once; a pattern learned from another entry too is the surer for it. What sleep itself wrote teaches nothing.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from datetime import timedelta

from kenobot.cognitive.policy.procedural import ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import CONSOLIDATION, candidate_of, one_line, patterns_of
from kenobot.cognitive.sleep.consolidate.unjudged import UnjudgedRecords, is_own_word
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.language.calendar import parse_time
from kenobot.language.problem_words import keyword_similarity
from kenobot.language.similarity import SimilarTexts
from kenobot.language.solutions import (
    RESPONSE_CHARS,
    TRIGGER_CHARS,
    Solution,
    combine_texts,
    find_solution,
    is_grounded,
    mentions_failure,
    mentions_solution,
    trigger_of,
)
from kenobot.ports.identity import Trust
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection

_REMEMBERED = 6  # entries with a failure that a later entry may solve


def plan(view: NightView) -> Iterator[Change]:
    """Learn a pattern of each new problem with its solution; then save the watermark."""
    unjudged = _list_unjudged(view)
    worded = dict(_wordings(unjudged.answers(), view.policy.procedural))
    known = _KnownPatterns(view)
    for solution, sources in _by_rules(view, unjudged, worded):
        yield _learn(solution, sources, known, view)
    for record in unjudged.entries:  # those that the rules judged in an earlier night, when there was no model
        if record.id in worded:
            yield _learn(worded[record.id], (record,), known, view)
    yield from unjudged.save_watermark()


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask how the problems and solutions among the new entries are best worded."""
    return _list_unjudged(view).questions()


def _list_unjudged(view: NightView) -> UnjudgedRecords:
    return UnjudgedRecords(view, "patterns", _choose, 2_000)


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_rules(
    view: NightView, unjudged: UnjudgedRecords, worded: dict[int, Solution]
) -> Iterator[tuple[Solution, tuple[Record, ...]]]:
    """Yield problems with their solutions, and the entry that tells both, or the two that tell one each."""
    policy = view.policy.procedural
    failures: defaultdict[str, deque[Record]] = defaultdict(lambda: deque(maxlen=_REMEMBERED))
    for record in unjudged.records():
        solution = worded.pop(record.id, None) or find_solution(record.text)
        if solution is not None:
            if not _has_taught(view.connection, record):
                yield solution, (record,)
        elif mentions_solution(record.text):
            pairs = (_pair(failure, record, policy) for failure in reversed(failures[record.scope]))
            pair = next(filter(None, pairs), None)
            if pair is not None and not any(_has_taught(view.connection, source) for source in pair[1]):
                yield pair
        elif mentions_failure(record.text):
            failures[record.scope].append(record)


def _pair(failure: Record, solution: Record, policy: ProceduralPolicy) -> tuple[Solution, tuple[Record, ...]] | None:
    """Pair a problem with its solution in another entry of the same turn, or of shortly before or after."""
    then, now = parse_time(failure.created), parse_time(solution.created)
    near = then is not None and now is not None and abs(now - then) <= timedelta(minutes=policy.together_minutes)
    if not near and not set(failure.source_message_ids) & set(solution.source_message_ids):
        return None
    combined = combine_texts(failure.text, solution.text)
    return (combined, (failure, solution)) if combined is not None else None


def _has_taught(connection: Connection, record: Record) -> bool:
    return bool(pattern_rows.select_learned_from(connection, [record.id], (record.scope,)))


class _KnownPatterns:
    """The live patterns of each scope, with those planned so far."""

    def __init__(self, view: NightView) -> None:
        self._connection = view.connection
        self._least = view.policy.procedural.same_from_share
        self._scopes: dict[str, tuple[list[Solution], SimilarTexts]] = {}  # bounded: the patterns there are; night

    def like(self, scope: str, solution: Solution) -> Solution:
        """Return a solution in the words of the pattern that says the same; else as it is, and known from now on."""
        if scope not in self._scopes:
            self._scopes[scope] = [], SimilarTexts()
            for pattern in patterns_of(pattern_rows.iter_patterns(self._connection, (scope,))):
                self._add(scope, Solution(pattern.trigger, pattern.response))
        patterns, triggers = self._scopes[scope]
        for at, _ in triggers.find_similar(solution.trigger, self._least):
            if keyword_similarity(patterns[at].response, solution.response) >= self._least:
                return patterns[at]
        self._add(scope, Solution(one_line(solution.trigger), one_line(solution.response)))
        return solution

    def _add(self, scope: str, solution: Solution) -> None:
        patterns, triggers = self._scopes[scope]
        patterns.append(solution)
        triggers.add(solution.trigger)


def _learn(solution: Solution, sources: tuple[Record, ...], known: _KnownPatterns, view: NightView) -> Change:
    scope = sources[0].scope
    solution = known.like(scope, solution)
    trust: Trust = "guest" if any(record.trust == "guest" for record in sources) else "model"
    candidate = candidate_of(
        scope,
        solution.trigger,
        solution.response,
        source="sleep",
        trust=trust,
        learned_from=CONSOLIDATION,
        confidence=view.policy.procedural.initial_confidence,
        evidence=tuple(sorted({turn for record in sources for turn in record.source_message_ids})),
    )
    ids = tuple(record.id for record in sources)
    names = ", ".join(f"#{number}" for number in ids)
    reason = Sentence("reasons.solved" if len(ids) == 1 else "reasons.solved_by_several", names=names)
    return Change("learned", reason, (AdmitRecord(candidate, derived_from=ids),))


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _choose(view: NightView, entries: Sequence[Record]) -> list[Record]:
    """Return the entries that a model is asked about: those with a failure that have taught nothing yet."""
    own = [record for record in entries if is_own_word(record) and mentions_failure(record.text)]
    taught = {
        number
        for scope in {record.scope for record in own}
        for number in pattern_rows.select_learned_from(view.connection, [record.id for record in own], (scope,))
    }
    return [record for record in own if record.id not in taught]


def _wordings(
    answers: Sequence[tuple[Sequence[Record], dict[str, object]]], policy: ProceduralPolicy
) -> Iterator[tuple[int, Solution]]:
    """Yield the usable solutions of a model by record, the one that counts last."""
    for batch, answer in answers:
        records = {record.id: record for record in batch}
        items = answer.get("patterns")
        for item in reversed(items) if isinstance(items, list) else ():
            match item:
                case {"entry": int(number), "trigger": str(trigger), "response": str(response)} if number in records:
                    solution = _ground(one_line(trigger), one_line(response), records[number].text, policy)
                    if solution is not None:
                        yield number, solution


def _ground(trigger: str, response: str, text: str, policy: ProceduralPolicy) -> Solution | None:
    """Return a model's wording; None when it is too long, says nothing, or says what the entry does not."""
    if len(trigger) > TRIGGER_CHARS or len(response) > RESPONSE_CHARS:
        return None
    if not is_grounded(trigger, text) or not is_grounded(response, text):
        return None
    short = trigger_of(trigger)
    return Solution(short, response) if short else None


PASS = Pass("patterns", "consolidate", "learns what to do from problems that were solved", plan, questions)
