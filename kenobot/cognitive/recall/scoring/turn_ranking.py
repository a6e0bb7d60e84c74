"""Rank turns for a question by words, neighbours, segment, speaker, time and vectors.

BM25 of the turn, of the turn with its neighbours and of its segment, each as x / (x of the best + 4), so that a weak
best stays weak. Candidates are bounded: the newest turns of the rarest words, the most similar turns, the neighbours of
the best, and the best segments whole; of the very best the rare words are counted as well. Talk of people and talk
with the assistant have weights of their own: the replies of the one are the answers, those of the other are long and
hold every word.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from heapq import nlargest
from operator import mul
from typing import NamedTuple

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates.by_words import ParsedQuery, QueryTerm, idf
from kenobot.cognitive.recall.candidates.first_person import as_speakers_say
from kenobot.cognitive.recall.index import conversation_rows, posting_rows
from kenobot.cognitive.recall.index.conversation_rows import IndexedTurn
from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.scoring.score import fuse_relevance
from kenobot.cognitive.recall.scoring.weights import TALK_KINDS, TURN_PRIOR, TalkKind, turn_weights
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.language.dates import asks_time, parse_date_range
from kenobot.language.words import fold
from kenobot.storage.connection import Connection

_TURN = (0.9, 0.4)  # k1 and b of BM25
_STRETCH = (1.2, 0.75)
_DAMP = 4.0
_EITHER = 0.5
_BEST_OF_STRETCH = 3
_WINDOW = 3
_OPENING: Mapping[TalkKind, int] = {"people": 2, "assistant": 1}  # turns after a pause; of people one each
_RARE_UP_TO = 2  # turns that have a rare word
_NOT_COUNTED = 0.5  # for the rare words of a turn that is not among the best


class RankedTurn(NamedTuple):
    """A turn with its score, and the features that the score sums. relevance: 0 to 1. matched: stems of the question.

    segment_relevance: the greatest of its segment: an answer may share no word with its question, and stand beside a
    turn that does. near: similarity; None without a vector.
    """

    turn: IndexedTurn
    score: float
    relevance: float
    segment_relevance: float
    matched: tuple[str, ...]
    values: tuple[float, ...]
    near: float | None = None

    @property
    def features(self) -> dict[str, float]:
        return dict(zip(TURN_PRIOR, self.values, strict=True))


@dataclass(slots=True)
class _Talk:
    """Candidate turns by message, and by segment and position. held: the question's words in each, as a bit mask."""

    words: Sequence[QueryTerm]
    gains: Sequence[float]
    turns: dict[int, IndexedTurn] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    held: dict[int, int] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    # bounded: a few hundred turns: the policy; turn
    segments: dict[int, dict[int, IndexedTurn]] = field(default_factory=dict)
    ses: dict[int, float] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    sums: dict[int, float] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    said: dict[int, tuple[str, ...]] = field(default_factory=dict)  # bounded: a few hundred turns: the policy; turn
    stretches: int = 1
    usual: float = 1.0

    def add(self, turns: Iterable[IndexedTurn]) -> None:
        for turn in turns:
            self.turns[turn.message] = turn
            self.segments.setdefault(turn.segment, {})[turn.position] = turn

    def bits(self, mask: int) -> list[int]:
        """List the words of a bit mask, by place."""
        return [at for at in range(len(self.words)) if mask >> at & 1]

    def stems(self, message: int) -> tuple[str, ...]:
        """List a stem of each of the words that a turn has."""
        mask = self.held.get(message, 0)
        if mask not in self.said:
            self.said[mask] = tuple(self.words[at].stems[0] for at in self.bits(mask))
        return self.said[mask]

    def worth(self, mask: int) -> float:
        """Sum the gains of the words of a bit mask."""
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
    """Rank the turns within `scopes` for a question, best first. whole: all candidates."""
    none = _Talk((), ())
    vectors, near, said = index.vectors, dict[int, float](), text
    if vectors is not None:
        said = as_speakers_say(index, scopes, text)
        said = said if vectors.has_query_vector(said) else text
        near = vectors.similarities("turn", said, scopes, policy.recall.max_near_turns)
    talk = index.read(partial(_gather, scopes=scopes, query=query, near=near, policy=policy.recall), none)
    if not talk.turns:
        return []
    if vectors is not None and near:
        near = vectors.similarities("turn", said, scopes, 0, also=talk.turns.keys() - near.keys()) | near
    as_asked = near
    if vectors is not None and said != text:
        as_asked = vectors.similarities("turn", text, scopes, 0, also=talk.turns.keys())
    first = policy.recall.max_ranked_turns
    ranked = _valued(talk, near, as_asked, query, text, today, policy, most=len(talk.turns) if whole else first)
    return _by_rare_words(index, talk, ranked[:first], policy.recall, by_meaning=bool(near)) + ranked[first:]


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _gather(
    index: Connection,
    *,
    scopes: Sequence[str] | None,
    query: ParsedQuery,
    near: Mapping[int, float],
    policy: RecallPolicy,
) -> _Talk:
    rooms = posting_rows.partitions(index, scopes, ("turn",))
    total = sum(room.docs for room in rooms)
    if not total:
        return _Talk((), ())
    tokens = {word: [room.token(stem) for room in rooms for stem in word.stems] for word in query.terms}
    standing = posting_rows.document_counts(index, [token for group in tokens.values() for token in group])
    docs = {word: min(total, max((standing.get(t, 0) for t in group), default=0)) for word, group in tokens.items()}
    chosen = sorted((word for word in docs if docs[word]), key=lambda word: (-word.weight, docs[word]))
    chosen = chosen[: policy.turn_words]
    talk = _Talk(chosen, [word.weight * idf(total, docs[word]) for word in chosen])
    left = policy.turn_postings
    for at, word in enumerate(chosen):
        known = [token for token in tokens[word] if token in standing]
        found = posting_rows.documents_with(index, [known], min(left, policy.turn_list)) if left > 0 else []
        left -= len(found)
        held, bit = talk.held, 1 << at
        for document in found:
            message = document // IDS_PER_SOURCE
            held[message] = held.get(message, 0) | bit
    worth = {mask: talk.worth(mask) for mask in {*talk.held.values()}}
    valued = [(worth[mask], message) for message, mask in talk.held.items()]
    best = [message for _, message in nlargest(policy.max_turns_read, valued)]
    talk.add(conversation_rows.turns_by_message(index, [*best, *near]))
    talk.stretches = max(1, conversation_rows.segment_count(index, scopes))
    talk.usual = max(1.0, sum(turn.word_count for turn in talk.turns.values()) / max(1, len(talk.turns)))
    first = [
        *best[: policy.turns_with_neighbours],
        *sorted(near, key=lambda message: (-near[message], -message))[: policy.turns_with_neighbours],
    ]
    beside = {
        (turn.segment, turn.position + step)
        for message in first
        if (turn := talk.turns.get(message)) is not None
        for step in (-1, 1)
        if turn.position + step not in talk.segments[turn.segment]
    }
    talk.add(conversation_rows.turns_at(index, beside))
    talk.ses = _of_stretches(index, talk, policy)
    by_meaning = _best_of(talk, near)
    most = max(by_meaning.values(), default=0.0) or 1.0
    both = {s: talk.ses.get(s, 0.0) + max(0.0, by_meaning.get(s, 0.0)) / most for s in {*talk.ses, *by_meaning}}
    talk.add(conversation_rows.turns_of_segments(index, sorted(both, key=lambda s: (-both[s], -s))[: policy.stretches]))
    return talk


def _of_stretches(index: Connection, talk: _Talk, policy: RecallPolicy) -> dict[int, float]:
    """Compute the BM25 of the best segments, each as one text."""
    masks: dict[int, dict[int, int]] = {}  # of each segment, how many of its turns have just these words
    for message, turn in talk.turns.items():
        if mask := talk.held.get(message, 0):
            alike = masks.setdefault(turn.segment, {})
            alike[mask] = alike.get(mask, 0) + 1
    counts: dict[int, dict[int, int]] = {}
    for segment, alike in masks.items():
        held = counts[segment] = {}
        for mask, turns in alike.items():
            for at in talk.bits(mask):
                held[at] = held.get(at, 0) + turns
    inside = [sum(at in held for held in counts.values()) for at in range(len(talk.words))]
    gains = [word.weight * idf(talk.stretches, n) for word, n in zip(talk.words, inside, strict=True)]
    rough = {stretch: sum(gains[at] for at in held) for stretch, held in counts.items()}
    best = sorted(rough, key=lambda stretch: (-rough[stretch], -stretch))[: policy.long_stretches]
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
    """Compute the BM25 of one word. length: of the text, relative to the mean."""
    k1, b = constants
    return gain * count * (k1 + 1) / (count + k1 * (1 - b + b * length))


def _damped(values: dict[int, float]) -> dict[int, float]:
    most = max(values.values(), default=0.0)
    return {key: value / (most + _DAMP) for key, value in values.items()}


def _rescale(similarities: Mapping[int, float]) -> dict[int, float]:
    """Rescale similarities to 0 for the lowest and 1 for the highest."""
    low, high = min(similarities.values(), default=0.0), max(similarities.values(), default=0.0)
    return {number: (each - low) / (high - low or 1.0) for number, each in similarities.items()}


def _best_of(talk: _Talk, near: Mapping[int, float]) -> dict[int, float]:
    """Average the similarities of the nearest turns of each segment."""
    groups: dict[int, list[float]] = {}
    for message, share in near.items():
        turn = talk.turns.get(message)
        if turn is not None:
            groups.setdefault(turn.segment, []).append(share)
    best = {stretch: sorted(shares)[-_BEST_OF_STRETCH:] for stretch, shares in groups.items()}
    return {stretch: sum(shares) / _BEST_OF_STRETCH for stretch, shares in best.items()}


# ── valuing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _valued(
    talk: _Talk,
    near: Mapping[int, float],
    as_asked: Mapping[int, float],
    query: ParsedQuery,
    text: str,
    today: date,
    policy: Policy,
    *,
    most: int,
) -> list[RankedTurn]:
    """Score turns, best first, `most` of them.

    near: similarities to the question as its speakers would put it, for the order. as_asked: those to the question
    itself, for the relevance: their scale is calibrated.
    """
    plain = fold(text)
    asked, days = asks_time(plain), parse_date_range(plain, today)
    said_by = _named(talk, query)
    full = sum(sorted(talk.gains, reverse=True)[: policy.recall.words_of_full_match]) or 1.0
    raw = _own(talk)
    lex = _damped(raw)
    win = _damped(_with_neighbours(talk))
    close = _rescale(near)
    around = _best_of(talk, close)
    weights = {kind: tuple(turn_weights(kind, by_meaning=bool(near)).values()) for kind in TALK_KINDS}
    kinds = _talk_kinds(talk)
    beside = _surroundings(talk, lex, close)
    own = _relevances(talk, raw, as_asked, full, policy)
    best = _best_by_segment(talk, own)
    lengths = {count: math.log1p(count) / _DAMP for count in {turn.word_count for turn in talk.turns.values()}}
    found = []
    for message, turn in talk.turns.items():
        _, segment, position, _, _, by_bot, word_count, is_question, has_time, is_wish = turn
        values = (
            lex.get(message, 0.0),
            win[message],
            talk.ses.get(segment, 0.0),
            said_by(turn),
            1.0 if is_question else 0.0,
            lengths[word_count],
            1.0 if asked and has_time else 0.0,
            days.closeness(turn.date) if days is not None else 0.0,
            close.get(message, 0.0),
            around.get(segment, 0.0),
            *beside[message],
            0.0 if by_bot else 1.0,
            1.0 if is_wish else 0.0,
            1.0 if position < _OPENING[kinds[segment]] else 0.0,
            _NOT_COUNTED,
        )
        found.append((sum(map(mul, weights[kinds[segment]], values)), message, turn, values))
    return [
        RankedTurn(
            turn, score, own.get(message, 0.0), best[turn.segment], talk.stems(message), values, as_asked.get(message)
        )
        for score, message, turn, values in nlargest(most, found)
    ]


def _best_by_segment(talk: _Talk, relevances: Mapping[int, float]) -> dict[int, float]:
    best = dict.fromkeys(talk.segments, 0.0)
    for message, relevance in relevances.items():
        segment = talk.turns[message].segment
        best[segment] = max(best[segment], relevance)
    return best


def _by_rare_words(
    index: SideIndex, talk: _Talk, ranked: list[RankedTurn], policy: RecallPolicy, *, by_meaning: bool
) -> list[RankedTurn]:
    """Order the best of some turns anew, with how many rare words each has: to count them for all is slow."""
    best = ranked[: policy.turns_weighed]
    count = partial(posting_rows.rare_term_counts, messages=[each.turn.message for each in best], up_to=_RARE_UP_TO)
    counts: dict[int, int] = index.read(count, {})
    kinds = _talk_kinds(talk)
    for at, each in enumerate(best):
        rare = math.log1p(counts.get(each.turn.message, 0)) / 2
        weight = turn_weights(kinds[each.turn.segment], by_meaning=by_meaning)["rare"]
        score = each.score + weight * (rare - _NOT_COUNTED)
        best[at] = each._replace(score=score, values=(*each.values[:-1], rare))
    ordered = sorted([*best, *ranked[len(best) :]], key=lambda each: -each.score)
    return _spread(ordered, kinds, policy.per_better_turn)


def _spread(ranked: Sequence[RankedTurn], kinds: Mapping[int, TalkKind], less: float) -> list[RankedTurn]:
    """Order turns with an assistant by their score, less so much for every better turn of the same segment.

    A request goes on with what several sessions prepared, and the turns of one of them would take all places. Among
    people the turns beside an answer are often answers too.
    """
    better = Counter[int]()
    worth: list[float] = []
    for each in ranked:
        worth.append(each.score - less * better[each.turn.segment])
        better[each.turn.segment] += kinds[each.turn.segment] == "assistant"
    return [ranked[at] for at in sorted(range(len(ranked)), key=lambda at: -worth[at])]


def _talk_kinds(talk: _Talk) -> dict[int, TalkKind]:
    """Tell the kind of talk of each segment: talk of people where speakers are named."""
    named = {turn.segment for turn in talk.turns.values() if turn.speaker}
    return {turn.segment: "people" if turn.segment in named else "assistant" for turn in talk.turns.values()}


def _surroundings(
    talk: _Talk, lex: Mapping[int, float], close: Mapping[int, float]
) -> dict[int, tuple[float, float, float]]:
    """Describe what stands around each turn: the similarity of its neighbours, the words of those behind them, and
    whether the one before is a question.
    """
    found: dict[int, tuple[float, float, float]] = {}
    for message, turn in talk.turns.items():
        place, at = talk.segments[turn.segment].get, turn.position
        far, before, after, farther = place(at - 2), place(at - 1), place(at + 1), place(at + 2)
        near = behind = 0.0
        if close:
            near += close.get(before.message, 0.0) if before is not None else 0.0
            near += close.get(after.message, 0.0) if after is not None else 0.0
        behind += lex.get(far.message, 0.0) if far is not None else 0.0
        behind += lex.get(farther.message, 0.0) if farther is not None else 0.0
        found[message] = (near / 2, behind / 2, float(before is not None and before.is_question))
    return found


def _relevances(
    talk: _Talk, raw: Mapping[int, float], near: Mapping[int, float], full: float, policy: Policy
) -> dict[int, float]:
    """Compute the relevance of each turn that has any. raw: its words' weight, of `full`. near: its similarity."""
    by_words = {value: math.tanh(policy.recall.steepness * min(1.0, value / full)) for value in {*raw.values()}}
    found = {message: by_words[value] for message, value in raw.items()}
    for message, share in near.items():
        if message in talk.turns and (meant := relevance_from_similarity(share, policy.meaning)):
            found[message] = fuse_relevance(found.get(message, 0.0), meant)
    return found


def _own(talk: _Talk) -> dict[int, float]:
    """Compute the BM25 of each turn that has words, with a count of 1 for each word: nearly all have it."""
    known: dict[tuple[int, int], float] = {}  # many turns have the same words, and are as long
    values: dict[int, float] = {}
    for message, turn in talk.turns.items():
        if mask := talk.held.get(message, 0):
            kind = (mask, turn.word_count)
            if kind not in known:
                known[kind] = _bm25(talk.worth(mask), 1, turn.word_count / talk.usual, _TURN)
            values[message] = known[kind]
    return values


def _with_neighbours(talk: _Talk) -> dict[int, float]:
    """Compute the BM25 of each turn with its neighbours, by message."""
    k1, b = _TURN
    held, usual = talk.held, _WINDOW * talk.usual
    values: dict[int, float] = {}
    known: dict[tuple[int, int, int, int], float] = {}
    for message, turn in talk.turns.items():
        place = talk.segments[turn.segment].get
        before, after = place(turn.position - 1), place(turn.position + 1)
        own = held.get(message, 0)
        one = held.get(before.message, 0) if before is not None else 0
        other = held.get(after.message, 0) if after is not None else 0
        if not (own or one or other):
            values[message] = 0.0
            continue
        words = turn.word_count
        words += before.word_count if before is not None else 0
        words += after.word_count if after is not None else 0
        kind = (own, one, other, words)
        if kind not in known:
            known[kind] = _of_three(talk, (own, one, other), k1 * (1 - b + b * (words / usual)))
        values[message] = known[kind]
    return values


def _of_three(talk: _Talk, masks: tuple[int, int, int], damping: float) -> float:
    """Compute the BM25 of three turns as one text, from the words of each."""
    own, one, other = masks
    thrice = own & one & other
    twice = (own & one | own & other | one & other) & ~thrice
    once = (own | one | other) & ~twice & ~thrice
    counted = ((mask, count) for count, mask in enumerate((once, twice, thrice), 1) if mask)
    return sum(talk.worth(mask) * count * (_TURN[0] + 1) / (count + damping) for mask, count in counted)


def _named(talk: _Talk, query: ParsedQuery) -> Callable[[IndexedTurn], float]:
    """Score speakers: 1 for the speaker meant, 0 for others, a half without one or with several.

    In a private chat "I" means the owner, whose turns then count more than the answers.
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
