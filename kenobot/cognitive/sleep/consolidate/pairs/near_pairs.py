"""Find the live records that are near each other, without comparing all with all.

A record is compared with those that share one of its rarest words (prefix filtering: Chaudhuri, Ganti and Kaushik,
2006), by the term index of `admit`. A term stands for scope, subject and word, so records of two scopes or subjects
never meet. What has no rarer word than one that hundreds share is compared with the newest of those.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest
from operator import itemgetter

from kenobot.cognitive.policy.sleep import ConsolidationPolicy
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache, LikelyPairs
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store import events, term_index
from kenobot.core import pacing
from kenobot.language.similarity import similarity
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

_PAGE = 2000  # pairs whose records are read at once
_FEW = 3  # words that are followed: of more, two must be common
_SLACK = 0.2  # words are counted here, not weighed: a pair may be nearer than their number tells


@dataclass(frozen=True, slots=True)
class RecordPair:
    """Two live records of one scope and subject, the earlier first, and how near they are, by words or by meaning."""

    one: Record
    other: Record
    nearness: float

    @property
    def ids(self) -> tuple[int, int]:
        """Both ids, the smaller first."""
        return self.one.id, self.other.id

    @property
    def keys(self) -> tuple[str, str]:
        """Identifies the pair by its texts, whatever order the records came in."""
        first, second = sorted((self.one.key, self.other.key))
        return first, second


def near_pairs(
    view: NightView, least: float, name: str, is_settled: Callable[[RecordPair], bool] = lambda _: False
) -> list[RecordPair]:
    """Find pairs of live facts whose nearness is at least `least`, the nearest first, within one scope and subject.

    is_settled: whether the pass of this name needs no pair that was found by words, told by the two records alone; it
    is left out, and not compared again before one of the two has changed.
    """
    found = {pair.ids: pair for pair in _by_words(view, least, name, is_settled)}
    found |= {pair.ids: pair for pair in _by_meaning(view, least)}
    return sorted(found.values(), key=lambda pair: (-pair.nearness, pair.keys, pair.one.form))


def join_pairs(
    pairs: Iterable[RecordPair], may_join: Callable[[list[Record], list[Record]], bool], home: dict[int, list[Record]]
) -> bool:
    """Join the groups of each pair's records where they may be joined; whether any were. home: groups by record."""
    has_joined = False
    for pair in pairs:
        one, other = home.setdefault(pair.one.id, [pair.one]), home.setdefault(pair.other.id, [pair.other])
        if one is not other and may_join(one, other):
            joined = [*one, *other]
            home.update((record.id, joined) for record in joined)
            has_joined = True
    return has_joined


def _by_words(
    view: NightView, least: float, name: str, is_settled: Callable[[RecordPair], bool]
) -> Iterator[RecordPair]:
    cache = view.comparison_cache if view.comparison_cache is not None else ComparisonCache(0)
    known = cache.begin_round(name, pass_rows.record_versions(view.connection))
    lowest = min(least, view.policy.admit.compare_above)  # the next pass asks for that: found once, it serves both
    likely = cache.likely_pairs(
        events.last_record_event(view.connection),
        lowest,
        lambda: _SharedTerms(view.connection, view.policy.consolidation).pairs(lowest),
    )
    wanted = [pair for pair in sorted(likely) if likely[pair] >= least and not known.is_known_different(*pair)]
    for start in range(0, len(wanted), _PAGE):
        page = wanted[start : start + _PAGE]
        records = pass_rows.live_facts(view.connection, (number for pair in page for number in pair))
        for a, b in page:
            pacing.step()
            one, other = records.get(a), records.get(b)
            if one is None or other is None:
                continue
            nearness = similarity(one.text, other.text) if _are_comparable(one, other) else 0.0
            pair = RecordPair(one, other, nearness)
            if nearness < least or is_settled(pair):
                known.mark_different(a, b)
            else:
                yield pair
    known.close()


def _by_meaning(view: NightView, least: float) -> Iterator[RecordPair]:
    if view.find_neighbours is None:
        return
    policy = view.policy.consolidation
    since = stamp(view.since) if view.since is not None else ""
    for record in pass_rows.recently_changed_notes(view.connection, since, policy.max_measured):
        near = view.find_neighbours(record.scope, record.subject, record.id, policy.max_compared)
        for number, other in pass_rows.live_facts(view.connection, near).items():
            if number != record.id and near[number] >= least and _are_comparable(record, other):
                first, second = (record, other) if record.id < number else (other, record)
                yield RecordPair(first, second, near[number])


def _are_comparable(one: Record, other: Record) -> bool:
    return one.scope == other.scope and one.subject == other.subject and one.form == other.form


class _SharedTerms:
    """The term index in memory: the records of each term that several share, and the terms of each record."""

    def __init__(self, connection: Connection, policy: ConsolidationPolicy) -> None:
        self._policy = policy
        self._shared: list[array[int]] = []  # bounded: the files near what is new; night
        self._of: dict[int, array[int]] = {}  # bounded: the files near what is new; night
        self._sizes = term_index.term_counts(connection)
        for number, (_, records) in enumerate(term_index.iterate_shared_terms(connection)):
            pacing.step()
            self._shared.append(records)
            for record in records:
                if record in self._of:
                    self._of[record].append(number)
                else:
                    self._of[record] = array("l", (number,))

    def pairs(self, least: float) -> LikelyPairs:
        """Return pairs that may be as near as `least`, by the number of their common words, and their upper bound.

        Of two, the one with fewer words finds the other, so a record with too many words of its own need not look.
        """
        found: dict[tuple[int, int], float] = {}
        for record, numbers in self._of.items():
            at_most = len(numbers) / self._sizes[record] + _SLACK
            if at_most < least:
                continue
            pacing.step()
            own = set(numbers)
            for other in self._candidates(record, numbers):
                near = min(at_most, self._bound(record, own, other))
                pair = (record, other) if record < other else (other, record)
                if near >= least and near > found.get(pair, 0.0):
                    found[pair] = near
        return found

    def _candidates(self, record: int, numbers: "array[int]") -> list[int]:
        """Return the records that share the rarest words of one, those that share the most of them."""
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

    def _bound(self, record: int, own: set[int], other: int) -> float:
        """Return the upper bound of the nearness of two records, by the number of their words."""
        common = len(own.intersection(self._of[other]))
        here, there = self._sizes[record], self._sizes[other]
        return max(2 * common / (here + there) + _SLACK, common / min(here, there) + _SLACK / 2)
