"""What may be shown for a message, best first: what was found, each valued, with the neighbours of the best."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kenobot.cognitive.beliefs import value
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall import recall_log
from kenobot.cognitive.recall.candidates import Found, Mentioned
from kenobot.cognitive.recall.filters import Sieve, without_told_weeks
from kenobot.cognitive.recall.pack import Edge, Memory, Way
from kenobot.cognitive.recall.relevance import asked, fits, held
from kenobot.cognitive.recall.score import Features, Score, feedback_delta, fuse, score
from kenobot.cognitive.recall.spreading_activation import Activation, Step, spread
from kenobot.cognitive.recall.weights import learned_for_records
from kenobot.cognitive.store import feedback as value_store
from kenobot.cognitive.store.feedback import NO_OPINION
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.recall_need import asks
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.recall.recall import Query


@dataclass(frozen=True, slots=True)
class Search:
    """What words and names led to, before anything is read of it. names: whom the message means without saying so.

    past: what was said once and no longer holds.
    """

    records: Sequence[Found] = ()
    past: Sequence[Found] = ()
    mentioned: Mentioned = field(default_factory=Mentioned)
    scopes: Sequence[str] = ()
    names: Sequence[str] = ()


def ranked(
    connection: Connection, query: "Query", found: Search, sieve: Sieve, shares: Mapping[int, float]
) -> list[Memory]:
    """The memories that may be shown, best first, with the neighbours of the best among them.

    shares: how near each is, against a usual answer. A question is given what fits best, however well.
    """
    policy = query.policy.recall
    matched = {each.number: each for each in found.records[: policy.read]}
    subjects = sorted(found.mentioned.subjects - {"owner", ""})
    by_name = recall_log.about(connection, found.scopes, subjects, policy.subjects) if query.as_of is None else []
    near = sorted(query.dense, key=lambda number: (-shares.get(number, 0.0), -query.dense[number]))[: policy.read]
    question = asked(query.text, found.names, frozenset(subjects), query.now.astimezone(query.zone).date())
    named = set(by_name)
    likely = list(dict.fromkeys([*matched, *by_name, *near]))
    if not (question.people or question.days or question.calendar):  # of these only what a record says can tell
        promise = {number: _promise(number, matched.get(number), shares, number in named, policy) for number in likely}
        likely.sort(key=lambda number: (-promise[number], -number))
        limit = query.limit or policy.limit
        first = limit * (policy.shortlist_beside if shares else policy.shortlist)
        records = _read(connection, likely, first, limit, sieve)
        if query.trace is not None:
            dropped = query.trace.dropped
            unread = [number for number in likely if number not in records and ("record", number) not in dropped]
            query.trace.promised = {number: promise[number] for number in unread}
    else:
        records = sieve.records(connection, likely)
    value_of = _Valuer(connection, query, found.mentioned, list(records), fitted=bool(shares))
    fitting = fits(question, held(records, matched, shares), policy) if shares else {}
    given = sorted(fitting, key=lambda number: -fitting[number][0])[: policy.nearest] if asks(query.text) else []
    memories = []
    for number, record in records.items():
        hit, dense = matched.get(number), query.dense.get(number)
        relevance = fuse(hit.relevance if hit else 0.0, dense)
        ways: list[Way] = [*(["words"] if hit else []), *(["meaning"] if dense is not None else [])]  # type: ignore[list-item]
        if number in named or record.subject in subjects:
            relevance = max(relevance, policy.mention)
            ways.append("subject")
        if relevance < policy.floor and number not in given:
            sieve.drop("record", number, "irrelevant")
            continue
        fit, parts = fitting.get(number, (relevance, {}))
        memories.append(value_of(record, fit, relevance, tuple(ways), hit, parts))
    memories = without_told_weeks(memories, sieve)
    memories.sort(key=best_first)
    return _with_neighbours(connection, query, memories, sieve, value_of)


def _promise(number: int, hit: Found | None, shares: Mapping[int, float], named: bool, policy: RecallPolicy) -> float:
    """What is known of how well a record fits before it is read: its nearness, its words, whom it is about."""
    words = hit.relevance if hit is not None else 0.0
    if not shares:
        return max(words, policy.mention) if named else words
    weights = learned_for_records()
    return weights["meaning"] * shares.get(number, 0.0) + weights["words"] * words + weights["who"] * named


def _read(connection: Connection, likely: Sequence[int], first: int, limit: int, sieve: Sieve) -> dict[int, Record]:
    """The first of these records that may be shown, so many that what is left out would hardly be among them.

    first: how many are read before it is looked at how many of them may.
    """
    records: dict[int, Record] = {}
    left = list(likely)
    while left and sum(not sieve.on_show(record) for record in records.values()) < 2 * limit:
        some, left = left[:first], left[first:]
        records |= sieve.records(connection, some)
        first = limit
    return records


def best_first(memory: Memory) -> tuple[float, int]:
    """The order of memories: by what they are worth, the newer first among equals."""
    return -memory.score.value, -memory.record.id


class _Valuer:
    """Values records for one message; what people said of them is read once. fitted: by meaning too."""

    def __init__(
        self, connection: Connection, query: "Query", spoken_of: Mentioned, ids: Sequence[int], *, fitted: bool
    ) -> None:
        self._spoken_of = spoken_of
        self._opinions = value_store.opinions(connection, ids)
        self._at = query.as_of or query.now
        self._of_values = query.policy.value
        self._neighbour = query.policy.recall.neighbour
        self._policy = query.policy.recall
        # A question wants its answer, however old it is, and however slight.
        self._kept = self._policy.when_asked if fitted and asks(query.text) else 1.0

    def __call__(
        self,
        record: Record,
        fit: float,
        relevance: float,
        ways: tuple[Way, ...],
        hit: Found | None,
        parts: Mapping[str, float],
    ) -> Memory:
        """A memory by how well it fits, which `parts` explain; `relevance` is what is told of it."""
        effective = value.strength(record, self._at, self._of_values)
        opinion = self._opinions[record.id]
        feedback = 0.0
        if opinion is not NO_OPINION:
            feedback = feedback_delta(opinion.up, opinion.down, self._policy)
        valued = score(
            Features(
                relevance=fit,
                importance=record.importance,
                idle=value.days_since(self._at, record.last_used, record.last_seen, record.created),
                stability=record.stability,
                mentioned=self._spoken_of.boosts(record.subject),
                category=record.category,
                lifecycle=record.lifecycle,
                verification=record.verification,
                confidence=value.clamp(record.confidence),
                effective=effective,
                feedback=feedback,
            ),
            self._policy,
            self._kept,
        )
        matched, terms = (hit.matched, hit.terms) if hit is not None else ((), frozenset[str]())
        return Memory(record, valued, relevance, ways, matched, effective=effective, terms=terms, fits=parts)

    def share(self, path: Iterable[Step]) -> float:
        """What a neighbour is worth of its parent: less with every step and every doubt about the links."""
        share = 1.0
        for step in path:
            share *= self._neighbour * step.confidence
        return share

    def linked(self, record: Record, parent: Memory, found: Activation) -> Memory:
        """A neighbour of `parent`."""
        share = self.share(found.path)
        path = tuple(Edge(step.src, step.dst, step.type, step.confidence) for step in found.path)
        valued = Score(parent.score.value * share, {"neighbour": parent.score.value * share})
        effective = value.strength(record, self._at, self._of_values)
        return Memory(record, valued, parent.relevance * share, ("link",), (), path, effective)


def _with_neighbours(
    connection: Connection, query: "Query", memories: list[Memory], sieve: Sieve, value_of: _Valuer
) -> list[Memory]:
    """`memories`, and what links lead to from the best of them, worth a part of what it hangs on.

    What a neighbour is worth is known before it is read, and only those are read that may come to be shown.
    """
    policy = query.policy.recall
    parents = {memory.record.id: memory for memory in memories[: policy.parents]}
    if not parents or query.as_of is not None:
        return memories
    seeds = {number: memory.score.value for number, memory in parents.items()}
    most = 2 * (query.limit or policy.limit)
    better = sorted(-memory.score.value for memory in memories if not sieve.on_show(memory.record))
    steps = query.policy.graph.steps if len(better) < most else policy.linked  # far ones hardly find a place
    reached = spread(connection, seeds, query.reach, query.policy.graph, at=query.now, steps=steps, known=True)
    known = {memory.record.id for memory in memories}
    fresh = [number for number in reached if number not in known][: policy.read]
    worth = {
        number: parents[reached[number].seed].score.value * value_of.share(reached[number].path) for number in fresh
    }
    left = sorted(fresh, key=lambda number: (-worth[number], -number))
    reserved, found = policy.reserved, list[Memory]()
    while some := left[: _wanted([worth[number] for number in left], better, most, reserved)]:
        left = left[len(some) :]
        for number, record in sieve.records(connection, some).items():
            found.append(value_of.linked(record, parents[reached[number].seed], reached[number]))
            if not sieve.on_show(record):
                reserved -= bisect_right(better, -worth[number]) >= most
                insort(better, -worth[number])
    return sorted([*memories, *found], key=best_first)


def _wanted(worth: Sequence[float], better: Sequence[float], most: int, beyond: int) -> int:
    """How many of these neighbours, best first, come among the first `most`, and `beyond` more, were all to be shown.

    better: what else is worth, below 0, the best first.
    """
    for place, each in enumerate(worth):
        if bisect_right(better, -each) + place >= most:
            return place + max(0, beyond)
    return len(worth)
