"""Have memory follow the edit of an older message: what its old words taught gives way to what the new ones say.

A memory of a sentence that stays is left alone. Of the others the new form is what the rules read in the changed
sentences; or the same memory, with the words in it that were changed; or the changed sentences themselves.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from difflib import SequenceMatcher
from typing import cast
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.due_day import find_first_day, list_kept
from kenobot.cognitive.remember.extract import known_memories
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.remember.fact_candidates import ExtractedBatch, admit_isolated, build_candidates
from kenobot.cognitive.remember.nearness import Nearness
from kenobot.cognitive.store import records
from kenobot.core import lazy
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.facts import heuristic
from kenobot.language.facts.heuristic import Message
from kenobot.language.facts.parse_facts import TIERS, Category, ExtractedFact
from kenobot.language.facts.rule_extraction import RuleFacts, extract_by_rules
from kenobot.language.facts.taking_back import keeps_nothing
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.sentence_core import question_in
from kenobot.language.words import fold, terms
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn, EditedWords
from kenobot.storage.connection import Connection

_WORD = lazy.regex(r"\w+")
# Of commands these two alone have words that are remembered.
_COMMAND = lazy.regex(r"\A/(?:remember\s|recuerda\s|.*\Z)", re.DOTALL)
_LONGEST = 1000  # characters of changed sentences
_STATED = TIERS["explicit"]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """The texts of the memories that an edit took away, and of those in their place."""

    gone: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()


def follow_edit(
    connection: Connection,
    edit: EditedWords,
    taught: Iterable[Record],
    take_back: Callable[[Record], bool],
    *,
    session: str,
    at: datetime,
    zone: ZoneInfo,
    nearness: Nearness | None,
) -> MemoryChange:
    """Replace what the changed sentences of a message taught. take_back: undoes a memory, where that can be."""
    former, current = (_split(text) for text in (edit.before, edit.after))
    staying = " ".join(current[each] for each in former if each in current)
    removed = " ".join(former[each] for each in former if each not in current)[:_LONGEST]
    added = [current[each] for each in current if each not in former]
    changed = [each for each in taught if _count_shared(each.text, staying) <= _count_shared(each.text, removed)]
    gone = tuple(each.text for each in changed if take_back(each))
    told = "\n".join(each for each in added if not question_in(each))[:_LONGEST]
    if edit.turn is None or not changed or not told or keeps_nothing(told):
        return MemoryChange(gone)
    turn = replace(edit.turn, text=told)
    day = at.astimezone(zone).date()
    said = turn.at.astimezone(zone).date()
    read = _read(connection, turn, find_first_day(removed, told, date.fromisoformat(changed[0].day), said))
    facts = read.facts or _reword(changed, removed, told, said) or _repeat(changed, told)
    batch = ExtractionBatch((turn,), read.ended if read.facts else (), day)
    candidates = build_candidates(ExtractedBatch(session, batch, facts, at, zone, DEFAULT))
    decisions = [admit_isolated(connection, made, replace(when, nearness=nearness)) for made, when in candidates]
    numbers = [each.record for each in decisions if each.record is not None and each.action != "refused"]
    found = records.by_ids(connection, numbers, (turn.scope,))
    return MemoryChange(gone, tuple(dict.fromkeys(found[number].text for number in numbers if number in found)))


def _split(text: str) -> dict[str, str]:
    """Return the sentences of a text by what makes them the same."""
    found = (sentence.strip() for sentence in split_sentences(_COMMAND.sub("", text)))
    return {fold(each).rstrip(" .!…"): each for each in found if each}


def _count_shared(text: str, other: str) -> int:
    return len(set(terms(text)) & set(terms(other)))


def _read(connection: Connection, turn: ConversationTurn, said: date) -> RuleFacts:
    known: Sequence[Record] = ()
    if heuristic.may_end_something(turn.text):
        known = known_memories.live_memories_of(connection, turn)
    return extract_by_rules([Message(turn.text, said)], known)


def _reword(changed: Sequence[Record], removed: str, told: str, said: date) -> tuple[ExtractedFact, ...]:
    """Return the memories with the words that were exchanged; none where words were added or left out.

    said: the day of the edit.
    """
    old, new = _WORD.findall(removed), _WORD.findall(told)
    matcher = SequenceMatcher(None, [fold(word) for word in old], [fold(word) for word in new], autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    if not steps or any(kind != "replace" for kind, *_ in steps):
        return ()
    exchanged = [(old[first:last], " ".join(new[begin:end])) for _, first, last, begin, end in steps]
    tags = tags_of_confidence([told])
    return tuple(
        ExtractedFact(
            text,
            cast("Category", record.category),
            record.subject,
            list_kept(record, text, said),
            tags,
            _STATED,
            evidence=(1,),
        )
        for record in changed
        if (text := _exchange(record.text, exchanged)) != record.text
    )


def _exchange(text: str, exchanged: Iterable[tuple[Sequence[str], str]]) -> str:
    for words, other in exchanged:
        found = r"\W+".join(re.escape(word) for word in words)
        pieces = re.split(rf"\b{found}\b", text, flags=re.IGNORECASE)
        text = other.join(pieces)
    return text


def _repeat(changed: Sequence[Record], told: str) -> tuple[ExtractedFact, ...]:
    """Return the new words as they are, where they are about the same as a memory that gave way."""
    if not any(_count_shared(record.text, told) for record in changed):
        return ()
    return (ExtractedFact(told, tags=tags_of_confidence([told]), confidence=_STATED, evidence=(1,), by_rules=True),)
