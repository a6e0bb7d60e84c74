"""Find which memory a person's words end or put right, where they say that something is no longer so.

Words such as "no longer" or "cancelled" end the one memory that shares what they name; words such as "actually" only
one with another value of the same kind. Where no single memory is surely meant, nothing ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from kenobot.cognitive.text.dates import WEEKDAYS
from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS, join_phrases, load_tables, word_set
from kenobot.cognitive.text.named_days import days_named, time_named
from kenobot.cognitive.text.words import fold, stems, words
from kenobot.core import lazy

TABLES = load_tables("kenobot.cognitive.remember.extract", "rules.toml")
"""The phrases and patterns by which plain statements are read."""

_PHRASES = join_phrases(TABLES)
_CHANGES = lazy.regex(rf"(?<!\w)(?:{_PHRASES['changes']})(?!\w)")
_REVALUES = lazy.regex(rf"(?<!\w)(?:{_PHRASES['revalues']})(?!\w)")
_DENIED = tuple(lazy.regex(rf"(?<!\w)(?:{pattern})") for pattern in TABLES["denied"]["patterns"])
_FIGURE = lazy.regex(r"(?<![\w.,:])[£$€]?(\d+(?:[.,:]\d+)*)")
_PARTS = lazy.regex(r"[,;:.!]\s+")
_NUMBERS = word_set("statement_numbers") - {"one", "un", "una", "uno"}
_VAGUE = frozenset(_PHRASES["vague"].split("|"))
_EMPTY = STOPWORDS | NEGATIONS | _NUMBERS | _VAGUE | frozenset(WEEKDAYS)
_SURE = 1.0  # weight of shared words from which a memory may be meant
_DENIAL = 3.0  # weight of a value that the words deny and the memory has
_FEW = 2  # content words up to which a correction stands for nothing by itself
_RECENT = 3  # memories in which such a correction finds its value


@dataclass(frozen=True, slots=True)
class KnownStatement:
    """A statement that words may end. due: the day it is due, YYYY-MM-DD, "" for none."""

    text: str
    due: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The statement that words end, by its place, and what they say instead, as a text that stands alone."""

    place: int
    text: str


def may_change(text: str) -> bool:
    """Return whether a text may end something that was said before it."""
    plain = fold(text)
    return _CHANGES.search(plain) is not None or _REVALUES.search(plain) is not None


def find_change(sentence: str, said: date, known: Sequence[KnownStatement], *, corrects: bool = False) -> Change | None:
    """Find the one statement of `known`, oldest first, that a sentence ends; None where none is surely meant.

    corrects: it was introduced as putting something right.
    """
    plain = fold(sentence)
    ends = _CHANGES.search(plain) is not None
    if not known or not (ends or corrects or _REVALUES.search(plain)):
        return None
    denied = _denied_values(plain)
    bare = len(_content(sentence)) <= _FEW
    telling = sentence if bare else _telling_part(sentence)
    counts = Counter(stem for statement in known for stem in _stems(statement.text))
    if not any(_shared(telling, statement.text) for statement in known):
        telling = sentence
    best, place = 0.0, -1
    for at, statement in enumerate(known):
        score = _score(telling, statement.text, counts)
        denies = _denies(denied, said, plain, statement)
        if denies and (score or bare):
            score += _DENIAL
        elif not ends and not (score and _revalues(plain, said, statement)):
            continue
        if score >= best > 0 or score > best:
            best, place = score, at
    if place < 0 and bare:
        place = _recent(plain, said, known)
        best = _SURE if place >= 0 else 0.0
    if place < 0 or best < (_SURE / 2 if ends else _SURE / 3):
        return None
    return Change(place, _instead(sentence, known[place].text, denied) if bare else sentence)


def _telling_part(sentence: str) -> str:
    """The parts of a sentence, between commas, that tell of the change; the sentence, where they name nothing."""
    told = " ".join(part for part in _PARTS.split(sentence) if may_change(part))
    return told if _content(told) else sentence


def _score(telling: str, text: str, counts: Counter[str]) -> float:
    """Weigh the words that both have: the fewer statements have one, the more it tells."""
    return sum(1 / min(counts[stem] for stem in shared) for shared in _shared(telling, text))


def _recent(plain: str, said: date, known: Sequence[KnownStatement]) -> int:
    """The newest statement with a value of the kind that a bare correction has."""
    for at in range(len(known) - 1, max(-1, len(known) - 1 - _RECENT), -1):
        if _revalues(plain, said, known[at]):
            return at
    return -1


def _denied_values(plain: str) -> frozenset[str]:
    """The values that a folded sentence says are wrong."""
    found = (match["was"] for pattern in _DENIED for match in pattern.finditer(plain))
    return frozenset(value.strip("£$€.,:") for value in found) - STOPWORDS - {""}


def _denies(denied: frozenset[str], said: date, plain: str, statement: KnownStatement) -> bool:
    """Return whether a statement has a value that is denied, or is due on a day that is."""
    if not denied:
        return False
    told = {match[1] for match in _FIGURE.finditer(fold(statement.text))} | set(words(statement.text))
    if denied & told:
        return True
    days = [
        named.day.isoformat()
        for named in days_named(plain, said)
        if denied & set(words(plain[named.start : named.end]))
    ]
    return statement.due in days


def _revalues(plain: str, said: date, statement: KnownStatement) -> bool:
    """Return whether a sentence has another value than a statement, of a kind that both have one of."""
    told = fold(statement.text)
    if time_named(plain) and time_named(told):
        return time_named(plain) != time_named(told)
    here, there = _figures(plain), _figures(told)
    if here and there:
        return here.isdisjoint(there)
    days = {named.day.isoformat() for named in days_named(plain, said)}
    return bool(days and statement.due and statement.due not in days)


def _figures(plain: str) -> frozenset[str]:
    return frozenset(match[1] for match in _FIGURE.finditer(plain)) | (frozenset(words(plain)) & _NUMBERS)


def _instead(sentence: str, old: str, denied: frozenset[str]) -> str:
    """The old statement with the new value in the place of the old one; the sentence, where that cannot be told."""
    new = [match[1] for match in _FIGURE.finditer(sentence) if match[1] not in denied]
    figures = list(_FIGURE.finditer(old))
    wrong = [match for match in figures if match[1] in denied] or (figures if len(figures) == 1 else [])
    if len(new) != 1 or len(wrong) != 1:
        return sentence
    return f"{old[: wrong[0].start(1)]}{new[0]}{old[wrong[0].end(1) :]}"


def _shared(sentence: str, text: str) -> list[frozenset[str]]:
    """The content words, by their stems, of a sentence that a text has as well."""
    known = _stems(text)
    found = {frozenset(stems(word)) & known for word in _content(sentence)}
    return [shared for shared in found if shared]


@lru_cache(512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in _content(text) for stem in stems(word))


def _content(text: str) -> tuple[str, ...]:
    """The words of a text that name something: no functions, values, or words that only tell of a change."""
    plain = _CHANGES.sub(" ", fold(text))
    plain = _REVALUES.sub(" ", plain)
    return tuple(word for word in words(plain) if word not in _EMPTY and not word[0].isdigit() and len(word) > 1)
