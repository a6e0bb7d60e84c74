"""Review near pairs of records: rules judge them, a model is asked about the open ones, and changes follow.

Records that say the same are merged, contradictions are resolved, and what a model told apart is linked, so that it is
not asked about those again until they change.
"""

from collections.abc import Callable, Iterator, Sequence

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate import pair_verdicts
from kenobot.cognitive.sleep.consolidate.conflicts import resolve_conflict
from kenobot.cognitive.sleep.consolidate.merging import merge_records, most_complete
from kenobot.cognitive.sleep.consolidate.near_pairs import RecordPair
from kenobot.cognitive.sleep.consolidate.pair_rules import PairRelation, classify_pair, credibility
from kenobot.cognitive.sleep.plan.changes import AddLink, Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.similarity import similarity


class PairReview:
    """The near pairs that one pass reviews. ended: records that were merged or ended by a change planned so far."""

    def __init__(
        self, view: NightView, pairs: Sequence[RecordPair], is_open: Callable[[RecordPair, PairRelation], bool]
    ) -> None:
        """is_open: whether a model is asked about a pair, given what the rules say. Quotations are shown to none."""
        self._view = view
        self.pairs = pairs
        self._by_rules = {pair.ids: classify_pair(pair, None, view.policy) for pair in pairs}
        open_pairs = [
            pair
            for pair in pairs
            if is_open(pair, self._by_rules[pair.ids])
            and min(credibility(pair.one, view.policy), credibility(pair.other, view.policy)) > 0
        ]
        self._batches = pair_verdicts.question_batches(open_pairs, view)
        self.verdicts = pair_verdicts.read_verdicts(view, self._batches)
        self.ended: set[int] = set()  # bounded: near pairs; night
        self._resolved: set[tuple[int, int]] = set()  # bounded: near pairs; night

    def questions(self) -> list[ModelQuestion]:
        """The questions about the open pairs."""
        return [question for question, _ in self._batches]

    def relation(self, pair: RecordPair) -> PairRelation:
        """How two records relate, by the model's verdict where there is one."""
        verdict = self.verdicts.get(pair.ids)
        return self._by_rules[pair.ids] if verdict is None else classify_pair(pair, verdict, self._view.policy)

    def merge(self, same: Sequence[RecordPair]) -> Iterator[Change]:
        """Merge the records that say the same."""
        for group in self.groups(same):
            change = merge_records(self._view, group)
            if change is not None:
                self.ended.update(record.id for record in group)
                yield change

    def groups(self, same: Sequence[RecordPair]) -> list[list[Record]]:
        """Group the records that say the same, whatever their order.

        The nearest pair is joined first. From then on a group goes by its fullest wording: what is to join it must say
        the same as that, so nothing is joined over what it has in common with a third.
        """
        policy, near = self._view.policy, {pair.ids: pair for pair in self.pairs}
        home: dict[int, list[Record]] = {}
        changed = True
        while changed:
            changed = False
            for pair in same:
                one, other = home.setdefault(pair.one.id, [pair.one]), home.setdefault(pair.other.id, [pair.other])
                if one is other:
                    continue
                if len(one) > 1 or len(other) > 1:
                    heads = _pair(near, most_complete(one, policy), most_complete(other, policy))
                    if classify_pair(heads, self.verdicts.get(heads.ids), policy) != "repeat":
                        continue
                joined = [*one, *other]
                home.update((record.id, joined) for record in joined)
                changed = True
        groups = {id(group): group for group in home.values() if len(group) > 1}
        return sorted(groups.values(), key=lambda group: min(record.key for record in group))

    def resolve(self, one: Record, other: Record, names: tuple[str, ...] = ()) -> Iterator[Change]:
        """Resolve a contradiction, once, if both records still stand. names: attributes with two values."""
        ids = min(one.id, other.id), max(one.id, other.id)
        if self.ended.isdisjoint(ids) and ids not in self._resolved:
            for change in resolve_conflict(self._view, one, other, names):
                self._resolved.add(ids)
                yield change

    def mark_told_apart(self) -> Iterator[Change]:
        """Link the pairs that a model has read and that stay apart."""
        for _, batch in self._batches:
            pairs = [pair for pair in batch if pair.ids in self.verdicts]
            links = tuple(
                AddLink(pair.one.id, pair.other.id, "related", pass_rows.TOLD_APART, min(1.0, pair.nearness))
                for pair in pairs
                if self.ended.isdisjoint(pair.ids) and pair.ids not in self._resolved
            )
            if links:
                reason = f"a model read {len(pairs)} near pairs, and {len(links)} say different things"
                yield Change("compared", reason, links)


def _pair(near: dict[tuple[int, int], RecordPair], one: Record, other: Record) -> RecordPair:
    """The pair of two records, whether it was found to be near or not."""
    first, second = (one, other) if one.id < other.id else (other, one)
    return near.get((first.id, second.id)) or RecordPair(first, second, similarity(first.text, second.text))
