"""A problem and its solution told together become a pattern: what to do when it happens again.

Rules find them, in Spanish and English; a model may word them better, in the entry's own words. Each entry teaches one
pattern, once; a pattern that is learned from another entry too is the surer for it. What sleep itself wrote, such as
its lessons from errors, teaches nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from kenobot.cognitive.policy.procedural import ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.find_solution import (
    Solution,
    combine_texts,
    find_solution,
    is_grounded,
    mentions_failure,
    mentions_solution,
    trigger_of,
)
from kenobot.cognitive.procedural.pattern import (
    CONSOLIDATION,
    candidate_of,
    keyword_similarity,
    one_line,
    patterns_of,
)
from kenobot.cognitive.procedural.similar_texts import SimilarTexts
from kenobot.cognitive.sleep.consolidate.unjudged import UnjudgedRecords, batches_by_scope, is_own_word
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import parse_time
from kenobot.ports.identity import Trust
from kenobot.storage.connection import Connection

NAME = "patterns"
_SYSTEM = (
    "You keep what somebody learned by solving problems. Each entry may tell a problem and what solved it. For each "
    "that tells both, write what happens as a short trigger (what somebody would say who has the problem again) and "
    "what solved it as a short response, in the entry's language and its own words: add nothing. Leave out entries "
    f"that tell no problem or no solution. {model_answers.QUOTED_DATA_NOTICE} "
    "Answer with one JSON object and nothing else: "
    '{"patterns": [{"entry": number, "trigger": "…", "response": "…"}]}.'
)
_REMEMBERED = 6  # entries that an entry may complete: those just before it


@dataclass(slots=True)
class _Lately:
    """The entries of a scope just before the one that is looked at, for a solution that is told apart."""

    troubles: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> None:
        self.troubles = [*self.troubles, record][-_REMEMBERED:]


def plan(view: NightView) -> Iterator[Change]:
    """Learn a pattern of each problem with its solution that was told since the last time, then note how far."""
    fresh = UnjudgedRecords(view, NAME)
    entries = fresh.not_yet_asked(view.policy.procedural.max_entries_asked)
    asked, worded = _verdicts(view, entries)
    known = _Known(view)
    for told, sources in _told(view, fresh, worded):
        yield from _learned(told, sources, known, view)
    for record in entries:  # those that the rules judged in an earlier night, when nobody could be asked
        if record.id in worded:
            yield from _learned(worded[record.id], (record,), known, view)
    yield from fresh.save_watermark(asked)


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """How the problems and solutions among what a model has not seen are best worded."""
    entries = UnjudgedRecords(view, NAME).not_yet_asked(view.policy.procedural.max_entries_asked)
    return [_question(batch, view) for batch in _batches(view, entries)]


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


def _told(
    view: NightView, fresh: UnjudgedRecords, worded: dict[int, Solution]
) -> Iterator[tuple[Solution, tuple[Record, ...]]]:
    """Problems with their solutions, and the entries that tell them: one, or one the problem and one its solution."""
    policy = view.policy.procedural
    lately: dict[str, _Lately] = {}
    for record in fresh.records():
        found = worded.pop(record.id, None) or find_solution(record.text, policy)
        if found is not None:
            if not _has_taught(view.connection, record):
                yield found, (record,)
            continue
        before = lately.setdefault(record.scope, _Lately())
        if mentions_solution(record.text):
            pair = next((pair for other in reversed(before.troubles) if (pair := _pair(other, record, policy))), None)
            if pair is not None and not any(_has_taught(view.connection, each) for each in pair[1]):
                yield pair
        elif mentions_failure(record.text):
            before.add(record)


def _pair(trouble: Record, solution: Record, policy: ProceduralPolicy) -> tuple[Solution, tuple[Record, ...]] | None:
    """A problem and its solution in two entries that were told together: in one turn, or shortly after one another."""
    then, now = parse_time(trouble.created), parse_time(solution.created)
    near = then is not None and now is not None and abs(now - then) <= timedelta(minutes=policy.together_minutes)
    if not near and not set(trouble.source_message_ids) & set(solution.source_message_ids):
        return None
    found = combine_texts(trouble.text, solution.text, policy)
    return (found, (trouble, solution)) if found is not None else None


def _has_taught(connection: Connection, record: Record) -> bool:
    return bool(pattern_rows.learned_from(connection, [record.id], (record.scope,)))


class _Known:
    """The live patterns of each scope, with those planned so far."""

    def __init__(self, view: NightView) -> None:
        self._connection = view.connection
        self._policy = view.policy.procedural
        self._patterns: dict[str, _Patterns] = {}

    def like(self, scope: str, told: Solution) -> Solution:
        """`told` in the words of a pattern that says the same already; else as it is, and known from now on."""
        if scope not in self._patterns:
            self._patterns[scope] = _Patterns()
            for pattern in patterns_of(pattern_rows.iter_patterns(self._connection, (scope,))):
                self._patterns[scope].add(Solution(pattern.trigger, pattern.response))
        return self._patterns[scope].like(told, self._policy.same_from_share)


class _Patterns:
    """Patterns of one scope, found by their triggers."""

    def __init__(self) -> None:
        self._all: list[Solution] = []
        self._triggers = SimilarTexts()

    def add(self, told: Solution) -> None:
        self._all.append(told)
        self._triggers.add(told.trigger)

    def like(self, told: Solution, least: float) -> Solution:
        for at, _ in self._triggers.find_similar(told.trigger, least):
            if keyword_similarity(self._all[at].response, told.response) >= least:
                return self._all[at]
        self.add(Solution(one_line(told.trigger), one_line(told.response)))
        return told


def _learned(told: Solution, sources: tuple[Record, ...], known: _Known, view: NightView) -> Iterator[Change]:
    scope = sources[0].scope
    told = known.like(scope, told)
    trust: Trust = "guest" if any(record.trust == "guest" for record in sources) else "model"
    candidate = candidate_of(
        scope,
        told.trigger,
        told.response,
        source="sleep",
        trust=trust,
        learned_from=CONSOLIDATION,
        confidence=view.policy.procedural.initial_confidence,
        evidence=tuple(sorted({turn for record in sources for turn in record.source_message_ids})),
    )
    numbers = tuple(record.id for record in sources)
    names = " and ".join(f"#{number}" for number in numbers)
    reason = f"{names} {'tells' if len(numbers) == 1 else 'tell'} a problem and what solved it"
    yield Change("learned", reason, (AdmitRecord(candidate, derived_from=numbers),))


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _batches(view: NightView, entries: Sequence[Record]) -> list[tuple[Record, ...]]:
    """What a model is asked about: entries that tell of a problem and have taught nothing yet."""
    own = [record for record in entries if is_own_word(record) and mentions_failure(record.text)]
    taught = {
        number
        for scope in {record.scope for record in own}
        for number in pattern_rows.learned_from(view.connection, [record.id for record in own], (scope,))
    }
    return batches_by_scope([record for record in own if record.id not in taught], view.policy.procedural.batch)


def _question(batch: Sequence[Record], view: NightView) -> ModelQuestion:
    return ModelQuestion(
        _SYSTEM, model_answers.quote_records(batch, view.policy.procedural.entry_chars), answer_tokens=2_000
    )


def _verdicts(view: NightView, entries: Sequence[Record]) -> tuple[int | None, dict[int, Solution]]:
    """The newest record that need not be asked about any more, and how a model words what entries tell."""
    asked = entries[-1].id if entries else None
    worded: dict[int, Solution] = {}
    for batch in _batches(view, entries):
        answer = view.answer(_question(batch, view))
        if answer is None:
            if view.model_available and asked is not None:
                asked = min(asked, batch[0].id - 1)
            continue
        told = model_answers.parse_object(answer)
        items = told.get("patterns") if told is not None else None
        records = {record.id: record for record in batch}
        for item in items if isinstance(items, list) else ():
            number = item.get("entry") if isinstance(item, dict) else None
            record = records.get(number) if isinstance(number, int) else None
            found = _worded(item, record, view.policy.procedural) if record is not None else None
            if record is not None and found is not None:
                worded.setdefault(record.id, found)
    return asked, worded


def _worded(item: Mapping[str, object], record: Record, policy: ProceduralPolicy) -> Solution | None:
    """What a model made of an entry; None when it is too long, says nothing, or says what the entry does not."""
    trigger, response = item.get("trigger"), item.get("response")
    if not isinstance(trigger, str) or not isinstance(response, str):
        return None
    trigger, response = one_line(trigger), one_line(response)
    if len(trigger) > policy.trigger_chars or len(response) > policy.response_chars:
        return None
    grounded = is_grounded(trigger, record.text, policy) and is_grounded(response, record.text, policy)
    return Solution(trigger_of(trigger, policy), response) if grounded and trigger_of(trigger, policy) else None


PASS = Pass(NAME, "consolidate", "learns what to do from problems that were solved", plan, questions)
