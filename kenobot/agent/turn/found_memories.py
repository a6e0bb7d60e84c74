"""Choose which memories that a search found are quoted to a person without a language model, and in which order.

Recall finds what comes near a question, and its judge estimates of each memory how likely it answers. All that probably
do are quoted, the newest first: where two disagree, both were told, and nobody here can tell which of them holds.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kenobot.cognitive.memory import DEFAULT, Memory, MemoryQuery, MemoryReader, Promises, RecalledMemory, SearchReport
from kenobot.language.changes.change_signs import read_signs
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.question.asked_attributes import (
    ASKED_ATTRIBUTES,
    find_attribute,
    find_attribute_of_another,
    has_telling,
    tells_attribute,
)
from kenobot.language.question.asked_past import asks_past, without_past_words
from kenobot.language.question.asked_things import list_untold
from kenobot.language.question.relations import find_relationships
from kenobot.language.statements.attribute_statements import attribute_name, read_attribute
from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import ConfidenceLevel
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection

_ALSO_TELLS = {"profession": ("employer",)}  # what somebody does, and for whom: either answers the first
_MOST_FOUND = 8
_LATEST = 500  # records of the speaker that are read for an attribute
_FIRST = 3  # of those found, which leave room for what may have taken their place
_NOISE_BELOW = 0.5  # of the best one's relevance
_POLICY = DEFAULT.recall
_NEARLY = 0.8  # of the best one's probability
_NEAR_FROM = _POLICY.low_up_to  # relevance by meaning alone
_TELLS_FROM = 0.75  # similarity of a word from which a memory speaks of that thing in other words


def find_memories(connection: Connection, memory: Memory, query: MemoryQuery) -> SearchReport:
    """Find what is about a message: of a question what probably answers it, or else what comes near."""
    report = memory.recall(connection, query)
    asked = _find_asked(connection, query, report)
    likely = MemoryReader(memory.index).judge(query, report.memories) if query.question.asks else None
    if likely is None:
        found = _choose_by_words(memory, report, query, asked)
    else:
        found = _choose_by_judge(memory, report, query, asked, likely)
    if not query.question.asks or found.level == "none":
        return found
    rivals = [
        MemoryReader.as_recalled(rival, query.zone)
        for each in found.memories
        for rival in Memory.history.list_rivals(connection, each.record.id, query.scopes)
    ]
    shown = {each.record.id: each for each in (*found.memories[:_FIRST], *rivals, *found.memories[_FIRST:])}
    chosen = sort_newest_first([*shown.values()][:_MOST_FOUND])
    former = MemoryReader.find_former(connection, chosen, query)
    return replace(found, shown=tuple(chosen), former=former)


def _choose_by_judge(
    memory: Memory, report: SearchReport, query: MemoryQuery, asked: "_Asked", likely: Mapping[int, float]
) -> SearchReport:
    """Choose what probably answers a question. likely: how probably each memory does, by its record."""
    told = [MemoryReader.as_recalled(record, query.zone) for record in asked.records]
    known = {each.record.id for each in told}
    able = [each for each in report.memories if each.record.id not in known and asked.may_be_told_by(each.record)]
    best = max([*told, *able], key=lambda each: likely.get(each.record.id, 0.0), default=None)
    most = likely.get(best.record.id, 0.0) if best is not None else 0.0
    whole = {each.record.id for each in able if likely.get(each.record.id) and _has_all_words(each, report)}
    if told:  # which only what is newer may have changed
        last = max(map(_get_time, told))
        able = [each for each in able if _get_time(each) > last]
    beside = [each for each in able if best is not None and _answers_beside(each, best, likely)]
    shown = [*told, *(each for each in able if each in beside or each.record.id in whole)]
    judged = {each.record.id for each in shown}
    guessed = [MemoryReader.as_recalled(record, query.zone) for record in asked.guessed if record.id not in judged]
    if told or whole or (shown and most >= _POLICY.medium_below):
        is_unsure = not told and (_are_merely_nearest(shown, asked) or _are_of_other_things(memory, query.text, shown))
        return replace(report, level="low" if is_unsure else "high", shown=(*guessed, *shown))
    if guessed or shown:
        return replace(report, level="medium" if guessed else "low", shown=(*guessed, *shown))
    if query.question.asks_for_work:  # which nothing that was told answers
        return _choose_by_words(memory, report, query, asked)
    near = tuple(each for each in _list_about(report) if each in able)
    return replace(report, level="none", shown=near[:_MOST_FOUND])


def _are_merely_nearest(shown: Sequence[RecalledMemory], asked: "_Asked") -> bool:
    """Return whether all are hardly more than the nearest there are, or tell of others what is asked of the speaker."""
    return all(each.relevance < _POLICY.min_relevance or asked.is_told_of_others_by([each]) for each in shown)


def _has_all_words(memory: RecalledMemory, report: SearchReport) -> bool:
    """Return whether a memory has all that a question names, as each about Moira for "what do you know of Moira?"."""
    return bool(report.query_terms) and frozenset(report.query_terms) <= frozenset(memory.matched)


def _answers_beside(memory: RecalledMemory, best: RecalledMemory, likely: Mapping[int, float]) -> bool:
    """Return whether a memory probably answers as well as the best, or is newer and may have changed that."""
    share, most = likely.get(memory.record.id, 0.0), likely.get(best.record.id, 0.0)
    if share < _POLICY.none_below or (share < _POLICY.medium_below and memory.ways == ("nearest",)):
        return False
    is_news = share >= _POLICY.medium_below or memory.relevance >= _NEAR_FROM
    return share >= _NEARLY * most or (is_news and _get_time(memory) > _get_time(best))


def sort_newest_first(memories: Iterable[RecalledMemory]) -> list[RecalledMemory]:
    """Sort memories by when they were told, the newest first."""
    return sorted(memories, key=_get_time, reverse=True)


def _get_time(memory: RecalledMemory) -> tuple[str, int]:
    return memory.record.valid_from or memory.record.created, memory.record.id


def find_of_no_day(connection: Connection, memory: Memory, query: MemoryQuery) -> SearchReport:
    """Find what is about a question for plans, and due on no day: the days asked for have nothing."""
    report = memory.recall(connection, query)
    about = (each for each in _list_about(report) if each.matched and Promises.due_on(each.record) is None)
    return replace(report, shown=tuple(sort_newest_first(about)[:_MOST_FOUND]))


# ── by words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _choose_by_words(memory: Memory, report: SearchReport, query: MemoryQuery, asked: "_Asked") -> SearchReport:
    """Choose what has words of a message, where nothing is judged one by one."""
    first = {record.id for record in (*asked.records, *asked.guessed)}
    about = [each for each in _list_about(report) if each.record.id not in first]
    shown = [MemoryReader.as_recalled(record, query.zone) for record in (*asked.records, *asked.guessed)]
    if asked.of_another:
        about = [each for each in about if not _tells(each.record, OWNER_SUBJECT, asked.attribute)]
    told_of = {record.subject for record in asked.records} - {OWNER_SUBJECT}
    rest = [each for each in about if not asked.records or each.record.subject in told_of]
    shown = [*shown, *rest][:_MOST_FOUND]
    level: ConfidenceLevel = "high" if asked.records else report.level
    if asked.guessed:
        level = report.level if report.level == "high" else "medium"
    elif shown and not asked.records and level != "none":
        is_unsure = asked.is_told_of_others_by(shown) or _are_of_other_things(memory, query.text, shown)
        level = "low" if is_unsure else level
    return replace(report, level=level, shown=tuple(shown))


def _list_about(report: SearchReport) -> list[RecalledMemory]:
    """List the memories that are about the message, rather than merely the nearest, or linked to one that is."""
    best = max((each.relevance for each in report.memories), default=0.0)
    return [each for each in report.memories if _is_about(each, report, best)]


def _is_about(memory: RecalledMemory, report: SearchReport, best: float) -> bool:
    if memory.relevance < best * _NOISE_BELOW:
        return False
    if memory.matched or "subject" in memory.ways:
        return True
    return "meaning" in memory.ways and report.near not in ("none", "low") and memory.relevance >= _NEAR_FROM


def _are_of_other_things(memory: Memory, question: str, shown: Sequence[RecalledMemory]) -> bool:
    """Return whether each memory has words of the question, and none tells of all things that it asks about.

    No model reads them here, who would see that the boiler's code is not the garage's.
    """
    question = without_past_words(question) if asks_past(question) else question
    untold = {each.record.id: list_untold(question, each.record.text) for each in shown}
    if not all(untold.values()):
        return False
    vectors = memory.index.vectors if memory.index is not None else None
    near = {
        thing: vectors.similarities("record", thing, None, 0, also=untold) if vectors is not None else {}
        for thing in {thing for things in untold.values() for thing in things}
    }
    return all(any(near[thing].get(number, 0.0) < _TELLS_FROM for thing in things) for number, things in untold.items())


# ── the attribute asked for ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Asked:
    """The attribute that a question asks for, "" for none, and the records that hold it, the newest first.

    guessed: where none does, those that perhaps tell it in other words: they come first, and hide nothing else.
    """

    attribute: str
    of_another: bool
    records: Sequence[Record]
    guessed: Sequence[Record] = ()

    def is_told_of_others_by(self, memories: Sequence[RecalledMemory]) -> bool:
        """Return whether memories tell of somebody else, each of them, what is asked of the speaker."""
        is_own = bool(self.attribute) and not self.of_another
        return is_own and all(bool(read_signs(each.text).head_people) for each in memories)

    def may_be_told_by(self, record: Record) -> bool:
        """Return whether a record may tell it: not one of somebody else, nor one that gives another attribute alone."""
        if not self.attribute:
            return True
        if not self.of_another and record.subject not in ("", OWNER_SUBJECT):
            return False
        if self.of_another and _tells(record, OWNER_SUBJECT, self.attribute):
            return False
        given = read_attribute(record.text)
        if given is None or given.attribute not in ASKED_ATTRIBUTES:
            return True
        names = (self.attribute, *_ALSO_TELLS.get(self.attribute, ()))
        return given.attribute in names and bool(given.subject) == self.of_another


def _find_asked(connection: Connection, query: MemoryQuery, report: SearchReport) -> _Asked:
    """Find the attribute that a question asks for."""
    own = find_attribute(query.text)
    others = "" if own else find_attribute_of_another(query.text)
    subjects = (OWNER_SUBJECT,) if own else _find_subjects(query.text, report) if others else ()
    found = _records_with_attribute(connection, query, subjects, own or others)
    return _Asked(own or others, bool(others), found, () if found else _list_telling(connection, query, own))


def _list_telling(connection: Connection, query: MemoryQuery, attribute: str) -> list[Record]:
    """List the latest records that tell an attribute of the speaker in other words, the newest first."""
    if not has_telling(attribute):
        return []
    latest = (
        record
        for scope in query.scopes
        for record in Memory.records.list_newest_about(connection, scope, OWNER_SUBJECT, _LATEST)
    )
    found = [record for record in latest if tells_attribute(attribute, record.text)]
    return sorted(found, key=lambda record: (record.valid_from, record.id), reverse=True)[:_MOST_FOUND]


def _find_subjects(question: str, report: SearchReport) -> tuple[str, ...]:
    """Find whom a question names, also as a relation: "my sister" is the subject until her name is known."""
    kin = (attribute_name("relation", word) for each in find_relationships(question) for word in each.words)
    return tuple(subject for subject in dict.fromkeys((*report.subjects, *kin)) if subject != OWNER_SUBJECT)


def _records_with_attribute(
    connection: Connection, query: MemoryQuery, subjects: Sequence[str], attribute: str
) -> list[Record]:
    """List the live records that hold this attribute of one of the subjects, or what tells it as well, newest first."""
    found = {
        record.id: record
        for scope in query.scopes
        for subject in subjects
        for name in (attribute, *_ALSO_TELLS.get(attribute, ()))
        for record in Memory.records.list_with_attribute(connection, scope, subject, name)
    }
    return sorted(found.values(), key=lambda record: (record.valid_from, record.id), reverse=True)


def _tells(record: Record, subject: str, attribute: str) -> bool:
    return record.subject == subject and attribute in json.loads(record.attributes)
