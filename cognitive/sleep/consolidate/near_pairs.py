"""Which live records are near each other: all of them, and never by comparing all with all.

A record is held against those that share one of its rarest words with it (prefix filtering: Chaudhuri, Ganti and
Kaushik, 2006), found in the files that `admit` keeps. A number in those files stands for scope, subject and word, so
records of two scopes or two subjects never meet. What has no rarer word than one that hundreds share is compared with
the newest of those.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter

from kenobot.cognitive.policy.consolidation import ConsolidationPolicy
from kenobot.cognitive.sleep import merge_rows
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache, LikelyPairs
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store import events, term_index
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.cognitive.text.similarity import similarity
from kenobot.storage.connection import Connection

_PAGE = 2000  # pairs whose records are read at once
_FEW = 3  # words that are followed: of more, two must be common
_SLACK = 0.2  # words are counted here, not weighed: a pair may be nearer than their number tells


@dataclass(frozen=True, slots=True)
class RecordPair:
    """Two live records of one scope and subject, the one that came first as `one`, and how near they are.

    by_meaning: by meaning, not by their words.
    """

    one: Record
    other: Record
    nearness: float
    by_meaning: bool = False

    @property
    def ids(self) -> tuple[int, int]:
        """The numbers of both, the smaller first."""
        return self.one.id, self.other.id

    @property
    def keys(self) -> tuple[str, str]:
        """Names the pair by what it says: the same whatever order its records came in."""
        first, second = sorted((self.one.key, self.other.key))
        return first, second


def near_pairs(
    view: NightView, least: float, name: str = "", settled: Callable[[RecordPair], bool] = lambda _: False
) -> list[RecordPair]:
    """Pairs of live notes and episodes whose nearness is at least `least`, the nearest first.

    Reads the files once and, of the records, those that may be near another. Never mixes scopes or subjects. settled:
    whether whoever compares, by their `name`, needs no pair that their words make: told by the two records alone, and
    the same every time. It is left out, and not looked at again before one of the two has changed.
    """
    found = {pair.ids: pair for pair in _by_words(view, least, name, settled)}
    found.update({pair.ids: pair for pair in _by_meaning(view, least)})
    return sorted(found.values(), key=lambda pair: (-pair.nearness, pair.keys, pair.one.form))


def _by_words(view: NightView, least: float, name: str, settled: Callable[[RecordPair], bool]) -> Iterator[RecordPair]:
    compared = view.comparison_cache if name and view.comparison_cache is not None else ComparisonCache(0)
    known = compared.begin_round(name, merge_rows.record_versions(view.connection, ALL_SCOPES))
    # What is asked for next, after this, is as near as `grey`: found once, it serves both.
    lowest = min(least, view.policy.admit.compare_above)
    likely = compared.likely_pairs(
        events.last_record_event(view.connection),
        lowest,
        lambda: _Files(view.connection, view.policy.consolidation).pairs(lowest),
    )
    wanted = [pair for pair in sorted(likely) if likely[pair] >= least and not known.is_known_different(*pair)]
    for start in range(0, len(wanted), _PAGE):
        page = wanted[start : start + _PAGE]
        records = merge_rows.live_facts(view.connection, (number for pair in page for number in pair))
        for a, b in page:
            one, other = records.get(a), records.get(b)
            if one is None or other is None:
                continue
            nearness = similarity(one.text, other.text) if _comparable(one, other) else 0.0
            pair = RecordPair(one, other, nearness)
            if nearness < least or settled(pair):
                known.mark_different(a, b)
            else:
                yield pair
    known.close()


def _by_meaning(view: NightView, least: float) -> Iterator[RecordPair]:
    if view.find_neighbours is None:
        return
    policy = view.policy.consolidation
    since = store.stamp(view.since) if view.since is not None else ""
    for record in merge_rows.recently_changed_notes(view.connection, ALL_SCOPES, since, policy.max_measured):
        near = view.find_neighbours(record.scope, record.subject, record.id, policy.max_compared)
        others = merge_rows.live_facts(view.connection, near)
        for number, other in others.items():
            if number != record.id and near[number] >= least and _comparable(record, other):
                one, two = (record, other) if record.id < number else (other, record)
                yield RecordPair(one, two, near[number], by_meaning=True)


def _comparable(one: Record, other: Record) -> bool:
    return one.scope == other.scope and one.subject == other.subject and one.form == other.form


class _Files:
    """The files in memory: for each number that several records share, which; for each record, its numbers.

    Some twenty bytes a word of a record.
    """

    def __init__(self, connection: Connection, policy: ConsolidationPolicy) -> None:
        self._policy = policy
        self._shared: list[array[int]] = []
        self._of: dict[int, array[int]] = {}
        self._sizes = term_index.term_counts(connection)
        for number, (_, records) in enumerate(term_index.shared_terms(connection)):
            self._shared.append(records)
            for record in records:
                if record in self._of:
                    self._of[record].append(number)
                else:
                    self._of[record] = array("l", (number,))

    def pairs(self, least: float) -> LikelyPairs:
        """Pairs that may be as near as `least`, by the number of their common words, and how near they may be.

        Of two, the one with fewer words finds the other, so a record with too many words of its own need not look.
        """
        found: dict[tuple[int, int], float] = {}
        for record, numbers in self._of.items():
            at_most = len(numbers) / self._sizes[record] + _SLACK
            if at_most < least:
                continue
            own = set(numbers)
            for other in self._candidates(record, numbers):
                near = min(at_most, self._at_most(record, own, other))
                pair = (record, other) if record < other else (other, record)
                if near >= least and near > found.get(pair, 0.0):
                    found[pair] = near
        return found

    def _candidates(self, record: int, numbers: "array[int]") -> list[int]:
        """The records that share the rarest words of one, those that share the most of them."""
        policy = self._policy
        sharing: list[int] = []
        ranked = sorted((len(self._shared[number]), number) for number in numbers)[: policy.max_rare_words]
        followed = 0
        for size, number in ranked:
            if size > policy.max_listed and followed:
                break
            followed += 1
            sharing += self._shared[number][-policy.max_common :]
        tally = Counter(sharing)
        del tally[record]
        if followed > _FEW:
            tally = Counter({other: count for other, count in tally.items() if count > 1})
        if len(tally) <= policy.max_compared:
            return list(tally)
        return [other for other, _ in nlargest(policy.max_compared, tally.items(), key=itemgetter(1, 0))]

    def _at_most(self, record: int, own: set[int], other: int) -> float:
        """How near two records may be, as far as the number of their words tells."""
        common = len(own.intersection(self._of[other]))
        here, there = self._sizes[record], self._sizes[other]
        return max(2 * common / (here + there) + _SLACK, common / min(here, there) + _SLACK / 2)
