"""A problem and its solution told together become a pattern: what to do when it happens again.

Rules find them, in Spanish and English; a model may word them better, in the entry's own words. Each entry teaches one
pattern, once; a pattern that is learned from another entry too is the surer for it. What sleep itself wrote, such as
its lessons from errors, teaches nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from kenobot.cognitive.policy.practice import PracticePolicy
from kenobot.cognitive.procedural import practice_store
from kenobot.cognitive.procedural.alike import Texts
from kenobot.cognitive.procedural.learn import (
    Solved,
    is_grounded,
    solved,
    tells_solution,
    tells_trouble,
    together,
    trigger_of,
)
from kenobot.cognitive.procedural.pattern import (
    CONSOLIDATION,
    candidate_of,
    likeness,
    patterns_of,
    plain,
)
from kenobot.cognitive.sleep.consolidate import asking
from kenobot.cognitive.sleep.consolidate.fresh import Fresh, by_scope, is_own_word
from kenobot.cognitive.sleep.plan.changes import Change, Learn
from kenobot.cognitive.sleep.plan.passes import Pass, Question, View
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import moment
from kenobot.ports.identity import Trust
from kenobot.storage.connection import Connection

NAME = "patterns"
_SYSTEM = (
    "You keep what somebody learned by solving problems. Each entry may tell a problem and what solved it. For each "
    "that tells both, write what happens as a short trigger (what somebody would say who has the problem again) and "
    "what solved it as a short response, in the entry's language and its own words: add nothing. Leave out entries "
    f"that tell no problem or no solution. {asking.QUOTED} Answer with one JSON object and nothing else: "
    '{"patterns": [{"entry": number, "trigger": "…", "response": "…"}]}.'
)
_REMEMBERED = 6  # entries that an entry may complete: those just before it


@dataclass(slots=True)
class _Lately:
    """The entries of a scope just before the one that is looked at, for a solution that is told apart."""

    troubles: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> None:
        self.troubles = [*self.troubles, record][-_REMEMBERED:]


def plan(view: View) -> Iterator[Change]:
    """Learn a pattern of each problem with its solution that was told since the last time, then note how far."""
    fresh = Fresh(view, NAME)
    entries = fresh.unasked(view.policy.practice.asked)
    asked, worded = _verdicts(view, entries)
    known = _Known(view)
    for told, sources in _told(view, fresh, worded):
        yield from _learned(told, sources, known, view)
    for record in entries:  # those that the rules judged in an earlier night, when nobody could be asked
        if record.id in worded:
            yield from _learned(worded[record.id], (record,), known, view)
    yield from fresh.done(asked)


def questions(view: View) -> Sequence[Question]:
    """How the problems and solutions among what a model has not seen are best worded."""
    entries = Fresh(view, NAME).unasked(view.policy.practice.asked)
    return [_question(batch, view) for batch in _batches(view, entries)]


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


def _told(view: View, fresh: Fresh, worded: dict[int, Solved]) -> Iterator[tuple[Solved, tuple[Record, ...]]]:
    """Problems with their solutions, and the entries that tell them: one, or one the problem and one its solution."""
    policy = view.policy.practice
    lately: dict[str, _Lately] = {}
    for record in fresh.records():
        found = worded.pop(record.id, None) or solved(record.text, policy)
        if found is not None:
            if not _has_taught(view.connection, record):
                yield found, (record,)
            continue
        before = lately.setdefault(record.scope, _Lately())
        if tells_solution(record.text):
            pair = next((pair for other in reversed(before.troubles) if (pair := _pair(other, record, policy))), None)
            if pair is not None and not any(_has_taught(view.connection, each) for each in pair[1]):
                yield pair
        elif tells_trouble(record.text):
            before.add(record)


def _pair(trouble: Record, solution: Record, policy: PracticePolicy) -> tuple[Solved, tuple[Record, ...]] | None:
    """A problem and its solution in two entries that were told together: in one turn, or shortly after one another."""
    then, now = moment(trouble.created), moment(solution.created)
    near = then is not None and now is not None and abs(now - then) <= timedelta(minutes=policy.together_minutes)
    if not near and not set(trouble.witnesses) & set(solution.witnesses):
        return None
    found = together(trouble.text, solution.text, policy)
    return (found, (trouble, solution)) if found is not None else None


def _has_taught(connection: Connection, record: Record) -> bool:
    return bool(practice_store.learned_from(connection, [record.id], (record.scope,)))


class _Known:
    """The live patterns of each scope, with those planned so far."""

    def __init__(self, view: View) -> None:
        self._connection = view.connection
        self._policy = view.policy.practice
        self._patterns: dict[str, _Patterns] = {}

    def like(self, scope: str, told: Solved) -> Solved:
        """`told` in the words of a pattern that says the same already; else as it is, and known from now on."""
        if scope not in self._patterns:
            self._patterns[scope] = _Patterns()
            for pattern in patterns_of(practice_store.pages(self._connection, (scope,))):
                self._patterns[scope].add(Solved(pattern.trigger, pattern.response))
        return self._patterns[scope].like(told, self._policy.alike)


class _Patterns:
    """Patterns of one scope, found by their triggers."""

    def __init__(self) -> None:
        self._all: list[Solved] = []
        self._triggers = Texts()

    def add(self, told: Solved) -> None:
        self._all.append(told)
        self._triggers.add(told.trigger)

    def like(self, told: Solved, least: float) -> Solved:
        for at, _ in self._triggers.like(told.trigger, least):
            if likeness(self._all[at].response, told.response) >= least:
                return self._all[at]
        self.add(Solved(plain(told.trigger), plain(told.response)))
        return told


def _learned(told: Solved, sources: tuple[Record, ...], known: _Known, view: View) -> Iterator[Change]:
    scope = sources[0].scope
    told = known.like(scope, told)
    trust: Trust = "guest" if any(record.trust == "guest" for record in sources) else "model"
    candidate = candidate_of(
        scope,
        told.trigger,
        told.response,
        source="sleep",
        trust=trust,
        learned=CONSOLIDATION,
        confidence=view.policy.practice.learned,
        evidence=tuple(sorted({turn for record in sources for turn in record.witnesses})),
    )
    numbers = tuple(record.id for record in sources)
    names = " and ".join(f"#{number}" for number in numbers)
    reason = f"{names} {'tells' if len(numbers) == 1 else 'tell'} a problem and what solved it"
    yield Change("learned", reason, (Learn(candidate, derived_from=numbers),))


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _batches(view: View, entries: Sequence[Record]) -> list[tuple[Record, ...]]:
    """What a model is asked about: entries that tell of a problem and have taught nothing yet."""
    own = [record for record in entries if is_own_word(record) and tells_trouble(record.text)]
    taught = {
        number
        for scope in {record.scope for record in own}
        for number in practice_store.learned_from(view.connection, [record.id for record in own], (scope,))
    }
    return by_scope([record for record in own if record.id not in taught], view.policy.practice.batch)


def _question(batch: Sequence[Record], view: View) -> Question:
    return Question(_SYSTEM, asking.shown(batch, view.policy.practice.lines), answer_tokens=2_000)


def _verdicts(view: View, entries: Sequence[Record]) -> tuple[int | None, dict[int, Solved]]:
    """The newest record that need not be asked about any more, and how a model words what entries tell."""
    asked = entries[-1].id if entries else None
    worded: dict[int, Solved] = {}
    for batch in _batches(view, entries):
        answer = view.answer(_question(batch, view))
        if answer is None:
            if view.asked and asked is not None:
                asked = min(asked, batch[0].id - 1)
            continue
        told = asking.answered(answer)
        items = told.get("patterns") if told is not None else None
        records = {record.id: record for record in batch}
        for item in items if isinstance(items, list) else ():
            number = item.get("entry") if isinstance(item, dict) else None
            record = records.get(number) if isinstance(number, int) else None
            found = _worded(item, record, view.policy.practice) if record is not None else None
            if record is not None and found is not None:
                worded.setdefault(record.id, found)
    return asked, worded


def _worded(item: Mapping[str, object], record: Record, policy: PracticePolicy) -> Solved | None:
    """What a model made of an entry; None when it is too long, says nothing, or says what the entry does not."""
    trigger, response = item.get("trigger"), item.get("response")
    if not isinstance(trigger, str) or not isinstance(response, str):
        return None
    trigger, response = plain(trigger), plain(response)
    if len(trigger) > policy.trigger or len(response) > policy.response:
        return None
    grounded = is_grounded(trigger, record.text, policy) and is_grounded(response, record.text, policy)
    return Solved(trigger_of(trigger, policy), response) if grounded and trigger_of(trigger, policy) else None


PASS = Pass(NAME, "consolidate", "learns what to do from problems that were solved", plan, questions)
