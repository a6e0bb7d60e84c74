"""Extract facts without a model: what people tell of themselves, a note for each passage that can be understood alone.

A fact is words of its message in their order, so that one stored by the same turn's `<memory>` tag is recognised: runs
of white space become one blank, and lines become sentences.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.changes.same_statement import (
    EndedStatement,
    find_ended,
    has_word_of_change,
    is_added,
    is_plain_telling,
    list_parts,
)
from kenobot.language.colloquial import as_written, write_out
from kenobot.language.confidences import is_confided
from kenobot.language.facts.clause_rules import NAME_OR_FIGURE, names_somebody, read_clauses
from kenobot.language.facts.due_days import counts_from_another, day_due, deadlines, with_day
from kenobot.language.facts.lists import join_lists
from kenobot.language.facts.parse_facts import TIERS, ExtractedFact
from kenobot.language.facts.passages import Passage, ToldSentence, merge_facts, passages
from kenobot.language.facts.sentence_facts import LONGEST_SENTENCE, is_noted, read_facts, read_unread
from kenobot.language.facts.taking_back import keeps_nothing, takes_back
from kenobot.language.facts.written_marks import join_blanks, restore_fact, restore_marks
from kenobot.language.sentences import begins_with, split_sentences
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.statements.sentence_core import (
    MARKS,
    Core,
    asks,
    fold_text,
    is_statement,
    read_core,
    without_marks,
)
from kenobot.language.told_secrets import find_told_secret
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import CONFIDED, Relation

_OVER = ""  # in the place of one that an earlier message has ended
_KEPT = 8192  # sentences whose judgement is kept: of each line of its summary a chat asks anew in each round
_QUOTE = lazy.regex(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)
_FEW_WORDS = 7  # of a correction that names only what is right
_LISTED = lazy.regex(r"\s*(?:[-*•·]|\d+[.)])\s")
_GOES_ON = lazy.regex(rf"(?:{PHRASES['goes_on']})")
_ADDS = lazy.regex(rf"\W*(?:{PHRASES['adds']})")
_ADDS_NAMED = lazy.regex(rf"\W*(?:{PHRASES['adds_named']})")
_OF_SOMEBODY = lazy.regex(r"(?:he|she|his|her)\b")
_OF_ANYTHING = lazy.regex(r"sus?\b")
_OWN_THING = lazy.regex(r"\b(?:mis?|nuestr[oa]s?|tengo|tenemos|una?)\b")
_SENTENCE_ENDS = (".", "!", "?", "…")
_TURNS = lazy.regex(rf"\W*(?:{PHRASES['turns']})(?!\w)")
_POINTS_BACK = lazy.regex(r"\w+l[oa]s?\W*\Z|.*\b(?:that|it|eso)\b")


@dataclass(frozen=True, slots=True)
class Message:
    """Message of a person. said: their day. evidence: number of its turn. before: what they said right before it."""

    text: str
    said: date
    evidence: int = 1
    before: str = ""


def extract_facts(text: str, said: date, *, evidence: int = 1) -> list[ExtractedFact]:
    """Extract the facts that a person's own words state, each once. said: their day. evidence: turn number."""
    return read_messages([Message(text, said, evidence)], ())


def read_messages(messages: Iterable[Message], known: Sequence[str]) -> list[ExtractedFact]:
    """Extract the facts of messages, oldest first. known: what they may end, in the order in which it was said.

    A verdict on a statement of `known` names its place, from 1; a fact of the messages that a later one ends is left
    out.
    """
    facts: list[ExtractedFact] = []
    for sent in messages:
        text, before = (write_out(join_lists(join_blanks(said))) for said in (sent.text, sent.before))
        message = replace(sent, text=text, before=before)
        if takes_back(message.text) or keeps_nothing(message.text):
            continue
        earlier = facts
        for passage in passages(message.text, _sentences(message)):
            facts = _with_passage(facts, passage, message, known)
        if message.text != sent.text:
            facts = [each if each in earlier else _in_own_words(each, sent) for each in facts]
    return [replace(each, by_rules=True) for each in facts]


def _in_own_words(fact: ExtractedFact, said: Message) -> ExtractedFact:
    """Put the words of a fact back as its speaker wrote them."""
    return replace(fact, text=as_written(as_written(fact.text, said.text), said.before))


@lru_cache(_KEPT)
def may_end_something(text: str) -> bool:
    """Return whether a text says that something is no longer so, or begins to put something right."""
    text = write_out(text)
    if has_word_of_change(text):
        return True
    return any(read_core(sentence.strip()).corrects for sentence in split_sentences(text))


def needs_before(text: str) -> bool:
    """Return whether a text asks to remember what was said before it, keeps it quiet, or goes on about it."""
    if len(text) > LONGEST_SENTENCE:
        return False
    if counts_from_another(text):
        return True
    first, *others = (read_core(sentence.strip()) for sentence in split_sentences(write_out(text)))
    goes_on = _GOES_ON.match(fold_text(first.told)) is not None or _adds(split_sentences(text)[0])
    corrects = first.corrects and len(first.told.split()) <= _FEW_WORDS
    return goes_on or corrects or first.points_back or any(read.points_back for read in others)


# ── what a message tells ─────────────────────────────────────────────────────────────────────────────────────────────


def _sentences(message: Message) -> list[ToldSentence]:
    """Read a message sentence by sentence; none of one with quotations."""
    if _QUOTE.search(message.text):
        return []
    found: list[ToldSentence] = []
    confided = is_confided(message.text)
    parts = split_sentences(message.text)
    before, listed, start = message.before, False, 0
    for number, part in enumerate(parts):
        start = message.text.index(part, start)
        sentence, read = part.strip(), read_core(part.strip())
        place = (start, start + len(part.rstrip()))
        start += len(part)
        if takes_back(sentence):
            continue
        if number == 0 and len(parts) > 1 and read.points_back and _is_of_next(sentence, parts[1]):
            listed = True
            continue
        own = bool(found) and not found[-1].apart
        if read.points_back and before:
            asked = replace(read_core(before), asked=True)
            told = _tell(before, asked, message.said, confided=confided)
            if own and found[-1].told:
                found[-1] = replace(found[-1], facts=told)
                found.append(ToldSentence("", *place))
            else:
                found.append(ToldSentence(asked.told, *place, told, apart=True))
            continue
        alone = read
        if before and not own and not read.corrects:
            read = _join_before(sentence, read, before, message.said)
        read = replace(read, asked=read.asked or (listed and bool(read.told)))
        is_line = bool(_LISTED.match(part)) or (listed and "\n" in message.text)
        listed = read.asked and (sentence.endswith(":") or (listed and bool(sentence)))
        # What is not kept takes nothing with it that stands beside it.
        apart = is_line or asks(sentence, read) or find_told_secret(sentence) is not None
        told = _tell(sentence, read, message.said, confided=confided)
        earlier = f"{message.before}\n{message.text[: place[0]]}"
        if read.told != alone.told and not day_due(alone.told, message.said):
            facts = tuple(map(_without_day, told))
        else:
            facts = tuple(with_day(fact, message.said, earlier) for fact in told)
        is_new_line = "\n" in message.text[found[-1].end : place[0]] if found else False
        is_stated = any(fact.confidence > TIERS["implied"] for fact in facts)
        turns = bool(_TURNS.match(fold_text(sentence))) or (is_new_line and is_stated)
        found.append(ToldSentence(read.told, *place, facts, apart, turns))
        before = sentence or before
    return found


def _is_of_next(sentence: str, following: str) -> bool:
    """Return whether a wish to remember at the head of a message is about what stands below it, or behind it."""
    return sentence[-1:].isalnum() or (not _POINTS_BACK.match(fold_text(sentence)) and bool(read_core(following).told))


def _tell(sentence: str, read: Core, said: date, *, confided: bool) -> tuple[ExtractedFact, ...]:
    facts = (restore_fact(fact, sentence) for fact in read_facts(sentence, read, said, confided=confided))
    return tuple(replace(fact, tags=(CONFIDED,)) if confided else fact for fact in facts)


def _without_day(fact: ExtractedFact) -> ExtractedFact:
    """Return a fact that goes on about a plan, and names no day itself: it outlives that."""
    left = tuple(pair for pair in fact.attributes if pair[0] != "due")
    return replace(fact, attributes=left, category="fact" if fact.category == "commitment" else fact.category)


def _join_before(sentence: str, read: Core, before: str, said: date) -> Core:
    """Return a sentence behind the one before it, where it tells more of what that states or of whom it names."""
    told = read_core(before).told
    if _adds(sentence) and _tells(told, said) and not read_clauses(read.told, said).facts:
        read = replace(read, told=without_marks(sentence))
    elif not _goes_on(read, told, said):
        return read
    first = restore_marks(told, before.strip())
    mark = "" if first.endswith(_SENTENCE_ENDS) else "."
    return replace(read, told=f"{first}{mark} {read.told}", asked=True)


def _goes_on(core: Core, told: str, said: date) -> bool:
    """Return whether a sentence tells more of what the one before it states. told: that one."""
    plain = fold_text(core.told)
    if not _GOES_ON.match(plain) or not is_statement(core.told) or core.told.endswith("?") or not told:
        return False
    if len(told) + len(core.told) >= LONGEST_SENTENCE // 2 or not _may_be_of(plain, told):
        return False
    return _tells(told, said)


def _adds(sentence: str) -> bool:
    """Return whether a sentence has no verb of its own, and adds to what stands before it."""
    plain = fold_text(sentence)
    if sentence.rstrip().endswith("?"):
        return False
    if _ADDS.match(plain):
        return True
    named = _ADDS_NAMED.match(plain) is not None and NAME_OR_FIGURE.search(sentence, 1) is not None
    return named and not is_noted(sentence)


def _tells(told: str, said: date) -> bool:
    """Return whether a sentence states what is noted of it alone."""
    return bool(told) and (bool(read_clauses(told, said).facts) or is_noted(told))


def _may_be_of(plain: str, told: str) -> bool:
    """Return whether a folded sentence with a word for somebody may be about what the one before it names."""
    if _OF_SOMEBODY.match(plain):
        return names_somebody(told)
    return not _OF_ANYTHING.match(plain) or bool(_OWN_THING.search(fold_text(told))) or names_somebody(told)


# ── what it ends ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_passage(
    facts: list[ExtractedFact], passage: Passage, message: Message, known: Sequence[str]
) -> list[ExtractedFact]:
    """Add what a passage tells to the facts before it, without what it ends."""
    own: list[ExtractedFact] = []
    several = len(passage.sentences) > 1
    for fact in (fact for sentence in passage.sentences for fact in sentence.facts):
        before = facts
        facts, stands = _ending(before, replace(fact, evidence=(message.evidence,)), message, known)
        left = [each for each in own if any(each is one for one in facts)]
        several = several and len(left) == len(own)  # it puts right what it has told itself
        own = left
        if stands is not None:
            passage = replace(passage, text=passage.text.replace(fact.text, stands.text))
            own, facts = [*own, stands], [*facts, stands]
    facts = [each for each in facts if not any(each is one for one in own)]
    if several and own:
        own = [merge_facts(passage, own)]
    elif several and is_noted(passage.text):
        told = read_unread(Core(passage.text), message.said)
        own = [replace(fact, evidence=(message.evidence,)) for fact in told]
    for fact in own:
        dated = with_day(fact, message.said) if several else fact  # the others are dated in their sentences
        for each in (dated, *deadlines(dated, message.said)):
            facts = _with_fact(facts, each)
    return facts


def _with_fact(facts: list[ExtractedFact], fact: ExtractedFact) -> list[ExtractedFact]:
    """Add a fact to those before it: one that goes on about the last takes its place, one that is known is left out."""
    last = facts[-1] if facts else None
    planned = last is not None and "due" in dict(last.attributes) and "due" not in dict(fact.attributes)
    if last is not None and begins_with(fact.text, last.text) and not planned:
        return [*facts[:-1], replace(last, text=fact.text, attributes=last.attributes or fact.attributes)]
    if not fact.verdicts and any(fold(fact.text) == fold(each.text) for each in facts):
        return facts
    return [*facts, fact]


def _ending(
    facts: list[ExtractedFact], fact: ExtractedFact, message: Message, known: Sequence[str]
) -> tuple[list[ExtractedFact], ExtractedFact | None]:
    """Return the facts without the one that a new one ends, and the new one with its verdicts.

    None for one that is not worth a note by itself and ends nothing.
    """
    corrects = fact.category == "correction"
    ended = None
    if (corrects or has_word_of_change(fact.text)) and is_plain_telling(message.text):
        over = {number for each in facts for number, _ in each.verdicts}
        left = (_OVER if number in over else each for number, each in enumerate(known, 1))
        pool = [*left, *(each.text for each in facts)]
        adds = is_added(fact.text, message.text)
        ended = find_ended(fact.text, message.said, pool, corrects=corrects, adds=adds)
    if ended is None:
        return facts, fact if fact.confidence >= TIERS["implied"] else None
    fact = replace(fact, confidence=TIERS["explicit"])
    if ended.place < len(known):
        return facts, _against_all(fact, ended, known)
    place = ended.place - len(known)
    if ended.part:  # a passage of this very batch: both stand in it
        return facts, fact
    gone = facts[place]
    fact = replace(fact, tags=tuple(dict.fromkeys((*fact.tags, *gone.tags))), ended_parts=gone.ended_parts)
    return [*facts[:place], *facts[place + 1 :]], _against(fact, (number for number, _ in gone.verdicts))


def _against_all(fact: ExtractedFact, ended: EndedStatement, known: Sequence[str]) -> ExtractedFact:
    """Give a fact a verdict on the statement that it ends, and on each that says the same words among others."""
    same = fold(ended.part or known[ended.place]).strip(MARKS)
    for number, each in enumerate(known, 1):
        part = next((part for part in list_parts(each) if fold(part).strip(MARKS) == same), None)
        if part is not None:
            fact = _against(fact, [number], part if part != each else "")
    return fact


def _against(fact: ExtractedFact, numbers: Iterable[int], part: str = "") -> ExtractedFact:
    """Give a fact a verdict on memories by their numbers, or on one sentence of each."""
    against: list[tuple[int, Relation]] = [(number, "contradiction") for number in numbers]
    parts = [(number, part) for number, _ in against if part]
    return replace(
        fact,
        verdicts=tuple(dict.fromkeys([*fact.verdicts, *against])),
        ended_parts=tuple(dict.fromkeys([*fact.ended_parts, *parts])),
    )
