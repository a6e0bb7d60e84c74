"""Rank the records that may be shown for a message, with the graph neighbours of the best."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kenobot.cognitive.beliefs import value
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates import recall_log
from kenobot.cognitive.recall.candidates.by_words import LexicalHit, MentionedSubjects
from kenobot.cognitive.recall.candidates.spreading_activation import Activation, PathStep, spread_activation
from kenobot.cognitive.recall.results.memory import MatchWay, MemoryQuery, RecalledMemory
from kenobot.cognitive.recall.scoring.relevance import question_features, score_relevance
from kenobot.cognitive.recall.scoring.score import Score, ScoreFeatures, feedback_delta, fuse_relevance, score
from kenobot.cognitive.recall.scoring.weights import record_weights
from kenobot.cognitive.recall.search.filters import RecallFilter, drop_covered_weeks
from kenobot.cognitive.store import feedback as value_store
from kenobot.cognitive.store.feedback import NO_FEEDBACK
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.recall_need import is_question
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Candidates by words and names, not read yet. past: superseded records. names: of people meant but not named."""

    records: Sequence[LexicalHit] = ()
    past: Sequence[LexicalHit] = ()
    mentioned: MentionedSubjects = field(default_factory=MentionedSubjects)
    scopes: Sequence[str] = ()
    names: Sequence[str] = ()


def rank_records(
    connection: Connection, query: MemoryQuery, found: SearchHits, sieve: RecallFilter, shares: Mapping[int, float]
) -> list[RecalledMemory]:
    """Rank the memories that may be shown, best first, with the neighbours of the best among them.

    shares: similarities; see `SimilarityCalibration.share`. A question is given the best, however irrelevant.
    """
    policy = query.policy.recall
    matched = {each.id: each for each in found.records[: policy.max_candidates]}
    subjects = sorted(found.mentioned.subjects - {"owner", ""})
    by_name = (
        recall_log.records_about(connection, found.scopes, subjects, policy.records_per_subject)
        if query.as_of is None
        else []
    )
    near = sorted(
        query.vector_relevance, key=lambda number: (-shares.get(number, 0.0), -query.vector_relevance[number])
    )[: policy.max_candidates]
    question = question_features(query.text, found.names, frozenset(subjects), query.now.astimezone(query.zone).date())
    named = set(by_name)
    likely = list(dict.fromkeys([*matched, *by_name, *near]))
    if not (question.people or question.days or question.calendar_names):  # of these only what a record says can tell
        promise = {number: _promise(number, matched.get(number), shares, number in named, policy) for number in likely}
        likely.sort(key=lambda number: (-promise[number], -number))
        limit = query.limit or policy.limit
        first = limit * (policy.shortlist_beside if shares else policy.shortlist)
        records = _read(connection, likely, first, limit, sieve)
        if query.trace is not None:
            dropped = query.trace.dropped
            unread = [number for number in likely if number not in records and ("record", number) not in dropped]
            query.trace.estimates = {number: promise[number] for number in unread}
    else:
        records = sieve.filter_records(connection, likely)
    value_of = _Valuer(connection, query, found.mentioned, list(records), fitted=bool(shares))
    fitting = score_relevance(question, records, matched, shares, policy) if shares else {}
    given = (
        sorted(fitting, key=lambda number: -fitting[number][0])[: policy.max_nearest] if is_question(query.text) else []
    )
    memories = []
    for number, record in records.items():
        hit, dense = matched.get(number), query.vector_relevance.get(number)
        relevance = fuse_relevance(hit.relevance if hit else 0.0, dense)
        ways: list[MatchWay] = [*(["words"] if hit else []), *(["meaning"] if dense is not None else [])]  # type: ignore[list-item]
        if number in named or record.subject in subjects:
            relevance = max(relevance, policy.mention_relevance)
            ways.append("subject")
        if relevance < policy.min_relevance and number not in given:
            sieve.drop("record", number, "irrelevant")
            continue
        fit, parts = fitting.get(number, (relevance, {}))
        memories.append(value_of(record, fit, relevance, tuple(ways), hit, parts))
    memories = drop_covered_weeks(memories, sieve)
    memories.sort(key=rank_key)
    return _with_neighbours(connection, query, memories, sieve, value_of)


def _promise(
    number: int, hit: LexicalHit | None, shares: Mapping[int, float], named: bool, policy: RecallPolicy
) -> float:
    """Estimate the relevance of a record before it is read, by similarity, words and subject."""
    words = hit.relevance if hit is not None else 0.0
    if not shares:
        return max(words, policy.mention_relevance) if named else words
    weights = record_weights()
    return weights["meaning"] * shares.get(number, 0.0) + weights["words"] * words + weights["who"] * named


def _read(
    connection: Connection, likely: Sequence[int], first: int, limit: int, sieve: RecallFilter
) -> dict[int, Record]:
    """Read the likeliest records until twice the limit may be shown. first: size of the first batch."""
    records: dict[int, Record] = {}
    left = list(likely)
    while left and sum(not sieve.in_prompt(record) for record in records.values()) < 2 * limit:
        some, left = left[:first], left[first:]
        records |= sieve.filter_records(connection, some)
        first = limit
    return records


def rank_key(memory: RecalledMemory) -> tuple[float, int]:
    """Order memories by score, the newer first among equals."""
    return -memory.score.value, -memory.record.id


class _Valuer:
    """Score records for one message. fitted: their relevance is by meaning too."""

    def __init__(
        self,
        connection: Connection,
        query: MemoryQuery,
        spoken_of: MentionedSubjects,
        ids: Sequence[int],
        *,
        fitted: bool,
    ) -> None:
        self._spoken_of = spoken_of
        self._opinions = value_store.feedback_counts(connection, ids)
        self._at = query.as_of or query.now
        self._of_values = query.policy.value
        self._neighbour = query.policy.recall.share_per_step
        self._policy = query.policy.recall
        # A question wants its answer, however old it is, and however slight.
        self._kept = self._policy.when_asked if fitted and is_question(query.text) else 1.0

    def __call__(
        self,
        record: Record,
        fit: float,
        relevance: float,
        ways: tuple[MatchWay, ...],
        hit: LexicalHit | None,
        parts: Mapping[str, float],
    ) -> RecalledMemory:
        """Score a record by its fit, which `parts` explain."""
        effective = value.strength(record, self._at, self._of_values)
        opinion = self._opinions[record.id]
        feedback = 0.0
        if opinion is not NO_FEEDBACK:
            feedback = feedback_delta(opinion.approvals, opinion.objections, self._policy)
        valued = score(
            ScoreFeatures(
                relevance=fit,
                importance=record.importance,
                idle_days=value.days_since(self._at, record.last_used, record.last_seen, record.created),
                stability=record.stability,
                mentioned=self._spoken_of.includes(record.subject),
                category=record.category,
                lifecycle=record.lifecycle,
                verification=record.verification,
                confidence=value.clamp(record.confidence),
                current_confidence=effective,
                feedback=feedback,
            ),
            self._policy,
            self._kept,
        )
        matched, terms = (hit.matched, hit.terms) if hit is not None else ((), frozenset[str]())
        return RecalledMemory(
            record, valued, relevance, ways, matched, current_confidence=effective, terms=terms, relevance_parts=parts
        )

    def share(self, path: Iterable[PathStep]) -> float:
        """Compute a neighbour's share of its parent's score: less with each step, and with less confident links."""
        share = 1.0
        for step in path:
            share *= self._neighbour * step.confidence
        return share

    def linked(self, record: Record, parent: RecalledMemory, found: Activation) -> RecalledMemory:
        """Score a neighbour of `parent`."""
        share = self.share(found.path)
        valued = Score(parent.score.value * share, {"neighbour": parent.score.value * share})
        effective = value.strength(record, self._at, self._of_values)
        return RecalledMemory(record, valued, parent.relevance * share, ("link",), (), found.path, effective)


def _with_neighbours(
    connection: Connection, query: MemoryQuery, memories: list[RecalledMemory], sieve: RecallFilter, value_of: _Valuer
) -> list[RecalledMemory]:
    """Add the neighbours of the best memories, each with a share of its parent's score.

    That score is known before a neighbour is read, so only those are read that may come to be shown.
    """
    policy = query.policy.recall
    parents = {memory.record.id: memory for memory in memories[: policy.parents]}
    if not parents or query.as_of is not None:
        return memories
    seeds = {number: memory.score.value for number, memory in parents.items()}
    most = 2 * (query.limit or policy.limit)
    better = sorted(-memory.score.value for memory in memories if not sieve.in_prompt(memory.record))
    steps = query.policy.graph.max_steps if len(better) < most else policy.max_linked  # far ones hardly find a place
    reached = spread_activation(
        connection, seeds, query.reach, query.policy.graph, at=query.now, steps=steps, known=True
    )
    known = {memory.record.id for memory in memories}
    fresh = [number for number in reached if number not in known][: policy.max_candidates]
    worth = {
        number: parents[reached[number].seed].score.value * value_of.share(reached[number].path) for number in fresh
    }
    left = sorted(fresh, key=lambda number: (-worth[number], -number))
    reserved, found = policy.reserved_for_linked, list[RecalledMemory]()
    while some := left[: _wanted([worth[number] for number in left], better, most, reserved)]:
        left = left[len(some) :]
        for number, record in sieve.filter_records(connection, some).items():
            found.append(value_of.linked(record, parents[reached[number].seed], reached[number]))
            if not sieve.in_prompt(record):
                reserved -= bisect_right(better, -worth[number]) >= most
                insort(better, -worth[number])
    return sorted([*memories, *found], key=rank_key)


def _wanted(worth: Sequence[float], better: Sequence[float], most: int, beyond: int) -> int:
    """Count the neighbours, best first, among the first `most`, and `beyond` more.

    better: negated scores of the other memories, ascending.
    """
    for place, each in enumerate(worth):
        if bisect_right(better, -each) + place >= most:
            return place + max(0, beyond)
    return len(worth)
