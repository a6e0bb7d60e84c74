"""Extract facts without a model: what people tell of themselves, a note for each passage that can be understood alone.

A fact is words of its message in their order, so that one stored by the same turn's `<memory>` tag is recognised: runs
of white space become one blank, and lines become sentences.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from kenobot.cognitive.remember.extract.change_sentence import PHRASES
from kenobot.cognitive.remember.extract.changes import Change, KnownStatement, may_change, takes_back
from kenobot.cognitive.remember.extract.clause_rules import read_clauses
from kenobot.cognitive.remember.extract.due_days import counts_from_another, day_due, deadlines, with_day
from kenobot.cognitive.remember.extract.known_parts import PartChange, find_part_change, told_parts
from kenobot.cognitive.remember.extract.parse_facts import TIERS, ExtractedFact
from kenobot.cognitive.remember.extract.passages import Passage, ToldSentence, merged, passages
from kenobot.cognitive.remember.extract.put_right import names_what_was_meant, with_value_put_right
from kenobot.cognitive.remember.extract.sentence_core import MARKS, Core, folded, is_statement, read_core
from kenobot.cognitive.remember.extract.sentence_facts import LONGEST_SENTENCE, asks, is_noted, read_facts, read_unread
from kenobot.cognitive.remember.extract.states import about_subject, subject_of
from kenobot.cognitive.store.records import CONFIDED
from kenobot.cognitive.text.colloquial import written_out
from kenobot.cognitive.text.confidences import is_confided
from kenobot.cognitive.text.sentences import single_blanks, split_sentences, without_sentence
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy
from kenobot.ports.memory import Relation

_OVER = KnownStatement("")  # in the place of one that an earlier message has ended
_KEPT = 8192  # sentences whose judgement is kept: of each line of its summary a chat asks anew in each round
_QUOTE = lazy.regex(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)
_JUST_TOLD = 3  # statements among which the one right before a correction is
_FEW_WORDS = 7  # of a correction that names only what is right
_LISTED = lazy.regex(r"\s*(?:[-*•·]|\d+[.)])\s")
_NAMES = lazy.regex(
    r"(?:(?:he|she|they)(?:'s| is|'re| are) called|(?:his|her|their) names?(?:'s| is| are)|se llaman?) "
)
_GOES_ON = lazy.regex(rf"(?:{PHRASES['goes_on']})")
_TURNS = lazy.regex(rf"\W*(?:{PHRASES['turns']})(?!\w)")
_POINTS_BACK = lazy.regex(r"\w+l[oa]s?\W*\Z|.*\b(?:that|it|eso)\b")


@dataclass(frozen=True, slots=True)
class Message:
    """What a person said. said: their day. evidence: number of its turn. before: what they said right before it."""

    text: str
    said: date
    evidence: int = 1
    before: str = ""


def extract_facts(text: str, said: date, *, evidence: int = 1) -> list[ExtractedFact]:
    """Extract the facts that a person's own words state, each once. said: their day. evidence: turn number."""
    return read_messages([Message(text, said, evidence)], ())


def read_messages(messages: Iterable[Message], known: Sequence[KnownStatement]) -> list[ExtractedFact]:
    """Extract the facts of messages, oldest first. known: what they may end, in the order in which it was said.

    A verdict on a statement of `known` names its place, from 1; a fact of the messages that a later one ends is left
    out.
    """
    facts: list[ExtractedFact] = []
    for sent in messages:
        text, before = (written_out(single_blanks(said)) for said in (sent.text, sent.before))
        message = replace(sent, text=text, before=before)
        if takes_back(message.text):
            facts = _without_taken_back(facts, message, known)
            continue
        for passage in passages(message.text, _sentences(message)):
            facts = _with_passage(facts, passage, message, known)
    return facts


def _without_taken_back(
    facts: list[ExtractedFact], message: Message, known: Sequence[KnownStatement]
) -> list[ExtractedFact]:
    """End what the message before one told that takes it back."""
    taken = {fold(fact.text) for fact in extract_facts(message.before, message.said)}
    left = [fact for fact in facts if fold(fact.text) not in taken]
    newest = {fold(statement.text): place for place, statement in enumerate(known, 1)}
    ended = [newest[text] for text in sorted(taken & newest.keys())]
    if not ended:
        return left
    back = ExtractedFact(message.text.strip(), "correction", confidence=TIERS["explicit"], expires=message.said)
    return [*left, _against(replace(back, evidence=(message.evidence,)), ended)]


@lru_cache(_KEPT)
def may_end_something(text: str) -> bool:
    """Return whether a text says that something is no longer so, or begins to put something right."""
    text = written_out(text)
    if may_change(text) or takes_back(text):
        return True
    return any(read_core(sentence.strip()).corrects for sentence in split_sentences(text))


def needs_before(text: str) -> bool:
    """Return whether a text asks to remember what was said before it, keeps it quiet, takes it back, or goes on."""
    if takes_back(text):
        return True
    if len(text) > LONGEST_SENTENCE:
        return False
    if counts_from_another(text):
        return True
    first, *others = (read_core(sentence.strip()) for sentence in split_sentences(written_out(text)))
    goes_on = _GOES_ON.match(folded(first.told)) is not None
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
        if number == 0 and len(parts) > 1 and read.points_back and _is_of_next(sentence, parts[1]):
            listed = True
            continue
        own = bool(found) and not found[-1].apart
        if read.points_back and before:
            asked = replace(read_core(before), asked=True)
            told = _told(before, asked, message.said, confided=confided)
            if own and found[-1].told:
                found[-1] = replace(found[-1], facts=told)
                found.append(ToldSentence("", *place))
            else:
                found.append(ToldSentence(asked.told, *place, told, apart=True))
            continue
        if before and not own and not read.corrects:
            read = _with_before(read, before, message.said)
        read = replace(read, asked=read.asked or (listed and bool(read.told)))
        is_line = bool(_LISTED.match(part)) or (listed and "\n" in message.text)
        listed = read.asked and (sentence.endswith(":") or (listed and bool(sentence)))
        apart = is_line or asks(sentence, read)
        told = _told(sentence, read, message.said, confided=confided)
        earlier = f"{message.before}\n{message.text[: place[0]]}"
        facts = tuple(with_day(fact, message.said, earlier) for fact in told)
        is_new_line = "\n" in message.text[found[-1].end : place[0]] if found else False
        is_stated = any(fact.confidence > TIERS["implied"] for fact in facts)
        turns = bool(_TURNS.match(folded(sentence))) or (is_new_line and is_stated)
        found.append(ToldSentence(read.told, *place, facts, apart, turns))
        before = sentence or before
    return found


def _is_of_next(sentence: str, following: str) -> bool:
    """Return whether a wish to remember at the head of a message is about what stands below it, or behind it."""
    return sentence[-1:].isalnum() or (not _POINTS_BACK.match(folded(sentence)) and bool(read_core(following).told))


def _told(sentence: str, read: Core, said: date, *, confided: bool) -> tuple[ExtractedFact, ...]:
    facts = read_facts(sentence, read, said, confided=confided)
    return tuple(replace(fact, tags=(CONFIDED,)) if confided else fact for fact in facts)


def _with_before(read: Core, before: str, said: date) -> Core:
    """A sentence with the one before it, where it tells more of what that states or of whom it names."""
    told = read_core(before).told
    if _goes_on(read, before, said):
        return replace(read, told=f"{before.rstrip(MARKS)}. {read.told}", asked=True)
    if (
        _NAMES.match(folded(read.told))
        and (subject := subject_of(told))
        and (named := about_subject(subject, read.told))
    ):
        return replace(read, told=named, asked=True)
    return read


def _goes_on(core: Core, before: str, said: date) -> bool:
    """Return whether a sentence tells more of what the one before it states."""
    if not _GOES_ON.match(folded(core.told)) or not is_statement(core.told) or core.told.endswith("?"):
        return False
    told = read_core(before).told
    return len(told) + len(core.told) < LONGEST_SENTENCE // 2 and bool(told) and bool(read_clauses(told, said).facts)


# ── what it ends ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_passage(
    facts: list[ExtractedFact], passage: Passage, message: Message, known: Sequence[KnownStatement]
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
        own = [merged(passage, own)]
    elif several and is_noted(passage.text):
        told = read_unread(Core(passage.text), message.said)
        own = [replace(fact, evidence=(message.evidence,)) for fact in told]
    for fact in own:
        dated = with_day(fact, message.said)
        for each in (dated, *deadlines(dated, message.said)):
            facts = _with_fact(facts, each)
    return facts


def _with_fact(facts: list[ExtractedFact], fact: ExtractedFact) -> list[ExtractedFact]:
    """Add a fact to those before it: one that goes on about the last takes its place, one that is known is left out."""
    if facts and fold(fact.text).startswith(f"{fold(facts[-1].text)}. "):
        last = facts[-1]
        return [*facts[:-1], replace(last, text=fact.text, attributes=last.attributes or fact.attributes)]
    if not fact.verdicts and any(fold(fact.text) == fold(each.text) for each in facts):
        return facts
    return [*facts, fact]


def _ending(
    facts: list[ExtractedFact], fact: ExtractedFact, message: Message, known: Sequence[KnownStatement]
) -> tuple[list[ExtractedFact], ExtractedFact | None]:
    """Return the facts without what a new one ends, and the new one as it stands then.

    None for one that would only be worth anything if it ended something.
    """
    corrects, said = fact.category == "correction", message.said
    found = None
    if corrects or may_change(fact.text):
        over = {number for each in facts for number, _ in each.verdicts}
        left = (_OVER if number in over else each for number, each in enumerate(known, 1))
        pool = [*left, *(KnownStatement(each.text, dict(each.attributes).get("due", "")) for each in facts)]
        found = find_part_change(fact.text, said, pool, corrects=corrects)
        found = found or (_put_right(fact.text, message, pool) if corrects else None)
    if found is None:
        return facts, fact if fact.confidence >= TIERS["implied"] else None
    change = found.change
    if change.is_part:  # admission takes from the memory only what is named
        fact = replace(fact, confidence=TIERS["explicit"])
        return facts, _against(fact, [change.place + 1], found.part) if change.place < len(known) else fact
    if due := change.due or (change.text != fact.text and _day_ahead(change.text, said)):
        fact = replace(fact, attributes=tuple({**dict(fact.attributes), "due": due}.items()))
    fact = replace(fact, text=change.text, category="correction" if not fact.attributes else fact.category)
    fact = replace(fact, confidence=TIERS["explicit"])
    if change.place < len(known):
        return facts, _against_all(fact, found, known)
    return _without_ended(facts, change.place - len(known), found.part, fact, known)


def _put_right(told: str, message: Message, pool: Sequence[KnownStatement]) -> PartChange | None:
    """What words put right of the statement right before them, in this message or the one before it."""
    opening = message.text.partition(told)[0]
    before, bare = fold(f"{message.before}\n{opening}"), names_what_was_meant(split_sentences(f"{opening}…")[-1])
    for place in range(len(pool) - 1, max(-1, len(pool) - 1 - _JUST_TOLD), -1):
        text = pool[place].text
        for part in reversed(told_parts(text)):
            if fold(part) in before and (instead := with_value_put_right(part, told, bare=bare)):
                return PartChange(Change(place, text.replace(part, instead)))
    return None


def _without_ended(
    facts: list[ExtractedFact], gone: int, part: str, fact: ExtractedFact, known: Sequence[KnownStatement]
) -> tuple[list[ExtractedFact], ExtractedFact]:
    """The facts without the one that a new one ends, or without a sentence of it, and the new one."""
    ended = facts[gone]
    fact = replace(fact, tags=tuple(dict.fromkeys((*fact.tags, *ended.tags))))
    if part:
        left = without_sentence(ended.text, part)
        return [*facts[:gone], *([replace(ended, text=left)] if left else []), *facts[gone + 1 :]], fact
    # What it ends may go on about a statement that memory has.
    begun = (number for number, each in enumerate(known, 1) if fold(ended.text).startswith(fold(each.text)))
    fact = _against(fact, [*begun, *(number for number, _ in ended.verdicts)])
    return [*facts[:gone], *facts[gone + 1 :]], replace(fact, ended_parts=ended.ended_parts)


def _against_all(fact: ExtractedFact, found: PartChange, known: Sequence[KnownStatement]) -> ExtractedFact:
    """A fact with a verdict on what it ends, and on all that tells the same among other things."""
    ended = fold(found.part or known[found.change.place].text)
    for number, each in enumerate(known, 1):
        if number == found.change.place + 1:
            fact = _against(fact, [number], found.part)
            continue
        parts = told_parts(each.text)
        same = next((part for part in parts if fold(part) == ended), None)
        if same is not None and (len(parts) > 1 or found.part):
            fact = _against(fact, [number], same if len(parts) > 1 else "")
    return fact


def _against(fact: ExtractedFact, numbers: Iterable[int], part: str = "") -> ExtractedFact:
    """A fact with a verdict on memories by their numbers, or on one sentence of each."""
    against: list[tuple[int, Relation]] = [(number, "contradiction") for number in numbers]
    parts = [(number, part) for number, _ in against if part]
    return replace(
        fact,
        verdicts=tuple(dict.fromkeys([*fact.verdicts, *against])),
        ended_parts=tuple(dict.fromkeys([*fact.ended_parts, *parts])),
    )


def _day_ahead(text: str, said: date) -> str:
    return dict(day_due(text, said, first=1)).get("due", "")
