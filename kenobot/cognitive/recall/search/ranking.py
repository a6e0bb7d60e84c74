"""Rank the records that may be shown for a message, with the graph neighbours of the best."""

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from kenobot.cognitive.beliefs import value
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.candidates.by_words import LexicalHit, MentionedSubjects
from kenobot.cognitive.recall.candidates.spreading_activation import Activation, spread_activation
from kenobot.cognitive.recall.results.memory import RecalledMemory
from kenobot.cognitive.recall.scoring.relevance import question_features, score_relevance
from kenobot.cognitive.recall.scoring.score import ScoreFeatures, feedback_delta, fuse_relevance, score
from kenobot.cognitive.recall.scoring.weights import record_weights
from kenobot.cognitive.recall.search.filters import RecallFilter, drop_covered_weeks
from kenobot.cognitive.store import feedback
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import MatchWay, PathStep, Score
from kenobot.ports.records import Record
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
    connection: Connection, hits: SearchHits, sieve: RecallFilter, similarities: Mapping[int, float]
) -> list[RecalledMemory]:
    """Rank the memories that may be shown, best first, with the neighbours of the best among them.

    similarities: see `SimilarityCalibration.query_similarity`. A question is given the best, however irrelevant.
    """
    query, policy = sieve.query, sieve.query.policy.recall
    matched = {each.id: each for each in hits.records[: policy.max_candidates]}
    subjects = sorted(hits.mentioned.subjects - {OWNER_SUBJECT, ""})
    by_name: list[int] = []
    if query.as_of is None:
        by_name = recall_rows.records_about(connection, hits.scopes, subjects, policy.records_per_subject)
    near = sorted(
        query.vector_relevance,
        key=lambda number: (-similarities.get(number, 0.0), -query.vector_relevance[number], -number),
    )[: policy.max_candidates]
    question = question_features(query.question, hits.names, frozenset(subjects), query.today)
    named = set(by_name)
    likely = list(dict.fromkeys([*matched, *by_name, *near]))
    if question.people or question.days or question.calendar_names:  # only what a record says can tell
        records = sieve.filter_records(connection, likely)
    else:
        estimates = {each: _estimate(matched.get(each), similarities, each, each in named, policy) for each in likely}
        likely.sort(key=lambda number: (-estimates[number], -number))
        records = _read_best(connection, likely, sieve, beside_vectors=bool(similarities))
        if query.trace is not None:
            dropped = query.trace.dropped
            unread = [each for each in likely if each not in records and ("record", each) not in dropped]
            query.trace.estimates = {each: estimates[each] for each in unread}
    scorer = _Scorer(connection, sieve, hits.mentioned, list(records), beside_vectors=bool(similarities))
    fitting = score_relevance(question, records, matched, similarities, policy) if similarities else {}
    best = sorted(fitting, key=lambda number: (-fitting[number][0], -number))[: policy.max_nearest]
    given = best if query.question.asks else []
    memories = []
    for number, record in records.items():
        hit, dense = matched.get(number), query.vector_relevance.get(number)
        relevance = fuse_relevance(hit.relevance if hit else 0.0, dense)
        ways: list[MatchWay] = []
        if hit:
            ways.append("words")
        if dense:
            ways.append("meaning")
        if number in named or record.subject in subjects:
            relevance = max(relevance, policy.mention_relevance)
            ways.append("subject")
        if not ways:
            ways.append("nearest")
        if relevance < policy.min_relevance and number not in given:
            sieve.drop("record", number, "irrelevant")
            continue
        fit, parts = fitting.get(number, (relevance, {}))
        memories.append(scorer.direct(record, hit, fit, parts, relevance, tuple(ways)))
    memories = drop_covered_weeks(memories, sieve)
    memories.sort(key=rank_key)
    return _with_neighbours(connection, memories, sieve, scorer)


def _estimate(
    hit: LexicalHit | None, similarities: Mapping[int, float], number: int, named: bool, policy: RecallPolicy
) -> float:
    """Estimate the relevance of a record before it is read, by similarity, words and subject."""
    words = hit.relevance if hit is not None else 0.0
    if not similarities:
        return max(words, policy.mention_relevance) if named else words
    weights = record_weights()
    return weights["meaning"] * similarities.get(number, 0.0) + weights["words"] * words + weights["who"] * named


def _read_best(
    connection: Connection, likely: Sequence[int], sieve: RecallFilter, *, beside_vectors: bool
) -> dict[int, Record]:
    """Read the likeliest records until twice the limit may be shown."""
    policy = sieve.query.policy.recall
    size = sieve.query.most_memories * (policy.shortlist_beside if beside_vectors else policy.shortlist)
    records: dict[int, Record] = {}
    left = list(likely)
    while left and sum(not sieve.in_prompt(record) for record in records.values()) < 2 * sieve.query.most_memories:
        some, left = left[:size], left[size:]
        records |= sieve.filter_records(connection, some)
        size = sieve.query.most_memories
    return records


def rank_key(memory: RecalledMemory) -> tuple[float, int]:
    """Order memories by score, the newer first among equals."""
    return -memory.score.value, -memory.record.id


class _Scorer:
    """Score the memories of one query."""

    def __init__(
        self,
        connection: Connection,
        sieve: RecallFilter,
        mentioned: MentionedSubjects,
        ids: Sequence[int],
        *,
        beside_vectors: bool,
    ) -> None:
        query = sieve.query
        self._sieve, self._query, self._policy = sieve, query, query.policy.recall
        self._at = query.as_of or query.now
        self._mentioned = mentioned
        self._feedback = feedback.feedback_counts(connection, ids)
        # A question wants its answer, however old it is, and however slight.
        self._kept = self._policy.when_asked if beside_vectors and query.question.asks else 1.0

    def direct(
        self,
        record: Record,
        hit: LexicalHit | None,
        fit: float,
        parts: Mapping[str, float],
        relevance: float,
        ways: tuple[MatchWay, ...],
    ) -> RecalledMemory:
        """Score a record that was found by its fit, which `parts` explain."""
        confidence, counts = self._confidence(record), self._feedback[record.id]
        features = ScoreFeatures(
            relevance=fit,
            importance=record.importance,
            idle_days=value.days_since(self._at, record.last_used, record.last_seen, record.created),
            stability=record.stability,
            mentioned=self._mentioned.includes(record.subject),
            category=record.category,
            lifecycle=record.lifecycle,
            verification=record.verification,
            confidence=value.clamp(record.confidence),
            current_confidence=confidence,
            feedback=feedback_delta(counts.approvals, counts.objections, self._policy),
        )
        matched, terms = (hit.matched, hit.terms) if hit is not None else ((), frozenset[str]())
        scored = score(features, self._policy, self._kept)
        return RecalledMemory(
            record,
            scored,
            relevance,
            ways,
            matched,
            (),
            confidence,
            on_show=self._sieve.in_prompt(record),
            terms=terms,
            relevance_parts=parts,
        )

    def score_neighbour(self, record: Record, parent: RecalledMemory, found: Activation) -> RecalledMemory:
        """Score a neighbour of `parent`."""
        share = self.share(found.path)
        scored = Score(parent.score.value * share, {"neighbour": parent.score.value * share})
        confidence = self._confidence(record)
        on_show = self._sieve.in_prompt(record)
        relevance = parent.relevance * share
        return RecalledMemory(record, scored, relevance, ("link",), (), found.path, confidence, on_show=on_show)

    def share(self, path: Iterable[PathStep]) -> float:
        """Compute a neighbour's share of its parent's score: less with each step, and with less confident links."""
        share = 1.0
        for step in path:
            share *= self._policy.share_per_step * step.confidence
        return share

    def _confidence(self, record: Record) -> float:
        return value.strength(record, self._at, self._query.policy.value)


def _with_neighbours(
    connection: Connection, memories: list[RecalledMemory], sieve: RecallFilter, scorer: _Scorer
) -> list[RecalledMemory]:
    """Add the neighbours of the best memories, each with a share of its parent's score.

    That score is known before a neighbour is read, so only those are read that may come to be shown.
    """
    query, policy = sieve.query, sieve.query.policy.recall
    parents = {memory.record.id: memory for memory in memories[: policy.parents]}
    if not parents or query.as_of is not None or query.all_shown:  # neighbours on show already are no news
        return memories
    seeds = {number: memory.score.value for number, memory in parents.items()}
    most = 2 * query.most_memories
    better = sorted([-memory.score.value for memory in memories if not memory.on_show])
    steps = query.policy.graph.max_steps if len(better) < most else policy.max_linked  # far ones hardly find a place
    reached = spread_activation(
        connection, seeds, query.reach, query.policy.graph, at=query.now, steps=steps, known=True
    )
    known = {memory.record.id for memory in memories}
    fresh = [number for number in reached if number not in known][: policy.max_candidates]
    worth = {number: seeds[reached[number].seed] * scorer.share(reached[number].path) for number in fresh}
    left = sorted(worth, key=lambda number: (-worth[number], -number))
    reserved, found = policy.reserved_for_linked, list[RecalledMemory]()
    while some := left[: _count_wanted([worth[number] for number in left], better, most, reserved)]:
        left = left[len(some) :]
        for number, record in sieve.filter_records(connection, some).items():
            found.append(scorer.score_neighbour(record, parents[reached[number].seed], reached[number]))
            if not found[-1].on_show:
                reserved -= bisect_right(better, -worth[number]) >= most
                insort(better, -worth[number])
    return sorted([*memories, *found], key=rank_key)


def _count_wanted(worth: Sequence[float], better: Sequence[float], most: int, beyond: int) -> int:
    """Count the neighbours, best first, among the first `most`, and `beyond` more.

    better: negated scores of the other memories, ascending.
    """
    for place, each in enumerate(worth):
        if bisect_right(better, -each) + place >= most:
            return place + max(0, beyond)
    return len(worth)
