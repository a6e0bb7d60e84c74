"""Contradictions that `admit` could not see: what came by an import or an edit, or was said in other words.

Two ways lead to them: another value for what there is one of at a time, and two texts that are near each other. What
only somebody who reads both can tell is asked of a model; without one, what their words tell is all that is done.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kenobot.cognitive.remember.compare import HAPPENS, one_at_a_time
from kenobot.cognitive.sleep import merge_store
from kenobot.cognitive.sleep.consolidate import verdicts
from kenobot.cognitive.sleep.consolidate.alike import Found, judge, standing
from kenobot.cognitive.sleep.consolidate.disputes import QUESTION, dispute
from kenobot.cognitive.sleep.consolidate.duplicates import apart, by_rules, found, one_each
from kenobot.cognitive.sleep.consolidate.merging import merge
from kenobot.cognitive.sleep.consolidate.nearby import Pair, near_pairs
from kenobot.cognitive.sleep.plan.changes import Change, Edit
from kenobot.cognitive.sleep.plan.passes import Pass, Question, View
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import WHOLE_HOME
from kenobot.cognitive.text.entity_names import name_of, within_value

_PAST_ADMIT = ("import", "edit")  # how something comes in that `admit` did not hold against all it should


def questions(view: View) -> Sequence[Question]:
    """About near pairs that may contradict each other."""
    pairs = _near(view, asked=True)
    return [question for question, _ in verdicts.batches(_open(view, pairs, by_rules(view, pairs)), view)]


def plan(view: View) -> Iterator[Change]:
    """A change for each contradiction, the latest word first; what was told apart; and questions that are answered."""
    yield from _answered(view)
    pairs = _near(view, asked=view.asked or bool(view.answers))
    ruled = by_rules(view, pairs)
    asked = verdicts.batches(_open(view, pairs, ruled), view)
    known = verdicts.verdicts(view, asked)
    gone: set[int] = set()
    same = [pair for pair in pairs if known.get(pair.ids) == found(view, pair, ruled, known) == "repeat"]
    for group in one_each(view, same, pairs, known):
        joined = merge(view, group)
        if joined is not None:
            gone.update(record.id for record in group)
            yield joined
    disputed: list[tuple[Record, Record, tuple[str, ...]]] = list(_other_values(view))
    against = [pair for pair in pairs if found(view, pair, ruled, known) == "contradiction"]
    disputed += [(pair.one, pair.other, ()) for pair in against]
    settled: set[tuple[int, int]] = set()
    for one, other, names in sorted(disputed, key=_latest_first):
        if gone.isdisjoint((one.id, other.id)) and (min(one.id, other.id), max(one.id, other.id)) not in settled:
            for change in dispute(view, one, other, names):
                gone.update(_ended(change))
                settled.add((min(one.id, other.id), max(one.id, other.id)))
                yield change
    yield from apart(view, asked, known, gone, settled)


def _near(view: View, *, asked: bool) -> list[Pair]:
    """Pairs of notes near enough to speak of the same, but for what is known of already.

    Where nobody is asked, those are enough that contradict each other by their words.
    """

    def settled(pair: Pair) -> bool:
        return not asked and judge(pair, None, view.policy) != "contradiction"

    return [
        pair
        for pair in near_pairs(view, view.policy.admit.grey, f"contradictions, asked: {asked}", settled)
        if pair.one.form == "note"
        and "sleep" not in (pair.one.source, pair.other.source)
        and not {pair.one.category, pair.other.category} & HAPPENS
        and not merge_store.at_odds(view.connection, *pair.ids)
    ]


def _open(view: View, pairs: Sequence[Pair], ruled: Mapping[tuple[int, int], Found]) -> list[Pair]:
    """The pairs of which the rules say nothing; those that may be one are asked about as duplicates."""
    policy = view.policy
    return [
        pair
        for pair in pairs
        if min(standing(pair.one, policy), standing(pair.other, policy)) > 0
        and ruled[pair.ids] in ("independent", "open")
        and not (ruled[pair.ids] == "open" and pair.nearness >= policy.merge.duplicate)
    ]


def _other_values(view: View) -> Iterator[tuple[Record, Record, tuple[str, ...]]]:
    """Of each subject, what there is one of at a time and two notes tell differently: the latest against each other."""
    told: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, scope, subject, attributes in merge_store.with_attributes(view.connection, WHOLE_HOME):
        for name in merge_store.names(attributes):
            if one_at_a_time(name):
                told[scope, subject, name_of(name)].append(number)
    several = {key: numbers for key, numbers in told.items() if len(numbers) > 1}
    records = merge_store.records(view.connection, {number for numbers in several.values() for number in numbers})
    differing: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (_, _, name), numbers in sorted(several.items()):
        mine = [records[number] for number in numbers if number in records and records[number].category not in HAPPENS]
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
    return not within_value(said, told) and not within_value(told, said)


def _value(record: Record, name: str) -> str:
    return next(value for held, value in record.attributes.items() if name_of(held) == name)


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
    return {part.record for part in change.parts if isinstance(part, Edit) and part.values.get("status")}


def _answered(view: View) -> Iterator[Change]:
    """Open questions that nobody needs to answer any more, because one of the two is no longer remembered."""
    for question in merge_store.of_form(view.connection, WHOLE_HOME, "question", QUESTION):
        about = merge_store.made_of(view.connection, question.id)
        if question.status != "active" or not about or len(merge_store.records(view.connection, about)) == len(about):
            continue
        now = store.stamp(view.now)
        values = {"status": "expired", "valid_to": now, "updated": now}
        yield Change("expired", "one of the two is no longer remembered", (Edit(question.id, values),), question.id)


PASS = Pass(
    name="contradictions",
    phase="consolidate",
    about="settles what contradicts each other, or asks",
    plan=plan,
    questions=questions,
)
