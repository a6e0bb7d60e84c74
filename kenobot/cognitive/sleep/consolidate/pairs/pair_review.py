"""Review near pairs of records: rules judge them, a model is asked about the open ones, and changes follow.

The same statement, which `admit` did not find or an import brought, is merged; so is what a model read as one. What a
model read as a contradiction is resolved; what rules take for one, another value of a single-valued attribute or two
near texts, is a question. What a model told apart is linked: it is not asked about those again until they change.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from kenobot.cognitive.remember.conflicts import word_weight
from kenobot.cognitive.remember.new_values import EVENT_CATEGORIES
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.pairs import pair_relation
from kenobot.cognitive.sleep.consolidate.pairs.conflicts import QUESTION, resolve_conflict
from kenobot.cognitive.sleep.consolidate.pairs.merging import merge_records, most_complete
from kenobot.cognitive.sleep.consolidate.pairs.near_pairs import RecordPair, join_pairs, near_pairs
from kenobot.cognitive.sleep.consolidate.pairs.pair_relation import PairRelation, classify_pair
from kenobot.cognitive.sleep.plan.changes import AddLink, Change, UpdateRecord, expire
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import tiers
from kenobot.language.fingerprint import is_same_or_more_exact, normalize_name
from kenobot.language.similarity import similarity
from kenobot.language.statements.attribute_statements import is_single_valued
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

_PAST_ADMIT = ("import", "edit")  # sources that `admit` did not compare with all that it should


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
            and min(word_weight(pair.one, view.policy.admit), word_weight(pair.other, view.policy.admit)) > 0
        ]
        self._batches = pair_relation.question_batches(open_pairs, view)
        self.verdicts = {
            batch[number - 1].ids: relation
            for question, batch in self._batches
            for number, relation in pair_relation.parse_relations(view.answer(question) or "", len(batch)).items()
        }
        self.ended: set[int] = set()  # bounded: near pairs; night
        self._resolved: set[tuple[int, int]] = set()  # bounded: near pairs; night

    def questions(self) -> list[ModelQuestion]:
        """Return the questions about the open pairs."""
        return [question for question, _ in self._batches]

    def relation(self, pair: RecordPair) -> PairRelation:
        """Return how two records relate, by the model's verdict where there is one."""
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
        the same as that in nearly the same words, so nothing is joined over what it has in common with a third.
        """
        policy, near = self._view.policy, {pair.ids: pair for pair in self.pairs}
        home: dict[int, list[Record]] = {}

        def say_the_same(one: list[Record], other: list[Record]) -> bool:
            if len(one) == len(other) == 1:
                return True
            heads = _pair(near, most_complete(one, policy), most_complete(other, policy))
            verdict = self.verdicts.get(heads.ids)
            found = classify_pair(heads, verdict, policy)
            return found == "repeat" or (verdict is None and pair_relation.says_the_same_as_a_third(heads, policy))

        while join_pairs(same, say_the_same, home):
            pass
        groups = {id(group): group for group in home.values() if len(group) > 1}
        return sorted(groups.values(), key=lambda group: min(record.key for record in group))

    def resolve(self, one: Record, other: Record) -> Iterator[Change]:
        """Resolve a contradiction, once, if both records still stand; ask about one that no model has read."""
        ids = min(one.id, other.id), max(one.id, other.id)
        if self.ended.isdisjoint(ids) and ids not in self._resolved:
            for change in resolve_conflict(self._view, one, other, by_model=self.verdicts.get(ids) == "contradiction"):
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
                reason = Sentence("reasons.pairs_read", pairs=len(pairs), different=len(links))
                yield Change("compared", reason, links)


def _pair(near: dict[tuple[int, int], RecordPair], one: Record, other: Record) -> RecordPair:
    """Return the pair of two records, whether it was found to be near or not."""
    first, second = (one, other) if one.id < other.id else (other, one)
    return near.get((first.id, second.id)) or RecordPair(first, second, similarity(first.text, second.text))


# ── duplicates ───────────────────────────────────────────────────────────────────────────────────────────────────


def _merge_duplicates(view: NightView) -> Iterator[Change]:
    """Merge each group of records that are one, and resolve what a model found to be contradictions."""
    review = duplicate_review(view)
    yield from review.merge([pair for pair in review.pairs if review.relation(pair) == "repeat"])
    for pair in review.pairs:
        if review.verdicts.get(pair.ids) == "contradiction":
            yield from review.resolve(pair.one, pair.other)
    yield from review.mark_told_apart()


def duplicate_review(view: NightView) -> PairReview:
    """Review the pairs that may be one: near enough, learned and not concluded, and not kept apart."""
    policy = view.policy.consolidation
    least = min(policy.duplicate_from, 2 * policy.same_line_above / (1 + policy.same_line_above))

    def is_settled(pair: RecordPair) -> bool:
        return classify_pair(pair, None, view.policy) == "independent"

    pairs = [
        pair
        for pair in near_pairs(view, least, "duplicates", is_settled)
        if (pair.nearness >= policy.duplicate_from or _are_alike_lines(pair, policy.same_line_above))
        and "sleep" not in (pair.one.source, pair.other.source)
        and not _are_kept_apart(view, pair)
    ]
    return PairReview(view, pairs, lambda _, by_rules: by_rules == "open")


def _are_alike_lines(pair: RecordPair, least: float) -> bool:
    """Return whether two records are lines of MEMORY.md with nearly the same words."""
    in_core = pair.one.tier == pair.other.tier == "core"
    return in_core and pair_relation.jaccard(pair.one.text, pair.other.text) > least


def _are_kept_apart(view: NightView, pair: RecordPair) -> bool:
    """Return whether two records are known to be in conflict, or decisions about both were undone."""
    one, other = pair.ids
    if pass_rows.are_in_conflict(view.connection, one, other):
        return True
    return pass_rows.was_ever_undone(view.connection, one) and pass_rows.was_ever_undone(view.connection, other)


# ── contradictions ───────────────────────────────────────────────────────────────────────────────────────────────


def _resolve_contradictions(view: NightView) -> Iterator[Change]:
    """Close answered questions, merge what a model found to be one, and resolve contradictions, the latest first."""
    yield from _expire_answered(view)
    review = _contradiction_review(view, asked=view.model_available or bool(view.answers))
    yield from review.merge(
        [pair for pair in review.pairs if review.verdicts.get(pair.ids) == review.relation(pair) == "repeat"]
    )
    conflicts = list(_other_values(view))
    conflicts += [(pair.one, pair.other) for pair in review.pairs if review.relation(pair) == "contradiction"]
    conflicts.sort(key=lambda found: min(found[0].key, found[1].key))
    conflicts.sort(key=lambda found: sorted((found[0].valid_from, found[1].valid_from), reverse=True), reverse=True)
    for one, other in conflicts:
        for change in review.resolve(one, other):
            updates = [part for part in change.parts if isinstance(part, UpdateRecord)]
            review.ended.update(part.record for part in updates if part.values.get("status"))
            yield change
    yield from review.mark_told_apart()


def _contradiction_review(view: NightView, *, asked: bool) -> PairReview:
    """Review pairs of notes near enough to speak of the same, but for known conflicts.

    Where no model is asked, those are enough that contradict each other by their words.
    """

    def is_settled(pair: RecordPair) -> bool:
        return not asked and classify_pair(pair, None, view.policy) != "contradiction"

    def is_open(pair: RecordPair, by_rules: PairRelation) -> bool:
        """Return whether to ask about a pair as a contradiction, and not as a duplicate."""
        near = pair.nearness >= view.policy.consolidation.duplicate_from
        return by_rules in ("independent", "contradiction") or (by_rules == "open" and not near)

    pairs = [
        pair
        for pair in near_pairs(view, view.policy.admit.compare_above, f"contradictions, asked: {asked}", is_settled)
        if pair.one.form == "note"
        and "sleep" not in (pair.one.source, pair.other.source)
        and not {pair.one.category, pair.other.category} & EVENT_CATEGORIES
        and not pass_rows.are_in_conflict(view.connection, *pair.ids)
    ]
    return PairReview(view, pairs, is_open)


def _other_values(view: NightView) -> Iterator[tuple[Record, Record]]:
    """Yield records with different values of a single-valued attribute: the latest of a subject against each other."""
    carriers: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, scope, subject, names in pass_rows.attribute_carriers(view.connection):
        for name in filter(is_single_valued, names):
            carriers[scope, subject, normalize_name(name)].append(number)
    several = {key: ids for key, ids in carriers.items() if len(ids) > 1}
    records = pass_rows.live_facts(view.connection, {number for ids in several.values() for number in ids})
    for (_, _, name), ids in sorted(several.items()):
        stated = [records[number] for number in ids if number in records]
        stated = [record for record in stated if record.category not in EVENT_CATEGORIES]
        if not stated:
            continue
        latest = max(stated, key=lambda record: (record.valid_from, record.created, record.key))
        for other in stated:
            came_past_admit = latest.source in _PAST_ADMIT or other.source in _PAST_ADMIT
            if other.id != latest.id and came_past_admit and _differ(latest, other, name):
                yield latest, other


def _differ(one: Record, other: Record, name: str) -> bool:
    first, second = (
        next(value for key, value in record.attribute_map.items() if normalize_name(key) == name)
        for record in (one, other)
    )
    return not is_same_or_more_exact(first, second) and not is_same_or_more_exact(second, first)


def _expire_answered(view: NightView) -> Iterator[Change]:
    """Expire open questions about records of which one is no longer remembered."""
    for question in pass_rows.records_of_form(view.connection, "question", QUESTION):
        about = tiers.list_derived_from(view.connection, question.id)
        if question.status == "active" and len(pass_rows.live_facts(view.connection, about)) < len(about):
            yield expire(question, Sentence("reasons.one_gone"), stamp(view.now), touch=True)


DUPLICATES = Pass(
    "duplicates",
    "consolidate",
    "joins memories that say the same",
    _merge_duplicates,
    lambda view: duplicate_review(view).questions(),
)
CONTRADICTIONS = Pass(
    "contradictions",
    "consolidate",
    "settles what contradicts each other, or asks",
    _resolve_contradictions,
    lambda view: _contradiction_review(view, asked=True).questions(),
)
