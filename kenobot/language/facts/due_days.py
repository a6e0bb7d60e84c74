"""Tell on which of the days that a text names something is due, if on any; see due_days.toml.

A day that is only told as past, that comes again and again, or that another one has taken the place of, is none.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.facts.parse_facts import ExtractedFact
from kenobot.language.lexicon import load_phrases
from kenobot.language.named_days import NamedDay, day_counted, days_named
from kenobot.language.words import fold

_FAR, _FAR_OF_YEAR = 330, 20_000  # days: a day that is further off, without a year, is rather over
_PHRASES = load_phrases(__package__, "due_days.toml")
_LONGEST = 2000  # characters of a text that are read
_AROUND = 200  # characters before a day, and behind it, that tell of it
_LEAST_WORDS = 3  # of a clause that says what is to be done by a day
_OLD, _PLAIN, _NEW = range(3)  # how surely a day is the one that is meant


def _somewhere(name: str) -> re.Pattern[str]:
    return lazy.regex(rf"(?<!\w)(?:{_PHRASES[name]})(?!\w)")


def _at_end(name: str) -> re.Pattern[str]:
    return lazy.regex(rf"(?<!\w)(?:{_PHRASES[name]})\s*(?:(?:the|el|la|on|es|is|it's|it'll be|for|con) )*\Z")


def _find_behind(name: str) -> re.Pattern[str]:
    return lazy.regex(rf"\A,?(?:\s+|(?='))(?:{_PHRASES[name]})(?!\w)")


_SINCE, _AGAIN, _IS_NOT = map(_at_end, ("since", "again", "is_not"))
_DENIES, _WAS_THE_ONE, _INSTEAD, _MOVES = map(_somewhere, ("denies", "was_the_one", "instead", "moves"))
_REFUSES, _NOW, _AGAIN_BEHIND = map(_find_behind, ("refuses", "now", "again_behind"))
_AHEAD_BEFORE = lazy.regex(rf"(?<!\w)(?:{_PHRASES['ahead']})\s+(?:(?:the|el|on) )?\Z")
_AHEAD_WITHIN = lazy.regex(rf"(?:{_PHRASES['ahead']})(?!\w)")
_SURELY = _somewhere("surely")
_FROM = lazy.regex(r"(?<!\w)(?:from|del?)\s+(?:(?:the|el) )?\Z")
_FROM_WITHIN = lazy.regex(r"(?:from|del?) ")
_TO_BEHIND = lazy.regex(r"\A\W?\s*(?:to|al?|until|hasta|onto)(?!\w)")
_TO_WITHIN = lazy.regex(r"(?:\A| )(?:to|al?|para|pal?|until|till|hasta)(?= )")
_TO_BEFORE = lazy.regex(r"(?<!\w)(?:to|a|for|para|onto|until|till|hasta)\s+(?:(?:the|el) )?\Z")
_PART = lazy.regex(r"[,;:.!?]\s|[()]")
_BREAKS = lazy.regex(rf"[,;:.!?]\s|[()\n]|(?<!\w)(?:{_PHRASES['breaks']})(?!\w)")
_PAST = _somewhere("past")
_PAST_WRITTEN = _somewhere("past_written")
_YET, _BEGINS = _somewhere("yet"), _somewhere("begins")
_FOR = lazy.regex(r"(?<!\w)(?:for|para)(?!\w)")
_BY_BEFORE = lazy.regex(rf"(?<!\w)(?:{_PHRASES['by']})\s+(?:(?:the|el|this) )?\Z")
_BY_WITHIN = lazy.regex(rf"(?:{_PHRASES['by']})(?!\w)")
_CLAUSE = lazy.regex(r"[,;:.!?]\s|[()]|\s(?:and|but|y|pero)\s")
_SAINTS = lazy.regex(rf"(?:{_PHRASES['saints']})")
_OF_SAINT = lazy.regex(rf"(?<!\w)(?:{_PHRASES['saints_day']})\s+\Z")
_SAME_DAY = lazy.regex(
    r"(?: siguiente| que viene)?[\s,(]*(?:o sea|es decir|that is|so|i\.?e\.?|concretamente|namely)?[\s,]*"
    r"(?:(?:el|al|the|on) )?"
)


def day_due(text: str, said: date, *, first: int = 0, before: str = "") -> tuple[tuple[str, str], ...]:
    """Return the attribute of the day ahead on which a text says that something is due; none without one.

    first: days from now from which a day counts, or the last of several. before: what was said before it, which may
    name the day from which it counts. A day on which something is not to be counts where there is no other.
    """
    plain, named = _find_named(text, said)
    written = text[:_LONGEST].lower()
    written = written if len(written) == len(plain) else plain
    days = [each for each in named if _is_ahead(each, said, first) and not _is_idle(plain, written, each)]
    if days:
        sure = [_sureness(plain, named, each) for each in days]
        return (("due", _mean_day(plain, days, sure.index(max(sure))).isoformat()),)
    counted = _count_off(plain, before, said) if before.strip() and not named else None
    if counted is None or not _is_ahead(counted, said, first) or _is_idle(plain, written, counted):
        return ()
    return (("due", counted.day.isoformat()),) if _sureness(plain, (), counted) > _OLD else ()


def with_day(fact: ExtractedFact, said: date, before: str = "") -> ExtractedFact:
    """Return a fact with the day on which its text says that something is due, where it has no attributes yet.

    before: what was said before it.
    """
    return fact if fact.attributes else replace(fact, attributes=day_due(fact.text, said, first=1, before=before))


def deadlines(fact: ExtractedFact, said: date) -> list[ExtractedFact]:
    """Return what else a fact's text says is to be done by a day, each in its clause: "the form is due by Friday"."""
    due = dict(fact.attributes).get("due")
    plain, named = _find_named(fact.text, said)
    if due is None or len(named) < 2 or len(plain) != len(fact.text):
        return []
    found: list[ExtractedFact] = []
    for each in named:
        day = each.day.isoformat()
        by = _BY_BEFORE.search(plain, 0, each.start) or _BY_WITHIN.match(plain, each.start)
        if by is None or day == due or not _is_ahead(each, said, 1) or _is_idle(plain, plain, each):
            continue
        start = max((mark.end() for mark in _CLAUSE.finditer(plain, 0, each.start)), default=0)
        behind = _CLAUSE.search(plain, each.end)
        clause = fact.text[start : behind.start() if behind else len(plain)].strip(" .,;:")
        if len(clause.split()) >= _LEAST_WORDS:
            found.append(replace(fact, text=clause, category="commitment", attributes=(("due", day),)))
    return found


def tells_past(text: str) -> bool:
    """Return whether a text tells what has happened, as far as its verbs show."""
    plain = fold(text[:_LONGEST]).replace("’", "'").replace("‘", "'")
    written = text[:_LONGEST].lower()
    return _tells_past(plain, written if len(written) == len(plain) else plain, 0, len(plain))


def counts_from_another(text: str) -> bool:
    """Return whether a text names no day but one that it counts from another, such as "the day after"."""
    plain, named = _find_named(text, date(2024, 1, 1))
    return not named and day_counted(plain, date(2024, 1, 1)) is not None


@lru_cache(64)  # bounded: a sentence is asked for as a clause, as a fact and as a part of its message
def _find_named(text: str, said: date) -> tuple[str, Sequence[NamedDay]]:
    """Return a text, folded, and the days that it names."""
    plain = fold(text[:_LONGEST]).replace("’", "'").replace("‘", "'")
    return plain, tuple(days_named(plain, said))


def _count_off(plain: str, before: str, said: date) -> NamedDay | None:
    """Return the day that a text counts from the last one that was named before it."""
    if day_counted(plain, said) is None:
        return None
    _, named = _find_named(before, said)
    return day_counted(plain, named[-1].day) if named else None


def _is_ahead(named: NamedDay, said: date, first: int) -> bool:
    far = _FAR_OF_YEAR if named.has_year else _FAR
    return first <= (named.last - said).days and 0 <= (named.day - said).days <= far


def _is_idle(plain: str, written: str, named: NamedDay) -> bool:
    """Return whether nothing is due on a day: it is past, or when something began, or comes again and again.

    Or it is not the day, as in "no longer on Friday".
    """
    first, last = max(0, named.start - _AROUND), named.end + _AROUND
    before, words, behind = plain[first : named.start], plain[named.start : named.end], plain[named.end : last]
    if _AGAIN.search(before) or _AGAIN_BEHIND.match(behind) or _IS_NOT.search(before):
        return True
    if _SAINTS.fullmatch(words) and not _OF_SAINT.search(before):
        return True
    if _SURELY.search(plain[named.start : named.end + len(" que viene")]):
        return False
    if _SINCE.search(before):
        return not before.endswith("l ") or not (_BEGINS.search(before) or _BEGINS.search(behind))
    if _AHEAD_BEFORE.search(before) or _AHEAD_WITHIN.match(words) or _INSTEAD.search(_PART.split(before)[-1]):
        return False
    start = first + max((match.end() for match in _BREAKS.finditer(before)), default=0)
    broken = _BREAKS.search(behind)
    end = named.end + (broken.start() if broken else len(behind))
    return _tells_past(plain, written, start, named.start, ahead=True) or _tells_past(plain, written, named.end, end)


def _tells_past(plain: str, written: str, start: int, end: int, *, ahead: bool = False) -> bool:
    """Return whether a part of a clause tells what has happened. ahead: for a day that follows, it may not have yet."""
    happened = _PAST.search(plain, start, end) or _PAST_WRITTEN.search(written, start, end)
    if happened is None or _YET.search(plain, start, end):
        return False
    return not ahead or _FOR.search(plain, happened.end(), end) is None


def _sureness(plain: str, found: Sequence[NamedDay], named: NamedDay) -> int:
    """Weigh how surely a day is the one meant.

    One that takes the place of another, or that another takes the place of.
    """
    first = max(0, named.start - _AROUND)
    last = max((other.end for other in found if first <= other.end <= named.start), default=first)
    before, words = plain[last : named.start], plain[named.start : named.end]
    behind = plain[named.end : named.end + _AROUND]
    part = _PART.split(before)[-1]
    moved = _MOVES.search(plain, first, named.start) is not None
    if moved and _TO_BEHIND.match(behind) and (_FROM.search(before) or _FROM_WITHIN.match(words)):
        return _OLD
    if _INSTEAD.search(part) or _NOW.match(behind):
        return _NEW
    if _DENIES.search(part) or _WAS_THE_ONE.search(part) or _REFUSES.match(behind):
        return _OLD
    if moved and (_TO_BEFORE.search(before) or _TO_WITHIN.match(words)):
        return _NEW
    return _PLAIN


def _mean_day(plain: str, days: Sequence[NamedDay], at: int) -> date:
    """Return the day of an expression; the one right behind it, where that says more closely when."""
    named = days[at]
    before, words = plain[max(0, named.start - _AROUND) : named.start], plain[named.start : named.end]
    if named.last != named.day and _TO_WITHIN.search(words) and _MOVES.search(_PART.split(before)[-1]):
        return named.last
    following = days[at + 1] if at + 1 < len(days) else None
    if following is None or not _SAME_DAY.fullmatch(plain[named.end : following.start]):
        return named.day
    closer = named.day <= following.day <= named.last or not any(map(str.isdigit, words))
    return following.day if closer and any(map(str.isdigit, plain[following.start : following.end])) else named.day
