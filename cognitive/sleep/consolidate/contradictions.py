"""Contradictions that `admit` could not see: what came by an import or an edit, or was said in other words.

Two ways lead to them: another value for what there is one of at a time, and two texts that are near each other. What
only somebody who reads both can tell is asked of a model; without one, what their words tell is all that is done.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kenobot.cognitive.remember.compare import EVENT_CATEGORIES, is_single_valued
from kenobot.cognitive.sleep import merge_rows
from kenobot.cognitive.sleep.consolidate import pair_verdicts
from kenobot.cognitive.sleep.consolidate.conflicts import QUESTION, resolve_conflict
from kenobot.cognitive.sleep.consolidate.duplicates import (
    classify_by_rules,
    mark_told_apart,
    merge_groups,
    pair_relation,
)
from kenobot.cognitive.sleep.consolidate.merging import merge_records
from kenobot.cognitive.sleep.consolidate.near_pairs import RecordPair, near_pairs
from kenobot.cognitive.sleep.consolidate.pair_rules import PairRelation, classify_pair, credibility
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.cognitive.text.entity_names import is_same_or_more_exact, normalize_name

_PAST_ADMIT = ("import", "edit")  # how something comes in that `admit` did not hold against all it should


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """About near pairs that may contradict each other."""
    pairs = _near(view, asked=True)
    return [
        question
        for question, _ in pair_verdicts.question_batches(_open(view, pairs, classify_by_rules(view, pairs)), view)
    ]


def plan(view: NightView) -> Iterator[Change]:
    """A change for each contradiction, the latest word first; what was told apart; and questions that are answered."""
    yield from _answered(view)
    pairs = _near(view, asked=view.model_available or bool(view.answers))
    ruled = classify_by_rules(view, pairs)
    asked = pair_verdicts.question_batches(_open(view, pairs, ruled), view)
    known = pair_verdicts.read_verdicts(view, asked)
    gone: set[int] = set()
    same = [pair for pair in pairs if known.get(pair.ids) == pair_relation(view, pair, ruled, known) == "repeat"]
    for group in merge_groups(view, same, pairs, known):
        joined = merge_records(view, group)
        if joined is not None:
            gone.update(record.id for record in group)
            yield joined
    disputed: list[tuple[Record, Record, tuple[str, ...]]] = list(_other_values(view))
    against = [pair for pair in pairs if pair_relation(view, pair, ruled, known) == "contradiction"]
    disputed += [(pair.one, pair.other, ()) for pair in against]
    settled: set[tuple[int, int]] = set()
    for one, other, names in sorted(disputed, key=_latest_first):
        if gone.isdisjoint((one.id, other.id)) and (min(one.id, other.id), max(one.id, other.id)) not in settled:
            for change in resolve_conflict(view, one, other, names):
                gone.update(_ended(change))
                settled.add((min(one.id, other.id), max(one.id, other.id)))
                yield change
    yield from mark_told_apart(view, asked, known, gone, settled)


def _near(view: NightView, *, asked: bool) -> list[RecordPair]:
    """Pairs of notes near enough to speak of the same, but for what is known of already.

    Where nobody is asked, those are enough that contradict each other by their words.
    """

    def settled(pair: RecordPair) -> bool:
        return not asked and classify_pair(pair, None, view.policy) != "contradiction"

    return [
        pair
        for pair in near_pairs(view, view.policy.admit.compare_above, f"contradictions, asked: {asked}", settled)
        if pair.one.form == "note"
        and "sleep" not in (pair.one.source, pair.other.source)
        and not {pair.one.category, pair.other.category} & EVENT_CATEGORIES
        and not merge_rows.are_in_conflict(view.connection, *pair.ids)
    ]


def _open(
    view: NightView, pairs: Sequence[RecordPair], ruled: Mapping[tuple[int, int], PairRelation]
) -> list[RecordPair]:
    """The pairs of which the rules say nothing; those that may be one are asked about as duplicates."""
    policy = view.policy
    return [
        pair
        for pair in pairs
        if min(credibility(pair.one, policy), credibility(pair.other, policy)) > 0
        and ruled[pair.ids] in ("independent", "open")
        and not (ruled[pair.ids] == "open" and pair.nearness >= policy.consolidation.duplicate_from)
    ]


def _other_values(view: NightView) -> Iterator[tuple[Record, Record, tuple[str, ...]]]:
    """Of each subject, what there is one of at a time and two notes tell differently: the latest against each other."""
    told: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, scope, subject, attributes in merge_rows.notes_with_attributes(view.connection, ALL_SCOPES):
        for name in merge_rows.attribute_names(attributes):
            if is_single_valued(name):
                told[scope, subject, normalize_name(name)].append(number)
    several = {key: numbers for key, numbers in told.items() if len(numbers) > 1}
    records = merge_rows.live_facts(view.connection, {number for numbers in several.values() for number in numbers})
    differing: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (_, _, name), numbers in sorted(several.items()):
        mine = [
            records[number]
            for number in numbers
            if number in records and records[number].category not in EVENT_CATEGORIES
        ]
        if not mine:
            continue
        latest = max(mine, key=lambda record: (record.valid_from, record.created, record.key))
        for other in mine:
            if other.id != latest.id and _differ(latest, other, name) and _unseen(latest, other):
                differing[latest.id, other.id].append(name)
    for (latest_id, other_id), names in differing.items():
        yield records[latest_id], records[other_id], tuple(names)


def _differ(one: Record, other: Record, name: str) -> bool:
    said, told = (_value(record, name) for record in (one, other))
    return not is_same_or_more_exact(said, told) and not is_same_or_more_exact(told, said)


def _value(record: Record, name: str) -> str:
    return next(value for held, value in record.attributes.items() if normalize_name(held) == name)


def _unseen(one: Record, other: Record) -> bool:
    """Whether one of them came in past the door; what `admit` saw and let stand, stands."""
    return one.source in _PAST_ADMIT or other.source in _PAST_ADMIT


def _latest_first(found: tuple[Record, Record, tuple[str, ...]]) -> tuple[str, str, str]:
    """Sorts by when the later one was said, and then the earlier one, backwards."""
    one, other, _ = found
    first, second = sorted((one.valid_from, other.valid_from), reverse=True)
    return _turned(first), _turned(second), min(one.key, other.key)


def _turned(time: str) -> str:
    return "".join(chr(0x10FFFF - ord(char)) for char in time)


def _ended(change: Change) -> set[int]:
    return {part.record for part in change.parts if isinstance(part, UpdateRecord) and part.values.get("status")}


def _answered(view: NightView) -> Iterator[Change]:
    """Open questions that nobody needs to answer any more, because one of the two is no longer remembered."""
    for question in merge_rows.records_of_form(view.connection, ALL_SCOPES, "question", QUESTION):
        about = merge_rows.derived_from(view.connection, question.id)
        if question.status != "active" or not about or len(merge_rows.live_facts(view.connection, about)) == len(about):
            continue
        now = store.stamp(view.now)
        values = {"status": "expired", "valid_to": now, "updated": now}
        yield Change(
            "expired", "one of the two is no longer remembered", (UpdateRecord(question.id, values),), question.id
        )


PASS = Pass(
    name="contradictions",
    phase="consolidate",
    description="settles what contradicts each other, or asks",
    plan=plan,
    questions=questions,
)
