"""Find the turns that may answer a question, as rows of the index.

Their number is bounded: the newest turns of the rarest words, the most similar turns, the neighbours of the best, and
the best segments whole.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates.by_words import idf
from kenobot.cognitive.recall.index import conversation_rows, posting_rows
from kenobot.cognitive.recall.index.conversation_rows import TurnRow
from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE
from kenobot.language.question.search_terms import ParsedQuery, QueryTerm
from kenobot.storage.connection import Connection

DAMP = 4.0
"""Added to the best value that others are divided by."""

_STRETCH = (1.2, 0.75)  # k1 and b of BM25
_BEST_OF_STRETCH = 3


@dataclass(slots=True)
class TurnCandidates:
    """Rows of turns by message. held: the question's words in each, as a bit mask. segments: BM25 of the best, each as
    one text. usual: words of a turn, on the mean.
    """

    words: Sequence[QueryTerm] = ()
    gains: Sequence[float] = ()
    rows: dict[int, TurnRow] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    held: dict[int, int] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    segments: dict[int, float] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    usual: float = 1.0
    _sums: dict[int, float] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    _places: dict[int, tuple[int, ...]] = field(default_factory=dict)  # bounded: as many; turn

    def add(self, rows: Iterable[TurnRow]) -> None:
        """Add rows."""
        self.rows |= {row[0]: row for row in rows}

    def places(self, mask: int) -> tuple[int, ...]:
        """List the words of a bit mask, by place."""
        if mask not in self._places:
            self._places[mask] = tuple([at for at in range(len(self.words)) if mask >> at & 1])
        return self._places[mask]

    def worth(self, mask: int) -> float:
        """Sum the gains of the words of a bit mask."""
        if mask not in self._sums:
            self._sums[mask] = sum([self.gains[at] for at in self.places(mask)])
        return self._sums[mask]


def gather_candidates(
    index: Connection,
    *,
    scopes: Sequence[str] | None,
    query: ParsedQuery,
    near: Mapping[int, float],
    policy: RecallPolicy,
) -> TurnCandidates:
    """Find the candidates of a question within `scopes`. near: similarities of the most similar turns."""
    rooms = posting_rows.partitions(index, scopes, ("turn",))
    total = sum(room.docs for room in rooms)
    if not total:
        return TurnCandidates()
    tokens = {word: [room.token(stem) for room in rooms for stem in word.stems] for word in query.terms}
    standing = posting_rows.document_counts(index, [token for group in tokens.values() for token in group])
    docs = {word: min(total, max((standing.get(t, 0) for t in group), default=0)) for word, group in tokens.items()}
    chosen = sorted((word for word in docs if docs[word]), key=lambda word: (-word.weight, docs[word]))
    chosen = chosen[: policy.turn_words]
    talk = TurnCandidates(chosen, [word.weight * idf(total, docs[word]) for word in chosen])
    frequent = [docs[word] > max(policy.turn_list, policy.frequent_share * total) for word in chosen]
    lists = [[token for token in tokens[word] if token in standing] for word in chosen]
    talk.held = _read_postings(index, lists, frequent, policy)
    worth = {mask: talk.worth(mask) for mask in {*talk.held.values()}}
    valued = sorted([(worth[mask], message) for message, mask in talk.held.items()], reverse=True)
    best = [message for _, message in valued[: policy.max_turns_read]]
    talk.add(conversation_rows.turns_by_message(index, [*best, *near]))
    talk.usual = max(1.0, sum([row[6] for row in talk.rows.values()]) / max(1, len(talk.rows)))
    nearest = sorted(near, key=lambda message: (-near[message], -message))
    beside = _places_beside(talk, [*best[: policy.turns_with_neighbours], *nearest[: policy.turns_with_neighbours]])
    talk.add(conversation_rows.turns_at(index, beside))
    talk.segments = _weigh_segments(index, talk, max(1, conversation_rows.segment_count(index, scopes)), policy)
    by_meaning = nearness_of_segments(talk, near)
    most = max(by_meaning.values(), default=0.0) or 1.0
    both = {s: talk.segments.get(s, 0.0) + max(0.0, by_meaning.get(s, 0.0)) / most for s in talk.segments | by_meaning}
    whole = sorted(both, key=lambda segment: (-both[segment], -segment))[: policy.stretches]
    talk.add(conversation_rows.turns_of_segments(index, whole))
    return talk


def _read_postings(
    index: Connection, groups: Sequence[Sequence[str]], frequent: Sequence[bool], policy: RecallPolicy
) -> dict[int, int]:
    """Read the newest turns of each word, which `groups` has the tokens of: the words of each turn, as a bit mask.

    frequent: words that are not looked for beside rarer ones, which their newest turns would outnumber.
    """
    held = defaultdict[int, int](int)
    left = policy.turn_postings
    for at, tokens in enumerate(groups):
        if held and frequent[at]:
            continue
        found = posting_rows.documents_with(index, [tokens], min(left, policy.turn_list)) if left > 0 else []
        left -= len(found)
        bit = 1 << at
        for document in found:
            held[document // IDS_PER_SOURCE] |= bit
    return dict(held)


def _places_beside(talk: TurnCandidates, messages: Sequence[int]) -> set[tuple[int, int]]:
    """Return the places beside these turns that have not been read."""
    known = {(row[1], row[2]) for row in talk.rows.values()}
    rows = [talk.rows[message] for message in messages if message in talk.rows]
    return {(row[1], row[2] + step) for row in rows for step in (-1, 1)} - known


def _weigh_segments(index: Connection, talk: TurnCandidates, segments: int, policy: RecallPolicy) -> dict[int, float]:
    """Compute the BM25 of the best segments, each as one text. segments: how many there are."""
    alike = defaultdict[tuple[int, int], int](int)  # turns of a segment that have just these words
    for message, row in talk.rows.items():
        if message in talk.held:
            alike[row[1], talk.held[message]] += 1
    counts = defaultdict[int, defaultdict[int, int]](lambda: defaultdict(int))
    for (segment, mask), turns in alike.items():
        for at in talk.places(mask):
            counts[segment][at] += turns
    inside = [0] * len(talk.words)
    for held in counts.values():
        for at in held:
            inside[at] += 1
    gains = [word.weight * idf(segments, n) for word, n in zip(talk.words, inside, strict=True)]
    rough = {segment: sum([gains[at] for at in held]) for segment, held in counts.items()}
    best = sorted(rough, key=lambda stretch: (-rough[stretch], -stretch))[: policy.long_stretches]
    lengths = conversation_rows.segment_word_counts(index, best)
    usual = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    k1, b = _STRETCH
    values: dict[int, float] = {}
    for segment in best:
        fixed = k1 * (1 - b + b * (lengths.get(segment, 0) / usual))
        values[segment] = sum([gains[at] * n * (k1 + 1) / (n + fixed) for at, n in counts[segment].items()])
    most = max(values.values(), default=0.0)
    return {segment: value / (most + DAMP) for segment, value in values.items()}


def nearness_of_segments(talk: TurnCandidates, near: Mapping[int, float]) -> dict[int, float]:
    """Average the similarities of the nearest turns of each segment."""
    groups = defaultdict[int, list[float]](list)
    for message, share in near.items():
        if message in talk.rows:
            groups[talk.rows[message][1]] += [share]
    return {segment: sum(sorted(shares)[-_BEST_OF_STRETCH:]) / _BEST_OF_STRETCH for segment, shares in groups.items()}
