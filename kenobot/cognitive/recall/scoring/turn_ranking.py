"""Rank turns for a question by words, neighbours, segment, speaker, time and vectors.

BM25 of the turn, of the turn with its neighbours and of its segment, each as x / (x of the best + 4), so that a weak
best stays weak. Of the very best the rare words are counted as well. Talk of people and talk with the assistant have
weights of their own: the replies of the one are the answers, those of the other are long and hold every word.
Features are columns, a number for each candidate; only of what is ranked first a value of its own is made.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates.by_meaning import as_speakers_say
from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.conversation_rows import IndexedTurn, TurnRow, indexed_turn
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.scoring.score import fuse_relevance
from kenobot.cognitive.recall.scoring.turn_candidates import (
    DAMP,
    TurnCandidates,
    gather_candidates,
    nearness_of_segments,
)
from kenobot.cognitive.recall.scoring.weights import TALK_KINDS, TURN_PRIOR, TalkKind, turn_weights
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.language.question.question import Question
from kenobot.language.question.search_terms import ParsedQuery
from kenobot.ports.frozen import dataclass

_TURN = (0.9, 0.4)  # k1 and b of BM25
_EITHER = 0.5
_WINDOW = 3
_OPENING: Mapping[TalkKind, int] = {"people": 2, "assistant": 1}  # turns after a pause; of people one each
_RARE_UP_TO = 2  # turns that have a rare word
_NOT_COUNTED = 0.5  # for the rare words of a turn that is not among the best
_APART = 128  # places between segments in one row of all turns: more than a segment has, and its neighbours

Column = Sequence[float]


class RankedTurn(NamedTuple):
    """A turn with its score, and the features that the score sums. relevance: 0 to 1. matched: stems of the question.

    near: similarity; None without a vector.
    """

    turn: IndexedTurn
    score: float
    relevance: float
    matched: tuple[str, ...]
    values: tuple[float, ...]
    near: float | None = None

    @property
    def features(self) -> dict[str, float]:
        return dict(zip(TURN_PRIOR, self.values, strict=True))


_ranked_turn = partial(tuple.__new__, RankedTurn)  # as `_make`, without a step of the interpreter


def rank_turns(
    index: SideIndex,
    question: Question,
    today: date,
    scopes: Sequence[str] | None,
    query: ParsedQuery,
    policy: Policy,
    *,
    whole: bool = False,
) -> list[RankedTurn]:
    """Rank the turns within `scopes` for a question, best first. whole: all candidates."""
    vectors, near, text = index.vectors, dict[int, float](), question.text
    said = text
    if vectors is not None:
        said = as_speakers_say(index, scopes, text, query.names)
        said = said if vectors.has_query_vector(said) else text
        near = vectors.similarities("turn", said, scopes, policy.recall.max_near_turns)
    gather = partial(gather_candidates, scopes=scopes, query=query, near=near, policy=policy.recall)
    talk = index.read(gather, TurnCandidates())
    if not talk.rows:
        return []
    if vectors is not None and near:
        near = vectors.similarities("turn", said, scopes, 0, also=talk.rows.keys() - near.keys()) | near
    as_asked = near
    if vectors is not None and said != text:
        as_asked = vectors.similarities("turn", text, scopes, 0, also=talk.rows.keys())
    places = _Places.of(talk)
    raw = _weigh_turns(talk, places)
    days = question.find_days(today, whole=True)
    closeness = {day: days.closeness(date.fromordinal(day)) for day in {*places.days}} if days is not None else {}
    columns = _features(talk, places, raw, near, query, closeness, asks_when=question.asks_time)
    scores = _score(places.kinds, columns, by_meaning=bool(near))
    first = policy.recall.max_ranked_turns
    order = [at for _, _, at in sorted(zip(scores, places.messages, range(len(scores)), strict=False), reverse=True)]
    best, scores, rare = _by_rare_words(index, places, scores, order[:first], policy.recall, by_meaning=bool(near))
    columns["rare"] = rare
    return _build_ranked(
        talk, places, [*best, *order[first:]] if whole else best, scores, columns, raw, as_asked, policy
    )


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Places:
    """The candidates in one row, by segment and position, and what is known of each, in columns.

    masks, words and neighbours have one value more, of the place of no turn, which is the last one. kinds: the place in
    `TALK_KINDS` of each. far, before, after, farther: the places of neighbours.
    """

    rows: Sequence[TurnRow]
    messages: Sequence[int]
    segments: Sequence[int]
    positions: Sequence[int]
    days: Sequence[int]
    speakers: Sequence[str]
    by_bot: Sequence[bool]
    has_time: Sequence[bool]
    wishes: Sequence[bool]
    masks: Sequence[int]
    words: Sequence[int]
    asks: Sequence[float]
    kinds: Sequence[int]
    far: Sequence[int]
    before: Sequence[int]
    after: Sequence[int]
    farther: Sequence[int]

    @classmethod
    def of(cls, talk: TurnCandidates) -> "_Places":
        rows = sorted(talk.rows.values(), key=itemgetter(1, 2))
        messages, segments, positions, days, speakers, by_bot, words, asks, has_time, wishes = zip(*rows, strict=True)
        named = {segment for segment, speaker in zip(segments, speakers, strict=True) if speaker}
        people, assistant = TALK_KINDS.index("people"), TALK_KINDS.index("assistant")
        keys = [_APART * segment + position for segment, position in zip(segments, positions, strict=True)]
        at = dict(zip(keys, range(len(keys)), strict=True)).get
        far, before, after, farther = (
            list(map(at, [key + step for key in keys], repeat(-1))) for step in (-2, -1, 1, 2)
        )
        return cls(
            rows,
            messages,
            segments,
            positions,
            days,
            speakers,
            by_bot,
            has_time,
            wishes,
            [*map(talk.held.get, messages, repeat(0)), 0],
            (*words, 0),
            [*map(float, asks), 0.0],
            [people if segment in named else assistant for segment in segments],
            far,
            before,
            after,
            farther,
        )


# ── features ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _features(
    talk: TurnCandidates,
    places: _Places,
    raw: Column,
    near: Mapping[int, float],
    query: ParsedQuery,
    closeness: Mapping[int, float],
    *,
    asks_when: bool,
) -> dict[str, Column]:
    """Compute the features of all candidates; one that none of them has is left out.

    near: similarities to the question as its speakers would put it. closeness: of days to those that the question
    names.
    """
    lex = [*_damp(raw), 0.0]
    columns: dict[str, Column] = {
        "lex": lex,
        "win": _damp(_weigh_with_neighbours(talk, places)),
        "ses": [*map(talk.segments.get, places.segments, repeat(0.0))],
        "spk": _speaker_column(places, query),
        "isq": places.asks,
        "len": _length_column(places.words),
    }
    if asks_when:
        columns["when"] = [*map(float, places.has_time)]
    if closeness:
        columns["then"] = [closeness[day] for day in places.days]
    if near:
        close = _rescale(near)
        around = nearness_of_segments(talk, close)
        column = [*map(close.get, places.messages, repeat(0.0)), 0.0]
        columns["e5"] = column
        columns["e5s"] = [*map(around.get, places.segments, repeat(0.0))]
        columns["e5w"] = [
            (column[one] + column[other]) / 2 for one, other in zip(places.before, places.after, strict=True)
        ]
    columns["far"] = [(lex[one] + lex[other]) / 2 for one, other in zip(places.far, places.farther, strict=True)]
    columns["reply"] = [places.asks[before] for before in places.before]
    columns["mine"] = [0.0 if by_bot else 1.0 for by_bot in places.by_bot]
    columns["wish"] = [*map(float, places.wishes)]
    opening = [_OPENING[kind] for kind in TALK_KINDS]
    columns["opens"] = [
        1.0 if position < opening[kind] else 0.0 for position, kind in zip(places.positions, places.kinds, strict=True)
    ]
    columns["rare"] = [_NOT_COUNTED] * len(places.rows)
    return columns


def _score(kinds: Sequence[int], columns: Mapping[str, Column], *, by_meaning: bool) -> list[float]:
    """Sum the features of each candidate by the weights of its kind of talk."""
    weights = [turn_weights(kind, by_meaning=by_meaning) for kind in TALK_KINDS]
    scores = [0.0] * len(kinds)
    for name, column in columns.items():
        by_kind = [each[name] for each in weights]
        scores = [score + by_kind[kind] * value for score, kind, value in zip(scores, kinds, column, strict=False)]
    return scores


def _weigh_turns(talk: TurnCandidates, places: _Places) -> list[float]:
    """Compute the BM25 of each turn, with a count of 1 for each word: nearly all have it."""
    k1, b = _TURN
    worth = {mask: talk.worth(mask) for mask in {*places.masks}}
    return [
        worth[mask] * (k1 + 1) / (1 + k1 * (1 - b + b * (words / talk.usual))) if mask else 0.0
        for mask, words in zip(places.masks[:-1], places.words[:-1], strict=True)
    ]


def _weigh_with_neighbours(talk: TurnCandidates, places: _Places) -> list[float]:
    """Compute the BM25 of each turn with its neighbours."""
    (k1, b), usual, masks, words = _TURN, _WINDOW * talk.usual, places.masks, places.words
    values = [0.0] * len(places.rows)
    for at, (before, after) in enumerate(zip(places.before, places.after, strict=True)):
        own, one, other = masks[at], masks[before], masks[after]
        if own or one or other:
            length = (words[at] + words[before] + words[after]) / usual
            values[at] = _weigh_three(talk, own, one, other, k1 * (1 - b + b * length))
    return values


def _weigh_three(talk: TurnCandidates, own: int, one: int, other: int, damping: float) -> float:
    """Compute the BM25 of three turns as one text, from the words of each."""
    thrice = own & one & other
    twice = (own & one | own & other | one & other) & ~thrice
    value = talk.worth((own | one | other) & ~twice & ~thrice) * (_TURN[0] + 1) / (1 + damping)
    if twice:
        value += talk.worth(twice) * 2 * (_TURN[0] + 1) / (2 + damping)
    if thrice:
        value += talk.worth(thrice) * 3 * (_TURN[0] + 1) / (3 + damping)
    return value


def _damp(values: Column) -> list[float]:
    most = max(values) + DAMP
    return [value / most for value in values]


def _length_column(words: Sequence[int]) -> Column:
    lengths = {count: math.log1p(count) / DAMP for count in {*words}}
    return [lengths[count] for count in words]


def _rescale(similarities: Mapping[int, float]) -> dict[int, float]:
    """Rescale similarities to 0 for the lowest and 1 for the highest."""
    low, high = min(similarities.values()), max(similarities.values())
    return {number: (each - low) / (high - low or 1.0) for number, each in similarities.items()}


def _speaker_column(places: _Places, query: ParsedQuery) -> Column:
    """Score speakers: 1 for the speaker meant, 0 for others, a half without one or with several.

    In a private chat "I" means the owner, whose turns then count more than the answers.
    """
    wanted = set(query.names)
    meant = {each for each in {*places.speakers} - {""} if each in wanted or each.partition(" ")[0] in wanted}
    if len(meant) == 1:
        return [1.0 if speaker in meant else 0.0 for speaker in places.speakers]
    if query.first_person and not meant:
        said = zip(places.speakers, places.by_bot, strict=True)
        return [_EITHER if speaker else 0.0 if by_bot else 1.0 for speaker, by_bot in said]
    return [_EITHER] * len(places.rows)


# ── the best ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_rare_words(
    index: SideIndex,
    places: _Places,
    scores: Sequence[float],
    order: Sequence[int],
    policy: RecallPolicy,
    *,
    by_meaning: bool,
) -> tuple[list[int], list[float], list[float]]:
    """Order the best anew, with how many rare words each of the first has: to count them for all is slow.

    Return the order, and the scores and counts, scaled, of all candidates.
    """
    first, found = order[: policy.turns_weighed], [*scores]
    count = partial(posting_rows.rare_term_counts, messages=[places.messages[at] for at in first], up_to=_RARE_UP_TO)
    counts: dict[int, int] = index.read(count, {})
    weights = [turn_weights(kind, by_meaning=by_meaning)["rare"] for kind in TALK_KINDS]
    rare = [_NOT_COUNTED] * len(scores)
    for at in first:
        rare[at] = math.log1p(counts.get(places.messages[at], 0)) / 2
        found[at] += weights[places.kinds[at]] * (rare[at] - _NOT_COUNTED)
    ordered = sorted(order, key=found.__getitem__, reverse=True)
    return _spread(ordered, places, found, policy.per_better_turn), found, rare


def _spread(order: Sequence[int], places: _Places, scores: Sequence[float], less: float) -> list[int]:
    """Order turns with an assistant by their score, less so much for every better turn of the same segment.

    A request goes on with what several sessions prepared, and the turns of one of them would take all places. Among
    people the turns beside an answer are often answers too.
    """
    assistant = TALK_KINDS.index("assistant")
    better, worth = defaultdict[int, int](int), dict[int, float]()
    for at in order:
        segment = places.segments[at]
        worth[at] = scores[at] - less * better[segment]
        better[segment] += places.kinds[at] == assistant
    return sorted(order, key=worth.__getitem__, reverse=True)


def _build_ranked(
    talk: TurnCandidates,
    places: _Places,
    order: Sequence[int],
    scores: Sequence[float],
    columns: Mapping[str, Column],
    raw: Column,
    near: Mapping[int, float],
    policy: Policy,
) -> list[RankedTurn]:
    """Make the turns at these places. near: similarities to the question itself, whose scale is calibrated."""
    none = [0.0] * len(places.rows)
    full = sum(sorted(talk.gains, reverse=True)[: policy.recall.words_of_full_match]) or 1.0
    stems = {mask: tuple([talk.words[at].stems[0] for at in talk.places(mask)]) for mask in {*places.masks}}
    values = list(zip(*(columns.get(name, none) for name in TURN_PRIOR), strict=False))
    likeness = [*map(near.get, places.messages)]
    by_words = {each: math.tanh(policy.recall.steepness * min(1.0, each / full)) for each in {raw[at] for at in order}}
    relevances = [by_words[raw[at]] for at in order]
    for place, at in enumerate(order if near else ()):
        similarity = likeness[at]
        if similarity is not None and (meant := relevance_from_similarity(similarity, policy.meaning)):
            relevances[place] = fuse_relevance(relevances[place], meant)
    columns_of_ranked = zip(
        map(indexed_turn, [places.rows[at] for at in order]),
        [scores[at] for at in order],
        relevances,
        [stems[places.masks[at]] for at in order],
        [values[at] for at in order],
        [likeness[at] for at in order],
        strict=True,
    )
    return [*map(_ranked_turn, columns_of_ranked)]
