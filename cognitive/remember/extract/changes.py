"""Find which memory a person's words end or put right, where they say that something is no longer so.

A sentence is read for how it changes something: it ends a thing ("no longer", "is cancelled"), has another value for
one ("it's Friday now"), denies a value ("not 850"), or tells that a task is done. The memory meant is the one that has
what the sentence names, of the fitting kind. Where no memory is surely meant, nothing ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from kenobot.cognitive.text.completions import completed_commitment, completes, doing, is_open_task
from kenobot.cognitive.text.dates import WEEKDAYS
from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS, join_phrases, load_tables, word_set
from kenobot.cognitive.text.named_days import days_named, time_named
from kenobot.cognitive.text.words import fold, stems, words
from kenobot.core import lazy

TABLES = load_tables("kenobot.cognitive.remember.extract", "rules.toml")
"""The phrases and patterns by which plain statements are read."""

_PHRASES = join_phrases(TABLES)
_ENDS = lazy.regex(rf"(?<!\w)(?:{_PHRASES['changes']})(?!\w)")
_NO_LONGER = lazy.regex(rf"(?<!\w)(?:{_PHRASES['no_longer']})(?!\w)\s*(?P<scope>[^,;:.!]*)")
_REVALUES = lazy.regex(rf"(?<!\w)(?:{_PHRASES['revalues']})(?!\w)")
_CUES = (_ENDS, lazy.regex(rf"(?<!\w)(?:{_PHRASES['no_longer']})(?!\w)"), _REVALUES)
_UNDECIDED = lazy.regex(rf"(?<!\w)(?:{_PHRASES['undecided']})(?!\w)")
_DENIED = tuple(lazy.regex(rf"(?<!\w)(?:{pattern})") for pattern in TABLES["denied"]["patterns"])
_DENIES_NEXT = lazy.regex(rf"(?<!\w)(?:{_PHRASES['denies']})(?!\w)(?: [\w']+){{0,3}} ?\Z")
_SUBJECT = lazy.regex(
    rf"(?:(?:{_PHRASES['determiners']}) )?(?P<subject>[^\W\d_][\w-]*'s [\w-]+|[^\W\d_][\w-]*(?: [\w-]+){{0,2}}?)"
    rf"(?:'s| (?:{_PHRASES['subject_ends']}))(?!\w)"
)
_FIGURE = lazy.regex(r"(?<![\w.,:])[£$€]?(\d+(?:[.,:]\d+)*)(?: ([^\W\d_]+))?")
_NAME = lazy.regex(r"(?<=\w )[A-ZÁÉÍÓÚÑ][\w-]+")
_OF = lazy.regex(r"([^\W\d_]{2,}) del? (?:la |los |las )?([^\W\d_]{2,})")
_TOKEN = lazy.regex(r"[^\W_](?:[\w-]|[.,:](?=\d))*")
_DAY_BEFORE = lazy.regex(r"\A(?:al|to|on|until|hasta) ")
_DAY_BEHIND = lazy.regex(r"\A (?:que viene|próxim[oa]|at all)\b")
_BARE_DAY = lazy.regex(r"(?:(?:al|el|to|on|until|hasta|the|dia) )*(?P<day>\d{1,2})(?:st|nd|rd|th)?")
_OF_MONTH = lazy.regex(r"(?<!\w)(?P<day>\d{1,2})(?P<ending>st|nd|rd|th|)(?= (?:de |of )?[^\W\d_]{3,})")
_TAKES_BACK = lazy.regex(
    rf"\W*(?:(?:{_PHRASES['openings']}|no|nada|oops|ups|uy|perdon|perdona|sorry|wait|espera|actually|please)\W+)*"
    rf"(?:{_PHRASES['takes_back']})(?:\W+(?:{_PHRASES['polite']}))*\W*"
)
_ENDING = lazy.regex(r"'(?:s|ll|ve|re|d|m)\b|n't\b")
_PARTS = lazy.regex(r"[,;:.!]\s+")
_CLAUSE = lazy.regex(r"[,;]\s+|\b(?:sino|but|pero)\b")
_NUMBERS = word_set("statement_numbers") - {"one", "un", "una", "uno"}
_VAGUE = frozenset(_PHRASES["vague"].split("|"))
_EMPTY = STOPWORDS | NEGATIONS | _NUMBERS | _VAGUE | frozenset(WEEKDAYS)
_UNITS = frozenset(_PHRASES["units"].split("|")) | {""}
_SURE = 1.0  # weight of shared words from which a memory may be meant
_DENIAL = 3.0  # weight of a value that the words deny and the memory has
_FEW = 2  # content words up to which a correction stands for nothing by itself
_LONG = 3  # characters of a value that tells by itself which statement has it
_RECENT = 3  # memories in which such a correction finds its value

Word = frozenset[str]
"""A word by its stems, and by the doing that it tells."""


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

    due: the day (ISO date) that it has instead, where it has one of the month of what ends; "" for none.
    """

    place: int
    text: str
    due: str = ""


def may_change(text: str) -> bool:
    """Return whether a text may end something that was said before it."""
    return _changes(fold(text)) or completes(text)


def _changes(plain: str) -> bool:
    return any(pattern.search(plain) for pattern in _CUES) and not _UNDECIDED.search(plain)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What a sentence that changes something names.

    content: the words that name something. subject: those it begins with, where they are what it is about. scope: the
    words of what is so no longer, where it says that. modified: words with those that tell more closely which is meant.
    names: those written like one. denied: values that it says are wrong, and the days (ISO dates)
    among them. days: the other days. ends: it ends something; revalues: it has another value for something.
    """

    plain: str
    content: tuple[Word, ...]
    subject: tuple[Word, ...]
    scope: tuple[Word, ...]
    modified: frozenset[tuple[Word, Word]]
    names: frozenset[Word]
    denied: frozenset[str]
    denied_days: frozenset[str]
    days: frozenset[str]
    ends: bool
    revalues: bool

    @property
    def is_bare(self) -> bool:
        """Return whether it says too little to stand by itself."""
        return len(self.content) <= _FEW


def find_change(sentence: str, said: date, known: Sequence[KnownStatement], *, corrects: bool = False) -> Change | None:
    """Find the one statement of `known`, oldest first, that a sentence ends; None where none is surely meant.

    corrects: it was introduced as putting something right.
    """
    plain = fold(sentence)
    if not known or _UNDECIDED.search(plain):
        return None
    if corrects or _changes(plain):
        told = _read(sentence, said, corrects=corrects)
        place = _meant(told, said, known)
        if place is not None:
            return _change(place, sentence, told, said, known[place])
    if completes(sentence):
        open_tasks = [at for at, statement in enumerate(known) if statement.is_open_task]
        done = completed_commitment(sentence, [known[at].text for at in open_tasks])
        return Change(open_tasks[done], sentence) if done is not None else None
    return None


def takes_back(text: str) -> bool:
    """Return whether a text only takes back what its speaker said right before it: "scratch that", "olvida eso"."""
    return _TAKES_BACK.fullmatch(fold(text).replace("’", "'")) is not None


def _change(place: int, sentence: str, told: _Sentence, said: date, old: KnownStatement) -> Change:
    """The change of a statement that is meant, in the statement's own words where the sentence has fewer."""
    named = [word for word in _content(sentence) if not any(stem.startswith("=") for stem in word)]
    less = bool(named) and {*named} < {*_content(old.text)}
    due = _in_month_of(told, sentence, old.due, said)
    if less and told.days and not told.denied and (moved := _moved(sentence, old.text, told, said)):
        return Change(place, moved, due)
    text = _instead(sentence, old.text, told, said) if told.is_bare else sentence
    return Change(place, text, due)


def _in_month_of(told: _Sentence, sentence: str, due: str, said: date) -> str:
    """The one day that a sentence names without its month, in the month of the day that it changes; "" for none."""
    named = [each for each in days_named(told.plain, said) if each.day.isoformat() in told.days]
    if not due or len(named) != 1 or not (bare := _BARE_DAY.fullmatch(told.plain[named[0].start : named[0].end])):
        return ""
    try:
        day = date.fromisoformat(due).replace(day=int(bare["day"]))
    except ValueError:
        return ""
    return day.isoformat() if day >= said else ""


def _meant(told: _Sentence, said: date, known: Sequence[KnownStatement]) -> int | None:
    """The place of the statement that a sentence changes: the first one of a thing that ends, the last of a value."""
    counts = Counter(stem for statement in known for stem in _stems(statement.text))
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


def _score(told: _Sentence, said: date, statement: KnownStatement, counts: Counter[str]) -> float:
    """Weigh how surely a statement is meant, by the words that both have: the fewer have one, the more it tells."""
    has = _stems(statement.text)
    shared = [word & has for word in told.content if word & has]
    score = sum(1 / min(counts[stem] for stem in word) for word in shared)
    if _denies(told, statement, len(shared)):
        return score + _DENIAL
    if not shared or _is_of_another(told, statement.text):
        return 0.0
    if told.ends and _has_scope(told, statement.text):
        return score
    if told.revalues and (_revalues(told, said, statement) or _renames(told, statement.text)):
        return score
    return 0.0


def _has_scope(told: _Sentence, text: str) -> bool:
    """Return whether a statement has something of what is so no longer, where a sentence says what that is."""
    has = frozenset(stem for word in _content(text, days=True) for stem in word)
    return not told.scope or any(word & has for word in told.scope)


def _is_of_another(told: _Sentence, text: str) -> bool:
    """Return whether a statement is about something else: another subject, or the same word more closely told."""
    has = _stems(text)
    if told.subject and not any(word & has for word in told.subject):
        return True
    theirs = _modified(text) | _of_something(text)
    heads = {head: modifier for modifier, head in told.modified}
    return any(head in heads and not heads[head] & has and modifier not in told.content for modifier, head in theirs)


def _denies(told: _Sentence, statement: KnownStatement, shared: int) -> bool:
    """Return whether a statement has a value that is denied, or is due on a day that is."""
    if statement.due in told.denied_days:
        return not told.content or not _stems(statement.text).isdisjoint(_stems(told.plain))
    has = {match[1] for match in _FIGURE.finditer(fold(statement.text))} | set(words(statement.text))
    found = told.denied & has
    alone = not told.content or (told.is_bare and any(len(value) >= _LONG and value[0].isdigit() for value in found))
    return bool(found) and (bool(shared) or alone) and not found <= (STOPWORDS if shared < _FEW else frozenset())


def _revalues(told: _Sentence, said: date, statement: KnownStatement) -> bool:
    """Return whether a sentence has another value than a statement, of a kind that both have one of."""
    other = fold(statement.text)
    if time_named(told.plain) and time_named(other):
        return time_named(told.plain) != time_named(other)
    if told.days:
        there = {statement.due} if statement.due else {named.day.isoformat() for named in days_named(other, said)}
        return bool(there) and there.isdisjoint(told.days)
    figures, others = _comparable(told.plain, other, said), _comparable(other, told.plain, said)
    return bool(figures and others) and figures.isdisjoint(others)


def _comparable(plain: str, other: str, said: date) -> set[str]:
    """The figures of a folded text that count what another text speaks of too, or are a mere amount."""
    spoken = {*words(other), *_UNITS}
    return {value for value, unit in _figures(plain, said).items() if unit in spoken}


def _figures(plain: str, said: date) -> dict[str, str]:
    """The figures of a folded text that are of no day, each with the word behind it, "" for none that says of what."""
    days = days_named(plain, said)
    found = {word: after for word, after in pairwise([*words(plain), ""]) if word in _NUMBERS}
    for match in _FIGURE.finditer(plain):
        if not any(day.start <= match.start(1) < day.end for day in days):
            found[match[1]] = match[2] or ""
    return {value: "" if unit in _EMPTY else unit for value, unit in found.items()}


def _renames(told: _Sentence, text: str) -> bool:
    """Return whether a statement says of one name what a sentence says of another one."""
    theirs = frozenset(map(_word, map(fold, _NAME.findall(text))))
    mine, said = told.names - set(_content(text)), theirs - set(told.content)
    if not mine or not said:
        return False
    frame, other = set(told.content) - mine, set(_content(text)) - said
    return bool(frame) and (frame == other or (len(frame) >= _FEW and frame <= other))


def _read(sentence: str, said: date, *, corrects: bool) -> _Sentence:
    plain = fold(sentence)
    telling = sentence if len(_content(sentence)) <= _FEW else _telling_part(sentence)
    subject = _SUBJECT.match(plain)
    about = subject["subject"] if subject else ""
    ended = _NO_LONGER.search(plain)
    denied = {match["was"].strip("£$€.,:") for pattern in _DENIED for match in pattern.finditer(plain)} - {""}
    named = days_named(plain, said)
    off = [each for each in named if _is_denied(plain, each.start) or denied & set(words(plain[each.start : each.end]))]
    return _Sentence(
        plain=plain,
        content=_content(telling),
        subject=_content(about),
        scope=_content(ended["scope"], days=True) if ended else (),
        modified=_modified(about) | _of_something(sentence),
        names=frozenset(map(_word, map(fold, _NAME.findall(sentence)))),
        denied=frozenset(denied),
        denied_days=frozenset(each.day.isoformat() for each in off),
        days=frozenset(each.day.isoformat() for each in named if each not in off),
        ends=bool(_ENDS.search(plain) or ended),
        revalues=corrects or _REVALUES.search(plain) is not None,
    )


def _is_denied(plain: str, at: int) -> bool:
    """Return whether the words right before a place of a sentence deny what stands there."""
    return _DENIES_NEXT.search(_CLAUSE.split(plain[:at])[-1]) is not None


def _telling_part(sentence: str) -> str:
    """The parts of a sentence, between commas, that tell of the change; the sentence, where they name nothing."""
    told = " ".join(part for part in _PARTS.split(sentence) if _changes(fold(part)))
    return told if _content(told) else sentence


def _instead(sentence: str, old: str, told: _Sentence, said: date) -> str:
    """The old statement with the new value in the place of the old one; the sentence, where that cannot be told."""
    has = _stems(old)
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


def _moved(sentence: str, old: str, told: _Sentence, said: date) -> str:
    """The old statement with the day of a sentence in the place of its own; "" where each has not one day."""
    here = [each for each in days_named(told.plain, said) if each.day.isoformat() in told.days]
    there = days_named(fold(old), said)
    if len(here) != 1 or len(there) != 1 or len(fold(old)) != len(old) or len(told.plain) != len(sentence):
        return ""
    day = _DAY_BEFORE.sub("", sentence[here[0].start : here[0].end])
    was = old[there[0].start : there[0].end]
    bare, of_month = _BARE_DAY.fullmatch(told.plain[here[0].start : here[0].end]), _OF_MONTH.search(fold(was))
    if bare and of_month:  # the day of a month that only the old statement names
        was_day = of_month.span("day")
        ending = day[day.find(bare["day"]) + len(bare["day"]) :] if of_month["ending"] else ""
        end = of_month.end("ending")
        return f"{old[: there[0].start]}{was[: was_day[0]]}{bare['day']}{ending}{was[end:]}{old[there[0].end :]}"
    article = "el " if was.startswith("el ") and not day.startswith("el ") else ""
    return f"{old[: there[0].start]}{article}{day}{_DAY_BEHIND.sub('', old[there[0].end :])}"


@lru_cache(1024)
def _word(plain: str) -> Word:
    return frozenset({*stems(plain), doing(plain)} - {""})


@lru_cache(512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in _content(text) for stem in word)


@lru_cache(512)
def _content(text: str, *, days: bool = False) -> tuple[Word, ...]:
    """The words of a text that name something: no functions, values, or words that only tell of a change.

    days: days of the week too.
    """
    plain = fold(text)
    doings = [word for word in words(plain) if doing(word)]
    for pattern in _CUES:
        plain = pattern.sub(" ", plain)
    empty = _EMPTY - frozenset(WEEKDAYS) if days else _EMPTY
    found = [word for word in _TOKEN.findall(_ENDING.sub("", plain)) if not word[0].isdigit() and len(word) > 1]
    return tuple(dict.fromkeys(_word(word) for word in [*doings, *found] if word not in empty))


def _modified(phrase: str) -> frozenset[tuple[Word, Word]]:
    """The words of a noun phrase, each with the one before it."""
    return frozenset((one, other) for one, other in pairwise(_content(phrase)))


def _of_something(text: str) -> frozenset[tuple[Word, Word]]:
    """What is said to be of something, such as a class of piano: that, and what it is."""
    found = (match.groups() for match in _OF.finditer(fold(text)))
    return frozenset((_word(of), _word(what)) for what, of in found if of not in _EMPTY and what not in _EMPTY)
