"""Duplicates: what says the same becomes one memory, all over what is remembered, within one scope and subject.

`admit` joins what it finds while it takes something in. What came by an import, an edit or in other words, and what its
short look did not find, is joined here, by the same rules. Whoever reads two that may be one is asked first: a model,
where there is one; what nobody has read stays as it is.
"""

from collections.abc import Iterator, Mapping, Sequence

from kenobot.cognitive.sleep import merge_store
from kenobot.cognitive.sleep.consolidate import verdicts
from kenobot.cognitive.sleep.consolidate.alike import Found, judge, standing
from kenobot.cognitive.sleep.consolidate.disputes import dispute
from kenobot.cognitive.sleep.consolidate.merging import fullest, merge
from kenobot.cognitive.sleep.consolidate.nearby import Pair, near_pairs
from kenobot.cognitive.sleep.plan.changes import Change, Tie
from kenobot.cognitive.sleep.plan.passes import Pass, Question, View
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.similarity import similarity
from kenobot.ports.memory import Relation

_Known = dict[tuple[int, int], Relation]


def questions(view: View) -> Sequence[Question]:
    """About the pairs that may be one and of which the rules cannot tell."""
    pairs = candidates(view)
    return [question for question, _ in verdicts.batches(_open(view, pairs, by_rules(view, pairs)), view)]


def plan(view: View) -> Iterator[Change]:
    """A change for each group of memories that are one; and what else a model said of pairs that might have been."""
    pairs = candidates(view)
    ruled = by_rules(view, pairs)
    asked = verdicts.batches(_open(view, pairs, ruled), view)
    known = verdicts.verdicts(view, asked)
    gone: set[int] = set()
    same = [pair for pair in pairs if found(view, pair, ruled, known) == "repeat"]
    for group in one_each(view, same, pairs, known):
        change = merge(view, group)
        if change is not None:
            gone.update(record.id for record in group)
            yield change
    settled: set[tuple[int, int]] = set()
    for pair in pairs:
        if gone.isdisjoint(pair.ids) and known.get(pair.ids) == "contradiction":
            for change in dispute(view, pair.one, pair.other):
                settled.add(pair.ids)
                yield change
    yield from apart(view, asked, known, gone, settled)


def candidates(view: View) -> list[Pair]:
    """Pairs that may be one: near enough, learned and not concluded, and left alone by their owner's undo."""
    policy = view.policy.merge
    least = min(policy.duplicate, 2 * policy.bullets / (1 + policy.bullets))
    return [
        pair
        for pair in near_pairs(view, least, "duplicates", lambda pair: judge(pair, None, view.policy) == "independent")
        if (pair.nearness >= policy.duplicate or pair.one.tier == pair.other.tier == "core")
        and "sleep" not in (pair.one.source, pair.other.source)
        and not _kept_apart(view, pair)
    ]


def by_rules(view: View, pairs: Sequence[Pair]) -> dict[tuple[int, int], Found]:
    """What the rules alone say of each pair."""
    return {pair.ids: judge(pair, None, view.policy) for pair in pairs}


def found(view: View, pair: Pair, ruled: Mapping[tuple[int, int], Found], known: _Known) -> Found:
    """What the records of a pair are to each other, whoever tells."""
    verdict = known.get(pair.ids)
    return ruled[pair.ids] if verdict is None else judge(pair, verdict, view.policy)


def one_each(view: View, same: Sequence[Pair], pairs: Sequence[Pair], known: _Known) -> list[list[Record]]:
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
            heads = pair if first else _between(near, fullest(one, policy), fullest(other, policy))
            if first or judge(heads, known.get(heads.ids), policy) == "repeat":
                joined = [*one, *other]
                home.update((record.id, joined) for record in joined)
                changed = True
    groups = {id(group): group for group in home.values() if len(group) > 1}
    return sorted(groups.values(), key=lambda group: min(record.key for record in group))


def apart(
    view: View,
    asked: Sequence[tuple[Question, tuple[Pair, ...]]],
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
            Tie(pair.one.id, pair.other.id, "related", merge_store.APART, min(1.0, pair.nearness))
            for pair in pairs
            if gone.isdisjoint(pair.ids) and pair.ids not in settled
        )
        if ties:
            yield Change(
                "compared", f"a model read {len(pairs)} near pairs, and {len(ties)} say different things", ties
            )


def _open(view: View, pairs: Sequence[Pair], ruled: Mapping[tuple[int, int], Found]) -> list[Pair]:
    """The pairs of which only somebody who reads them can tell. What a stranger wrote is shown to no model here."""
    return [
        pair
        for pair in pairs
        if ruled[pair.ids] == "open" and min(standing(pair.one, view.policy), standing(pair.other, view.policy)) > 0
    ]


def _between(near: Mapping[tuple[int, int], Pair], one: Record, other: Record) -> Pair:
    """The pair of two records, whether it was found to be near or not."""
    first, second = (one, other) if one.id < other.id else (other, one)
    return near.get((first.id, second.id)) or Pair(first, second, similarity(first.text, second.text))


def _kept_apart(view: View, pair: Pair) -> bool:
    """Whether they are known to be at odds, or somebody undid a decision about both: then nothing joins them."""
    one, other = pair.ids
    if merge_store.at_odds(view.connection, one, other):
        return True
    return merge_store.taken_back(view.connection, one) and merge_store.taken_back(view.connection, other)


PASS = Pass(
    name="duplicates",
    phase="consolidate",
    about="joins memories that say the same",
    plan=plan,
    questions=questions,
)
