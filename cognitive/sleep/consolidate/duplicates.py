"""Duplicates: what says the same becomes one memory, all over what is remembered, within one scope and subject.

`admit` joins what it finds while it takes something in. What came by an import, an edit or in other words, and what its
short look did not find, is joined here, by the same rules. Whoever reads two that may be one is asked first: a model,
where there is one; what nobody has read stays as it is.
"""

from collections.abc import Iterator, Mapping, Sequence

from kenobot.cognitive.sleep import merge_rows
from kenobot.cognitive.sleep.consolidate import pair_verdicts
from kenobot.cognitive.sleep.consolidate.conflicts import resolve_conflict
from kenobot.cognitive.sleep.consolidate.merging import merge_records, most_complete
from kenobot.cognitive.sleep.consolidate.near_pairs import RecordPair, near_pairs
from kenobot.cognitive.sleep.consolidate.pair_rules import PairRelation, classify_pair, credibility
from kenobot.cognitive.sleep.plan.changes import AddLink, Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.similarity import similarity
from kenobot.ports.memory import Relation

_Known = dict[tuple[int, int], Relation]


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """About the pairs that may be one and of which the rules cannot tell."""
    pairs = candidate_pairs(view)
    return [
        question
        for question, _ in pair_verdicts.question_batches(_open(view, pairs, classify_by_rules(view, pairs)), view)
    ]


def plan(view: NightView) -> Iterator[Change]:
    """A change for each group of memories that are one; and what else a model said of pairs that might have been."""
    pairs = candidate_pairs(view)
    ruled = classify_by_rules(view, pairs)
    asked = pair_verdicts.question_batches(_open(view, pairs, ruled), view)
    known = pair_verdicts.read_verdicts(view, asked)
    gone: set[int] = set()
    same = [pair for pair in pairs if pair_relation(view, pair, ruled, known) == "repeat"]
    for group in merge_groups(view, same, pairs, known):
        change = merge_records(view, group)
        if change is not None:
            gone.update(record.id for record in group)
            yield change
    settled: set[tuple[int, int]] = set()
    for pair in pairs:
        if gone.isdisjoint(pair.ids) and known.get(pair.ids) == "contradiction":
            for change in resolve_conflict(view, pair.one, pair.other):
                settled.add(pair.ids)
                yield change
    yield from mark_told_apart(view, asked, known, gone, settled)


def candidate_pairs(view: NightView) -> list[RecordPair]:
    """Pairs that may be one: near enough, learned and not concluded, and left alone by their owner's undo."""
    policy = view.policy.consolidation
    least = min(policy.duplicate_from, 2 * policy.same_line_above / (1 + policy.same_line_above))
    return [
        pair
        for pair in near_pairs(
            view, least, "duplicates", lambda pair: classify_pair(pair, None, view.policy) == "independent"
        )
        if (pair.nearness >= policy.duplicate_from or pair.one.tier == pair.other.tier == "core")
        and "sleep" not in (pair.one.source, pair.other.source)
        and not _kept_apart(view, pair)
    ]


def classify_by_rules(view: NightView, pairs: Sequence[RecordPair]) -> dict[tuple[int, int], PairRelation]:
    """What the rules alone say of each pair."""
    return {pair.ids: classify_pair(pair, None, view.policy) for pair in pairs}


def pair_relation(
    view: NightView, pair: RecordPair, ruled: Mapping[tuple[int, int], PairRelation], known: _Known
) -> PairRelation:
    """What the records of a pair are to each other, whoever tells."""
    verdict = known.get(pair.ids)
    return ruled[pair.ids] if verdict is None else classify_pair(pair, verdict, view.policy)


def merge_groups(
    view: NightView, same: Sequence[RecordPair], pairs: Sequence[RecordPair], known: _Known
) -> list[list[Record]]:
    """The groups of records that are one, each in no order that means anything. same: the pairs that say the same.

    The nearest pair is joined first. From then on a group goes by its fullest wording: what is to join it must say the
    same as that, so nothing is joined over what it has in common with a third. In which order records came, or were
    found, says nothing.
    """
    policy = view.policy
    near = {pair.ids: pair for pair in pairs}
    home: dict[int, list[Record]] = {}
    changed = True
    while changed:
        changed = False
        for pair in same:
            one, other = home.setdefault(pair.one.id, [pair.one]), home.setdefault(pair.other.id, [pair.other])
            if one is other:
                continue
            first = len(one) == len(other) == 1
            heads = pair if first else _between(near, most_complete(one, policy), most_complete(other, policy))
            if first or classify_pair(heads, known.get(heads.ids), policy) == "repeat":
                joined = [*one, *other]
                home.update((record.id, joined) for record in joined)
                changed = True
    groups = {id(group): group for group in home.values() if len(group) > 1}
    return sorted(groups.values(), key=lambda group: min(record.key for record in group))


def mark_told_apart(
    view: NightView,
    asked: Sequence[tuple[ModelQuestion, tuple[RecordPair, ...]]],
    known: _Known,
    gone: set[int],
    settled: set[tuple[int, int]],
) -> Iterator[Change]:
    """That a model has read pairs that stay apart, so that it is not asked about them again until they change.

    gone: records that were joined or ended. settled: pairs that were found to be at odds.
    """
    for _, batch in asked:
        pairs = [pair for pair in batch if pair.ids in known]
        ties = tuple(
            AddLink(pair.one.id, pair.other.id, "related", merge_rows.TOLD_APART, min(1.0, pair.nearness))
            for pair in pairs
            if gone.isdisjoint(pair.ids) and pair.ids not in settled
        )
        if ties:
            yield Change(
                "compared", f"a model read {len(pairs)} near pairs, and {len(ties)} say different things", ties
            )


def _open(
    view: NightView, pairs: Sequence[RecordPair], ruled: Mapping[tuple[int, int], PairRelation]
) -> list[RecordPair]:
    """The pairs of which only somebody who reads them can tell. What a stranger wrote is shown to no model here."""
    return [
        pair
        for pair in pairs
        if ruled[pair.ids] == "open"
        and min(credibility(pair.one, view.policy), credibility(pair.other, view.policy)) > 0
    ]


def _between(near: Mapping[tuple[int, int], RecordPair], one: Record, other: Record) -> RecordPair:
    """The pair of two records, whether it was found to be near or not."""
    first, second = (one, other) if one.id < other.id else (other, one)
    return near.get((first.id, second.id)) or RecordPair(first, second, similarity(first.text, second.text))


def _kept_apart(view: NightView, pair: RecordPair) -> bool:
    """Whether they are known to be at odds, or somebody undid a decision about both: then nothing joins them."""
    one, other = pair.ids
    if merge_rows.are_in_conflict(view.connection, one, other):
        return True
    return merge_rows.was_ever_undone(view.connection, one) and merge_rows.was_ever_undone(view.connection, other)


PASS = Pass(
    name="duplicates",
    phase="consolidate",
    description="joins memories that say the same",
    plan=plan,
    questions=questions,
)
