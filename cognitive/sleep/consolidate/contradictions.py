"""Resolve contradictions that `admit` could not see: what came by an import or an edit, or in other words.

They are another value of a single-valued attribute, or two near texts. What only a reader can tell is asked of a model;
without one, their words decide.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kenobot.cognitive.remember.conflicts import EVENT_CATEGORIES, is_single_valued
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.conflicts import QUESTION
from kenobot.cognitive.sleep.consolidate.near_pairs import RecordPair, near_pairs
from kenobot.cognitive.sleep.consolidate.pair_review import PairReview
from kenobot.cognitive.sleep.consolidate.pair_rules import PairRelation, classify_pair
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord, expire
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store.records import Record, stamp
from kenobot.cognitive.text.entity_names import is_same_or_more_exact, normalize_name

_PAST_ADMIT = ("import", "edit")  # sources that `admit` did not compare with all that it should
_Conflict = tuple[Record, Record, tuple[str, ...]]


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask about near pairs that may contradict each other."""
    return _review(view, asked=True).questions()


def plan(view: NightView) -> Iterator[Change]:
    """Close answered questions, merge what a model found to be one, and resolve contradictions, the latest first."""
    yield from _answered_questions(view)
    review = _review(view, asked=view.model_available or bool(view.answers))
    yield from review.merge(
        [pair for pair in review.pairs if review.verdicts.get(pair.ids) == review.relation(pair) == "repeat"]
    )
    conflicts: list[_Conflict] = list(_other_values(view))
    against = [pair for pair in review.pairs if review.relation(pair) == "contradiction"]
    conflicts += [(pair.one, pair.other, ()) for pair in against]
    conflicts.sort(key=lambda found: min(found[0].key, found[1].key))
    conflicts.sort(key=lambda found: sorted((found[0].valid_from, found[1].valid_from), reverse=True), reverse=True)
    for one, other, names in conflicts:
        for change in review.resolve(one, other, names):
            updates = [part for part in change.parts if isinstance(part, UpdateRecord)]
            review.ended.update(part.record for part in updates if part.values.get("status"))
            yield change
    yield from review.mark_told_apart()


def _review(view: NightView, *, asked: bool) -> PairReview:
    """Review pairs of notes near enough to speak of the same, but for known conflicts.

    Where no model is asked, those are enough that contradict each other by their words.
    """

    def is_settled(pair: RecordPair) -> bool:
        return not asked and classify_pair(pair, None, view.policy) != "contradiction"

    def is_open(pair: RecordPair, by_rules: PairRelation) -> bool:
        """Those that may be one are asked about as duplicates."""
        near = pair.nearness >= view.policy.consolidation.duplicate_from
        return by_rules == "independent" or (by_rules == "open" and not near)

    pairs = [
        pair
        for pair in near_pairs(view, view.policy.admit.compare_above, f"contradictions, asked: {asked}", is_settled)
        if pair.one.form == "note"
        and "sleep" not in (pair.one.source, pair.other.source)
        and not {pair.one.category, pair.other.category} & EVENT_CATEGORIES
        and not pass_rows.are_in_conflict(view.connection, *pair.ids)
    ]
    return PairReview(view, pairs, is_open)


def _other_values(view: NightView) -> Iterator[_Conflict]:
    """Records with different values of a single-valued attribute: the latest of a subject against each other one."""
    carriers: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, scope, subject, attributes in pass_rows.notes_with_attributes(view.connection):
        for name in pass_rows.attribute_names(attributes):
            if is_single_valued(name):
                carriers[scope, subject, normalize_name(name)].append(number)
    several = {key: ids for key, ids in carriers.items() if len(ids) > 1}
    records = pass_rows.live_facts(view.connection, {number for ids in several.values() for number in ids})
    differing: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (_, _, name), ids in sorted(several.items()):
        stated = [records[number] for number in ids if number in records]
        stated = [record for record in stated if record.category not in EVENT_CATEGORIES]
        if not stated:
            continue
        latest = max(stated, key=lambda record: (record.valid_from, record.created, record.key))
        for other in stated:
            came_past_admit = latest.source in _PAST_ADMIT or other.source in _PAST_ADMIT
            if other.id != latest.id and came_past_admit and _differ(latest, other, name):
                differing[latest.id, other.id].append(name)
    for (latest_id, other_id), names in differing.items():
        yield records[latest_id], records[other_id], tuple(names)


def _differ(one: Record, other: Record, name: str) -> bool:
    first, second = (_value(record, name) for record in (one, other))
    return not is_same_or_more_exact(first, second) and not is_same_or_more_exact(second, first)


def _value(record: Record, name: str) -> str:
    return next(value for key, value in record.attribute_map.items() if normalize_name(key) == name)


def _answered_questions(view: NightView) -> Iterator[Change]:
    """Expire open questions about records of which one is no longer remembered."""
    for question in pass_rows.records_of_form(view.connection, "question", QUESTION):
        about = pass_rows.derived_from(view.connection, question.id)
        if question.status == "active" and len(pass_rows.live_facts(view.connection, about)) < len(about):
            yield expire(question, "one of the two is no longer remembered", stamp(view.now), touch=True)


PASS = Pass("contradictions", "consolidate", "settles what contradicts each other, or asks", plan, questions)
