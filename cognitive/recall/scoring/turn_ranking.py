"""What was said, ranked for a question: by its words, by what stands around it, by who said it and when, by meaning.

BM25 of the turn, of it with its neighbours and of its whole stretch of talk; each as x / (x of the best + 4), so that
a weak best stays weak. What is looked at is bounded: the rarest words' newest turns, the nearest in meaning, the
neighbours of the best, and the best stretches whole.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from heapq import nlargest
from operator import mul

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates.by_meaning import rescale
from kenobot.cognitive.recall.candidates.by_words import ParsedQuery, QueryTerm, idf
from kenobot.cognitive.recall.index import conversation_rows, postings
from kenobot.cognitive.recall.index.conversation_rows import IndexedTurn
from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.scoring.score import fuse_relevance
from kenobot.cognitive.recall.scoring.weights import TURN_PRIOR, turn_weights
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.cognitive.text.times import asks_time, parse_date_range
from kenobot.cognitive.text.words import fold
from kenobot.storage.connection import Connection

_TURN = (0.9, 0.4)  # k1 and b of BM25
_STRETCH = (1.2, 0.75)
_DAMP = 4.0
_EITHER = 0.5
_BEST_OF_STRETCH = 3
_WINDOW = 3


@dataclass(frozen=True, slots=True)
class RankedTurn:
    """A turn, what it is worth to a question, and of what that is the sum. relevance: 0 to 1, as of records.

    segment_relevance: relevance of the most relevant turn of its stretch: what answers a question may share no word
    with it, and stand beside what does.
    """

    turn: IndexedTurn
    score: float
    relevance: float
    segment_relevance: float
    matched_terms: tuple[QueryTerm, ...]
    feature_values: tuple[float, ...]

    @property
    def matched(self) -> tuple[str, ...]:
        """The words of the question that it holds, as stems."""
        return tuple(word.stems[0] for word in self.matched_terms)

    @property
    def features(self) -> Mapping[str, float]:
        """What the score is of, by the name of the weight."""
        return dict(zip(TURN_PRIOR, self.feature_values, strict=True))


@dataclass(slots=True)
class _Talk:
    """The turns that are looked at, by message. held: the words of the question that each has, as a bit mask."""

    words: Sequence[QueryTerm]
    gains: Sequence[float]
    turns: dict[int, IndexedTurn] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    held: dict[int, int] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    # bounded: a few hundred turns: the policy; turn
    places: dict[tuple[int, int], IndexedTurn] = field(default_factory=dict)
    ses: dict[int, float] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    sums: dict[int, float] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    stretches: int = 1
    usual: float = 1.0

    def add(self, turns: Iterable[IndexedTurn]) -> None:
        for turn in turns:
            self.turns[turn.message] = turn
            self.places[turn.segment, turn.position] = turn

    def bits(self, message: int) -> list[int]:
        """Which of the words a turn has."""
        mask = self.held.get(message, 0)
        return [at for at in range(len(self.words)) if mask >> at & 1] if mask else []

    def said(self, message: int) -> tuple[QueryTerm, ...]:
        """The same, themselves."""
        return tuple(self.words[at] for at in self.bits(message))

    def worth(self, mask: int) -> float:
        """What the words of a bit mask gain together. Few masks are asked for, each often."""
        if mask not in self.sums:
            self.sums[mask] = sum(gain for at, gain in enumerate(self.gains) if mask >> at & 1)
        return self.sums[mask]


def rank_turns(
    index: SideIndex,
    text: str,
    today: date,
    scopes: Sequence[str] | None,
    query: ParsedQuery,
    policy: Policy,
    *,
    whole: bool = False,
) -> list[RankedTurn]:
    """The turns within `scopes` that are most about a question, best first. today: the day it is asked.

    whole: all that were looked at, for who wants to know why one is not among the first.
    """
    none = _Talk((), ())
    near = (
        index.vectors.turn_similarities(text, scopes, (), policy.recall.max_near_turns)
        if index.vectors is not None
        else {}
    )
    talk = index.read(partial(_gather, scopes=scopes, query=query, near=near, policy=policy.recall), none)
    if not talk.turns:
        return []
    if index.vectors is not None and near:
        near = {**index.vectors.turn_similarities(text, scopes, talk.turns.keys() - near.keys(), 0), **near}
    if whole:
        policy = replace(policy, recall=replace(policy.recall, max_ranked_turns=len(talk.turns)))
    return _valued(talk, near, query, text, today, policy)


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _gather(
    index: Connection,
    *,
    scopes: Sequence[str] | None,
    query: ParsedQuery,
    near: Mapping[int, float],
    policy: RecallPolicy,
) -> _Talk:
    rooms = postings.partitions(index, scopes, ("turn",))
    total = sum(room.docs for room in rooms)
    if not total:
        return _Talk((), ())
    tokens = {word: [room.token(stem) for room in rooms for stem in word.stems] for word in query.terms}
    standing = postings.document_counts(index, [token for group in tokens.values() for token in group])
    docs = {word: min(total, max((standing.get(t, 0) for t in group), default=0)) for word, group in tokens.items()}
    chosen = sorted((word for word in docs if docs[word]), key=lambda word: (-word.weight, docs[word]))
    chosen = chosen[: policy.turn_words]
    talk = _Talk(chosen, [word.weight * idf(total, docs[word]) for word in chosen])
    left = policy.turn_postings
    for at, word in enumerate(chosen):
        known = [token for token in tokens[word] if token in standing]
        found = postings.documents_with(index, [known], min(left, policy.turn_list)) if left > 0 else []
        left -= len(found)
        for document in found:
            message = document // IDS_PER_SOURCE
            talk.held[message] = talk.held.get(message, 0) | 1 << at
    best = nlargest(policy.max_turns_read, talk.held, key=lambda message: (talk.worth(talk.held[message]), message))
    talk.add(conversation_rows.turns_by_message(index, [*best, *near]))
    talk.stretches = max(1, conversation_rows.segment_count(index, scopes))
    talk.usual = max(1.0, sum(turn.word_count for turn in talk.turns.values()) / max(1, len(talk.turns)))
    first = [
        *best[: policy.turns_with_neighbours],
        *sorted(near, key=lambda message: -near[message])[: policy.turns_with_neighbours],
    ]
    beside = {
        (turn.segment, turn.position + step)
        for message in first
        if (turn := talk.turns.get(message)) is not None
        for step in (-1, 1)
    }
    talk.add(conversation_rows.turns_at(index, beside - talk.places.keys()))
    talk.ses = _of_stretches(index, talk, policy)
    by_meaning = _best_of(talk, near)
    most = max(by_meaning.values(), default=0.0) or 1.0
    both = {s: talk.ses.get(s, 0.0) + max(0.0, by_meaning.get(s, 0.0)) / most for s in {*talk.ses, *by_meaning}}
    talk.add(conversation_rows.turns_of_segments(index, sorted(both, key=lambda s: -both[s])[: policy.stretches]))
    return talk


def _of_stretches(index: Connection, talk: _Talk, policy: RecallPolicy) -> dict[int, float]:
    """BM25 of each stretch, as if it were one text, of those that hold most; see `ses` in the weights."""
    counts: dict[int, dict[int, int]] = {}
    for message, turn in talk.turns.items():
        for at in talk.bits(message):
            held = counts.setdefault(turn.segment, {})
            held[at] = held.get(at, 0) + 1
    inside = [sum(at in held for held in counts.values()) for at in range(len(talk.words))]
    gains = [word.weight * idf(talk.stretches, n) for word, n in zip(talk.words, inside, strict=True)]
    rough = {stretch: sum(gains[at] for at in held) for stretch, held in counts.items()}
    best = sorted(rough, key=lambda stretch: -rough[stretch])[: policy.long_stretches]
    lengths = conversation_rows.segment_word_counts(index, best)
    usual = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    values = {
        stretch: sum(
            _bm25(gains[at], n, lengths.get(stretch, 0) / usual, _STRETCH) for at, n in counts[stretch].items()
        )
        for stretch in best
    }
    return _damped(values)


def _bm25(gain: float, count: float, length: float, constants: tuple[float, float]) -> float:
    """What a word that is said `count` times adds. length: of the text, against the usual."""
    k1, b = constants
    return gain * count * (k1 + 1) / (count + k1 * (1 - b + b * length))


def _damped(values: dict[int, float]) -> dict[int, float]:
    most = max(values.values(), default=0.0)
    return {key: value / (most + _DAMP) for key, value in values.items()}


def _best_of(talk: _Talk, near: Mapping[int, float]) -> dict[int, float]:
    """How near the nearest turns of each stretch are, on the mean."""
    groups: dict[int, list[float]] = {}
    for message, share in near.items():
        turn = talk.turns.get(message)
        if turn is not None:
            groups.setdefault(turn.segment, []).append(share)
    best = {stretch: sorted(shares)[-_BEST_OF_STRETCH:] for stretch, shares in groups.items()}
    return {stretch: sum(shares) / _BEST_OF_STRETCH for stretch, shares in best.items()}


# ── valuing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _valued(
    talk: _Talk, near: Mapping[int, float], query: ParsedQuery, text: str, today: date, whole: Policy
) -> list[RankedTurn]:
    policy = whole.recall
    plain = fold(text)
    asked, days = asks_time(plain), parse_date_range(plain, today)
    said_by = _named(talk, query)
    full = sum(sorted(talk.gains, reverse=True)[: policy.words_of_full_match]) or 1.0
    raw = {message: _own(talk, message) for message in talk.held.keys() & talk.turns.keys()}
    lex = _damped(raw)
    win = _damped({message: _with_neighbours(talk, turn) for message, turn in talk.turns.items()})
    close = rescale(near)
    around = _best_of(talk, close)
    weights = tuple(turn_weights().values())
    own = {
        message: _relevance(raw.get(message, 0.0) / full, near.get(message), whole)
        for message in (raw.keys() | near.keys()) & talk.turns.keys()
    }
    best: dict[int, float] = {}
    for message, turn in talk.turns.items():
        best[turn.segment] = max(best.get(turn.segment, 0.0), own.get(message, 0.0))
    found = []
    for message, turn in talk.turns.items():
        values = (
            lex.get(message, 0.0),
            win[message],
            talk.ses.get(turn.segment, 0.0),
            said_by(turn),
            float(turn.is_question),
            math.log1p(turn.word_count) / _DAMP,
            float(asked and turn.has_time),
            days.closeness(turn.date) if days is not None else 0.0,
            close.get(message, 0.0),
            around.get(turn.segment, 0.0),
        )
        found.append((sum(map(mul, weights, values)), message, turn, values))
    return [
        RankedTurn(turn, score, own.get(message, 0.0), best[turn.segment], talk.said(message), values)
        for score, message, turn, values in nlargest(policy.max_ranked_turns, found)
    ]


def _relevance(share: float, near: float | None, policy: Policy) -> float:
    """How much a turn is about a question by itself. share: of the weight of its words; near: in meaning."""
    meant = relevance_from_similarity(near, policy.meaning) if near is not None else None
    return fuse_relevance(math.tanh(policy.recall.steepness * min(1.0, share)), meant)


def _own(talk: _Talk, message: int) -> float:
    """BM25 of a turn, as if it said each word once: nearly all do."""
    mask = talk.held.get(message, 0)
    return _bm25(talk.worth(mask), 1, talk.turns[message].word_count / talk.usual, _TURN) if mask else 0.0


def _with_neighbours(talk: _Talk, turn: IndexedTurn) -> float:
    """BM25 of a turn with the ones before and after it."""
    before = talk.places.get((turn.segment, turn.position - 1))
    after = talk.places.get((turn.segment, turn.position + 1))
    own = talk.held.get(turn.message, 0)
    one = talk.held.get(before.message, 0) if before is not None else 0
    other = talk.held.get(after.message, 0) if after is not None else 0
    said = own | one | other
    if not said:
        return 0.0
    thrice = own & one & other
    twice = (own & one | own & other | one & other) & ~thrice
    words = turn.word_count + sum(each.word_count for each in (before, after) if each is not None)
    length = words / (_WINDOW * talk.usual)
    times = ((said & ~twice & ~thrice, 1), (twice, 2), (thrice, 3))
    return sum(_bm25(talk.worth(mask), count, length, _TURN) for mask, count in times if mask)


def _named(talk: _Talk, query: ParsedQuery) -> Callable[[IndexedTurn], float]:
    """How well a turn's speaker fits: 1 for the one who is meant, 0 for the others, half where nobody is, or several.

    In private the owner means themselves by "I", and what they said counts for more than what was answered.
    """
    wanted = set(query.names)
    meant = {
        turn.speaker
        for turn in talk.turns.values()
        if turn.speaker and (turn.speaker in wanted or turn.speaker.partition(" ")[0] in wanted)
    }
    if len(meant) == 1:
        return lambda turn: float(turn.speaker in meant)
    if query.first_person and not meant:
        return lambda turn: _EITHER if turn.speaker else float(not turn.by_bot)
    return lambda _: _EITHER
