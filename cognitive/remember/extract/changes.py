"""Find which memory a person's words end or put right, where they say that something is no longer so.

A sentence is read for how it changes something: it ends a thing ("no longer", "is cancelled"), has another value for
one ("it's Friday now"), denies a value ("not 850"), tells that a task is done or an event that ends a state, or a sum
by which a count changes. The memory meant is the one that has what the sentence names, of the fitting kind. Where no
memory is surely meant, nothing ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from kenobot.cognitive.remember.attribute_statements import read_attribute
from kenobot.cognitive.remember.extract.change_sentence import (
    EMPTY,
    FEW,
    NAME,
    NAMED_FIRST,
    NUMBERS,
    OF_PERSON,
    PHRASES,
    SUBJECT,
    UNDECIDED,
    ChangeSentence,
    Word,
    belongings,
    content_words,
    modifiers,
    read_sentence,
    stems_of,
    tells_change,
    without_quotations,
    word_of,
)
from kenobot.cognitive.remember.extract.counts import changed_count, may_change_count
from kenobot.cognitive.remember.extract.spared import OF_SOMEBODY, SPARES, acts_on_another, is_elsewhere, is_mere_noun
from kenobot.cognitive.remember.extract.states import ended_state, is_event
from kenobot.cognitive.text.completions import completed_commitment, completes, is_open_task, names_part
from kenobot.cognitive.text.dates import WEEKDAYS, valid_day
from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS
from kenobot.cognitive.text.named_days import day_counted, days_named, time_named
from kenobot.cognitive.text.words import fold, words
from kenobot.core import lazy

_IS_NAMED = lazy.regex(
    r"(?:\b(?:is|are|es|son|se llaman?|called|named)|'s) (?:(?:\w+[.]?|el|la) ){0,2}?"
    r"[A-ZÁÉÍÓÚÑ][\w.-]+(?: [A-ZÁÉÍÓÚÑ][\w.-]+)*\W*\Z"
)
_OF_OTHERS = lazy.regex(
    r"(?:my |our |the )?(?:(?P<other>[^\W\d_]\w*)'s(?= [^\W\d_]\w+ (?:is|are|was|were|has|have|got|came)\b)"
    r"|(?P<person>[^\W\d_]\w*) (?:has |have )?\w+ (?:\w+ of )?(?:his|her|their)\b)"
)
_WHOSE = lazy.regex(r"\b(?i:my|our|his|her|their|mis?|nuestr[oa]s?|sus?)\b|[A-ZÁÉÍÓÚÑ][\w-]+['’]s\b|\bdel? [A-ZÁÉÍÓÚÑ]")
_NO_WAIT = lazy.regex(r"(?i:(?:no,? )(?:wait|espera|perdon|perdón|sorry)[,.]? )(?=\S)")
_SEVERAL = lazy.regex(r"[A-ZÁÉÍÓÚÑ][\w-]+,? (?:y|e|and|&) [A-ZÁÉÍÓÚÑ]")
_HABIT = lazy.regex(rf"(?<!\w)(?:{PHRASES['habit']})(?!\w)")
_ONCE = lazy.regex(rf"(?<!\w)(?:{PHRASES['once']})(?!\w)")
_FIGURE = lazy.regex(r"(?<![\w.,:])[£$€]?(\d+(?:[.,:]\d+)*)(?: ([^\W\d_]+))?")
_DAY_BEFORE = lazy.regex(r"\A(?:al|to|on|until|hasta) ")
_DAY_BEHIND = lazy.regex(r"\A (?:que viene|próxim[oa]|at all)\b")
_TIME = lazy.regex(
    r"(?<![\w.,:])(?:(?:a las?|at) (?P<at>\d{1,2}(?:[:.]\d\d)?)(?: ?[ap]m)?"
    r"|\d{1,2}(?::\d\d(?: ?[ap]m)?| ?[ap]m|h))(?!\w)"
    r"(?P<part> (?:de|por) la (?:mañana|tarde|noche)| in the (?:morning|afternoon|evening))?"
)
_BARE_DAY = lazy.regex(r"(?:(?:al|el|to|on|until|hasta|the|dia) )*(?P<day>\d{1,2})(?:st|nd|rd|th)?")
_OF_MONTH = lazy.regex(r"(?<!\w)(?P<day>\d{1,2})(?P<ending>st|nd|rd|th|)(?= (?:de |of )?[^\W\d_]{3,})")
_UNITS = frozenset(PHRASES["units"].split("|")) | {""}
_KEPT = 2048  # texts whose judgement is kept: each is asked about as a message, as a sentence and as a fact
_SURE = 1.0  # weight of shared words from which a memory may be meant
_DENIAL = 3.0  # weight of a value that the words deny and the memory has
_COVERED = 0.5  # share of what a sentence names that the memory it means has, at least
_ALIKE = 0.12  # the same, times the share of what the memory names that the sentence has
_MOST = 9  # content words of what tells of a change: who names more tells of several things
_LONG = 3  # characters of a value that tells by itself which statement has it
_RECENT = 3  # memories in which such a correction finds its value


@dataclass(frozen=True, slots=True)
class KnownStatement:
    """A statement that words may end. due: the day it is due, YYYY-MM-DD, "" for none. task: kept as one to do."""

    text: str
    due: str = ""
    task: bool = False

    @property
    def is_open_task(self) -> bool:
        """Return whether it waits to be done."""
        return self.task or bool(self.due) or is_open_task(self.text)


@dataclass(frozen=True, slots=True)
class Change:
    """The statement that words end, by its place, and what they say instead, as a text that stands alone.

    due: the day (ISO date) that it has instead, where it has one of the month of what ends; "" for none. is_part: it
    is one of several things that the statement tells, which stands for the sake of the others. in_place: the text is
    what the statement should have said.
    """

    place: int
    text: str
    due: str = ""
    is_part: bool = False
    in_place: bool = False


@lru_cache(_KEPT)
def may_change(text: str) -> bool:
    """Return whether a text may end something that was said before it."""
    own = without_quotations(text)
    return tells_change(fold(own)) or completes(own) or may_change_count(own) or is_event(own)


def find_change(sentence: str, said: date, known: Sequence[KnownStatement], *, corrects: bool = False) -> Change | None:
    """Find the one statement of `known`, oldest first, that a sentence ends; None where none is surely meant.

    corrects: it was introduced as putting something right.
    """
    sentence = without_quotations(sentence)
    if opening := _NO_WAIT.match(sentence):
        sentence, corrects = sentence[opening.end() :], True
    plain = fold(sentence)
    if not known or UNDECIDED.search(plain) or SPARES.search(plain):
        return None
    found = _find_change(sentence, plain, said, known, corrects=corrects)
    if found is None:
        return None
    meant = known[found.place].text
    spared = (
        _leaves_plan(sentence, known[found.place])
        or acts_on_another(plain, meant)
        or is_elsewhere(sentence, meant)
        or is_mere_noun(sentence, meant)
    )
    return None if spared else found


def _leaves_plan(sentence: str, statement: KnownStatement) -> bool:
    """Return whether a sentence tells where somebody lives now, and a statement tells what is when."""
    told, plain = read_attribute(sentence), fold(statement.text)
    is_plan = bool(statement.due or _weekdays(plain) or time_named(plain))
    return is_plan and told is not None and told.attribute == "residence"


def _find_change(
    sentence: str, plain: str, said: date, known: Sequence[KnownStatement], *, corrects: bool
) -> Change | None:
    """Find the statement that a sentence ends which speaks of no other thing by its form."""
    texts = [statement.text for statement in known]
    if (count := changed_count(sentence, texts)) is not None:
        return Change(count.place, count.text)
    if (ended := ended_state(sentence, texts)) is not None:
        return Change(ended, sentence)
    if (corrects or tells_change(plain)) and not OF_SOMEBODY.match(plain):
        told = read_sentence(sentence, said, corrects=corrects)
        place = _meant(told, said, known) if len(told.content) <= _MOST else None
        if place is not None:
            return _change(place, sentence, told, said, known[place])
    if completes(sentence):
        open_tasks = [at for at, statement in enumerate(known) if statement.is_open_task]
        done = completed_commitment(sentence, [known[at].text for at in open_tasks])
        place = None if done is None else open_tasks[done]
        closely = belongings(sentence)
        if place is not None and not _is_of_another_kind(closely, content_words(sentence), known[place].text):
            return Change(place, sentence, is_part=names_part(sentence, known[place].text))
    return None


def _change(place: int, sentence: str, told: ChangeSentence, said: date, old: KnownStatement) -> Change:
    """The change of a statement that is meant, in the statement's own words where the sentence has fewer."""
    of_day = bool(told.denied) and told.denied <= WEEKDAYS.keys()  # "not on Wednesday, on Thursday"
    telling = told.content if of_day else content_words(sentence)
    named = [word for word in telling if not any(stem.startswith("=") for stem in word)]
    shorter = of_day or len(words(sentence)) < len(words(old.text))
    less = bool(named) and {*named} <= {*content_words(old.text)} and shorter
    due = _by_day_of(told, sentence, old.due, said)
    if less and told.days and (of_day or not told.denied) and (moved := _moved(sentence, old.text, told, said)):
        return Change(place, moved, due)
    text = _instead(sentence, old.text, told, said) if told.is_bare else sentence
    in_place = told.corrects and not told.ends
    return Change(place, text, due, text == sentence and names_part(sentence, old.text), in_place)


def _by_day_of(told: ChangeSentence, sentence: str, due: str, said: date) -> str:
    """The one day that a sentence names without its month, in the month of the day that it changes, or counts from it.

    "" for none.
    """
    if not due:
        return ""
    was = date.fromisoformat(due)
    named = [each for each in days_named(told.plain, said) if each.day.isoformat() in told.days]
    if not told.days and (counted := day_counted(told.plain, was)) is not None:
        return counted.day.isoformat() if counted.day >= said and counted.day != was else ""
    if len(named) != 1 or not (bare := _BARE_DAY.fullmatch(told.plain[named[0].start : named[0].end])):
        return ""
    day = valid_day(was.year, was.month, int(bare["day"]))
    return day.isoformat() if day is not None and day >= said else ""


def _meant(told: ChangeSentence, said: date, known: Sequence[KnownStatement]) -> int | None:
    """The place of the statement that a sentence changes: the first one of a thing that ends, the last of a value."""
    counts = Counter(stem for statement in known for stem in stems_of(statement.text))
    best, place, least = 0.0, None, _SURE / 2 if told.ends else _SURE / 3
    for at, statement in enumerate(known):
        score = _score(told, said, statement, counts)
        later = score == best and not told.ends
        if score >= least and (score > best or later):
            best, place = score, at
    if place is None and not told.content and not told.subject:
        recent = range(len(known) - 1, max(-1, len(known) - 1 - _RECENT), -1)
        place = next((at for at in recent if _revalues(told, said, known[at])), None)
    return place


def _score(told: ChangeSentence, said: date, statement: KnownStatement, counts: Counter[str]) -> float:
    """Weigh how surely a statement is meant, by the words that both have: the fewer have one, the more it tells."""
    has = stems_of(statement.text)
    shared = [word & has for word in told.content if word & has]
    denies = _denies(told, statement, len(shared))
    if not (denies and told.is_bare) and not _fits(told, statement.text):
        return 0.0
    score = sum(1 / min(counts[stem] for stem in word) for word in shared)
    if denies:
        who = any(value in name for name in told.names for value in told.denied)  # "Marta, not Ben"
        return 0.0 if told.of_person and not who and not _is_of_subject(told, has) else score + _DENIAL
    if not shared or _is_of_another(told, statement.text):
        return 0.0
    if told.ends and _is_ended(told, statement):
        return score
    if told.revalues and (
        _revalues(told, said, statement) or _renames(told, statement.text) or _flips(told, statement.text)
    ):
        return score
    return 0.0


def _fits(told: ChangeSentence, text: str) -> bool:
    """Return whether a sentence and a statement name largely the same, but for the name that takes another's place.

    A name weighs twice as much as another word, a value that is denied as much as all but one other.
    """
    has = stems_of(text)
    shared = [word for word in told.content if word & has]
    weight = sum(1 + (word in told.names) for word in shared)
    others = sum(1 + (word in told.names) for word in told.content if word not in told.names and not word & has)
    if any(told.denied & word for word in shared):
        others = min(others, 1)
    missing = sum(not any(word & each for each in shared) for word in content_words(text))
    if others and missing and all(any(stem.startswith("=") for stem in word) for word in shared):
        return False  # doing the same with something else: who takes no coffee still takes a pill
    whole = weight + others
    return weight >= _COVERED * whole and weight * weight >= _ALIKE * whole * (weight + missing)


def _has_scope(told: ChangeSentence, text: str) -> bool:
    """Return whether a statement has something of what is so no longer, where a sentence says what that is."""
    has = frozenset(stem for word in content_words(text, days=True) for stem in word)
    return not told.scope or any(word & has for word in told.scope)


def _is_of_another(told: ChangeSentence, text: str) -> bool:
    """Return whether a statement is about something else: another subject, or the same word more closely told."""
    has = stems_of(text)
    owner = _OF_OTHERS.match(told.plain)
    if owner and word_of(owner["other"] or owner["person"]).isdisjoint(has):
        # Another's cast, or what a brother does with his own; but "no wait, Ann's budget is 14" corrects "budget's 12".
        return not (told.corrects and owner["other"] and _is_of_nobody(text))
    if not _is_of_subject(told, has):
        return True
    if told.is_own and _is_of_another_person(told, text):
        return True
    return _is_of_another_kind(told.modified, told.content, text)


def _is_of_another_kind(modified: frozenset[tuple[Word, Word]], content: Sequence[Word], text: str) -> bool:
    """Return whether a statement tells a word of a sentence more closely, and otherwise: another's appointment."""
    has = stems_of(text)
    theirs = modifiers(text) | belongings(text)
    heads = {head: modifier for modifier, head in modified}
    return any(head in heads and not heads[head] & has and modifier not in content for modifier, head in theirs)


def _is_of_nobody(text: str) -> bool:
    """Return whether a statement does not say whose the thing is that it begins with."""
    return not (_WHOSE.search(text) or OF_PERSON.match(fold(text)) or NAMED_FIRST.match(text))


def _is_of_subject(told: ChangeSentence, has: frozenset[str]) -> bool:
    """Return whether a statement has what a sentence begins with, as far as that is what it is about."""
    return not told.subject or any(word & has for word in told.subject)


def _is_of_another_person(told: ChangeSentence, text: str) -> bool:
    """Return whether a statement is of a person of whom a sentence of its speaker says nothing.

    One that only tells a person's name, such as "our designer is Tomasz", is of what that person is.
    """
    if other := OF_PERSON.match(fold(text)):
        name = NAMED_FIRST.match(text[other.end() :].lstrip())
        who = f"{other[0]} {name[0]}" if name else other[0]
    else:
        named = SUBJECT.match(fold(text)) if NAMED_FIRST.match(text) else None
        who = named[0] if named else ""
    if not who or not stems_of(who).isdisjoint(stem for word in told.content for stem in word):
        return False
    return _IS_NAMED.search(text) is None


def _denies(told: ChangeSentence, statement: KnownStatement, shared: int) -> bool:
    """Return whether a statement has a value that is denied, or is due on a day that is."""
    if statement.due in told.denied_days:
        return not told.content or not stems_of(statement.text).isdisjoint(stems_of(told.plain))
    has = {match[1] for match in _FIGURE.finditer(fold(statement.text))} | set(words(statement.text))
    found = told.denied & has
    alone = not told.content or (told.is_bare and any(len(value) >= _LONG and value[0].isdigit() for value in found))
    return bool(found) and (bool(shared) or alone) and not found <= (STOPWORDS if shared < FEW else frozenset())


def _revalues(told: ChangeSentence, said: date, statement: KnownStatement) -> bool:
    """Return whether a sentence has another value than a statement, of a kind that both have one of."""
    other = fold(statement.text)
    if not statement.due and (mine := _weekdays(told.plain)) and (theirs := _weekdays(other)):
        return mine.isdisjoint(theirs)
    if time_named(told.plain) and time_named(other):
        return time_named(told.plain) != time_named(other)
    if told.days:
        there = {statement.due} if statement.due else {named.day.isoformat() for named in days_named(other, said)}
        ahead = min(max(told.days), max(there, default="")) >= said.isoformat()
        return ahead and there.isdisjoint(told.days)
    figures, others = _comparable(told.plain, other, said), _comparable(other, told.plain, said)
    return bool(figures and others) and figures.isdisjoint(others)


def _weekdays(plain: str) -> frozenset[int]:
    """The days of the week that a folded text names."""
    found = (WEEKDAYS.get(word, WEEKDAYS.get(word.removesuffix("s"))) for word in words(plain))
    return frozenset(day for day in found if day is not None)


def _comparable(plain: str, other: str, said: date) -> set[str]:
    """The figures of a folded text that count what another text speaks of too, or are a mere amount."""
    spoken = {*words(other), *_UNITS}
    return {value for value, unit in _figures(plain, said).items() if unit in spoken}


def _figures(plain: str, said: date) -> dict[str, str]:
    """The figures of a folded text that are of no day, each with the word behind it, "" for none that says of what."""
    days = days_named(plain, said)
    found = {word: after for word, after in pairwise([*words(plain), ""]) if word in NUMBERS}
    for match in _FIGURE.finditer(plain):
        if not any(day.start <= match.start(1) < day.end for day in days):
            found[match[1]] = match[2] or ""
    return {value: "" if unit in EMPTY else unit for value, unit in found.items()}


def _is_ended(told: ChangeSentence, statement: KnownStatement) -> bool:
    """Return whether a statement has what a sentence ends: more than a person of several, or one time of a habit.

    What is planned with a person ends with "isn't coming"; what else is told of the person stands.
    """
    has = stems_of(statement.text)
    named = any(word & has for word in told.content if word not in told.subject)
    if told.of_person and not named and not statement.due:
        begins = stems_of(" ".join(statement.text.split()[: FEW + 1]))
        if _SEVERAL.search(statement.text) or any(word & begins for word in told.subject):
            return False
    return _has_scope(told, statement.text) and not _is_once(told, statement.text)


def _is_once(told: ChangeSentence, text: str) -> bool:
    """Return whether a sentence tells of one day or week of what a statement says is a habit."""
    return _ONCE.search(told.plain) is not None and _HABIT.search(fold(text)) is not None


def _flips(told: ChangeSentence, text: str) -> bool:
    """Return whether a sentence denies what a statement says, in its words, or says what it denies."""
    flipped = _is_negated(told.plain) != _is_negated(fold(text))
    return flipped and {*content_words(text)} <= {*told.content}


def _is_negated(plain: str) -> bool:
    return "n't" in plain or not NEGATIONS.isdisjoint(words(plain))


def _renames(told: ChangeSentence, text: str) -> bool:
    """Return whether a statement says of one name what a sentence says of another one."""
    theirs = frozenset(map(word_of, map(fold, NAME.findall(text))))
    mine, said = told.names - set(content_words(text)), theirs - set(told.content)
    if not mine or not said:
        return False
    frame = set(map(_of_doing, set(told.content) - mine))
    other = set(map(_of_doing, set(content_words(text)) - said))
    if len(frame) >= FEW and frame <= other:
        return True
    return bool(frame and other) and other <= frame and len(frame) <= len(other) + FEW


def _of_doing(word: Word) -> Word:
    """A word by the doing that it tells, where it tells one: who moved lives there."""
    return frozenset(stem for stem in word if stem.startswith("=")) or word


def _instead(sentence: str, old: str, told: ChangeSentence, said: date) -> str:
    """The old statement with the new value in the place of the old one; the sentence, where that cannot be told."""
    has = stems_of(old)
    if not any(word & has for word in told.content) and (moved := _moved(sentence, old, told, said)):
        return moved
    if told.days or (told.ends and told.content and not told.denied):
        return sentence
    new = [match[1] for match in _FIGURE.finditer(sentence) if match[1] not in told.denied]
    figures = list(_FIGURE.finditer(old))
    wrong = [match for match in figures if match[1] in told.denied] or (figures if len(figures) == 1 else [])
    if len(new) != 1 or len(wrong) != 1:
        return sentence
    return f"{old[: wrong[0].start(1)]}{new[0]}{old[wrong[0].end(1) :]}"


def _moved(sentence: str, old: str, told: ChangeSentence, said: date) -> str:
    """The old statement with the day, and the time, of a sentence in the place of its own.

    "" where each has not one day, or more than one time.
    """
    here = [each for each in days_named(told.plain, said) if each.day.isoformat() in told.days]
    there = days_named(fold(old), said)
    if len(here) != 1 or len(there) != 1 or len(fold(old)) != len(old) or len(told.plain) != len(sentence):
        return ""
    day = _DAY_BEFORE.sub("", sentence[here[0].start : here[0].end])
    was = old[there[0].start : there[0].end]
    around = _at_its_time((old[: there[0].start], old[there[0].end :]), sentence[here[0].end :], told)
    if around is None:
        return ""
    head, tail = around
    bare, of_month = _BARE_DAY.fullmatch(told.plain[here[0].start : here[0].end]), _OF_MONTH.search(fold(was))
    if bare and of_month:  # the day of a month that only the old statement names
        was_day = of_month.span("day")
        ending = day[day.find(bare["day"]) + len(bare["day"]) :] if of_month["ending"] else ""
        end = of_month.end("ending")
        return f"{head}{was[: was_day[0]]}{bare['day']}{ending}{was[end:]}{tail}"
    article = "el " if was.startswith("el ") and not day.startswith("el ") else ""
    return f"{head}{article}{day}{tail}"


def _at_its_time(around: tuple[str, str], behind: str, told: ChangeSentence) -> tuple[str, str] | None:
    """What stands around the day of a statement, with the time that stands behind a new day; None for several times."""
    head, tail = around[0], _DAY_BEHIND.sub("", around[1])
    new = [time for time in _TIME.finditer(behind) if time["at"] not in told.denied]
    if not new:
        return head, tail
    before, after = list(_TIME.finditer(head)), list(_TIME.finditer(tail))
    if len(new) > 1 or len(before) + len(after) > 1:
        return None
    if not before and not after:
        return head, f" {new[0][0]}{tail}"
    was = (before or after)[0]
    time = new[0][0] if new[0]["part"] else f"{new[0][0]}{was['part'] or ''}"
    part = f"{was.string[: was.start()]}{time}{was.string[was.end() :]}"
    return (part, tail) if before else (head, part)
