"""Read a correction that names only another day or hour: "no wait, it's on Friday", «perdón, a las 11»."""

import re
from datetime import date, datetime, time, timedelta

from kenobot.core import lazy
from kenobot.language.clock_times import clock_times
from kenobot.language.dates import WEEKDAYS
from kenobot.language.named_days import days_named
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.sentence_core import MARKS, asks, fold_text, read_core
from kenobot.language.when import Choice, Moment
from kenobot.language.when.read import read_when
from kenobot.language.when.strip import strip_when
from kenobot.language.words import fold, words
from kenobot.ports.frozen import dataclass

_LONGEST = 100  # characters of such a correction
_MOST_SENTENCES = 3
_WEEK = timedelta(days=7)
_HALF_DAY = 12  # hours
_NEAR = 3  # hours: of 6:00 and 18:00 the one that is so near to the former hour
_PART = lazy.regex(r"\b(?:morning|afternoon|evening|(?:to)?night|(?:por|de) la manana|tarde|noche|madrugada)\b")
_ANY = datetime.combine(date(2024, 1, 1), time(12))  # where only whether it names a time counts
_WORDS = "wait|hold on|sorry|oops|whoops|ups|digo|espera|perdon|perdona|my mistake|my bad|error mio|mejor dicho"
_OPENS = lazy.regex(
    r"(?:(?:ah|oh|uy|ay|huy|vaya|bueno|well|hmm?|que)[\s,.!…]+)*"
    rf"(?:(?:no|{_WORDS})[\s,.!…]+)*(?:no\s*[,:.!…]|(?:{_WORDS})\b\s*[,:.!…]?)[\s,:.!…]*"
)
_FRAME = lazy.regex(
    r"(?:(?:now|ahora|que|mejor|rather|al final|in the end|it should be|tiene que ser) ?)*"
    r"(?:(?:it )?(?:starts|begins)|it's|its|it is|it was|it'll be|they're|that's|es|son|era|eran|sera|empiezan?)?"
    r"(?: ?(?:the|el|la|los|on|at|en))?(?: ?(?:instead|mejor|rather))?"
)
_CONTRASTS = tuple(
    map(
        lazy.regex,
        (
            r"(?P<right>.+?),? (?:y no|and not|no|not|en vez del?|instead of) (?P<wrong>.+)",
            r"(?:no|not|it's not|it isn't) (?P<wrong>.+?)(?:,| sino| but)+ (?P<right>.+)",
            r"(?P<wrong>.+?) no,? (?:sino )?(?P<right>.+)",
        ),
    )
)
_FIGURE = lazy.regex(r"(?:a )?(?:las? )?(?P<figure>\d{1,2}(?:[:.]\d\d)?)")
_BARE_WEEKDAY = lazy.regex(rf"(?:(?:on|el) )?(?:{'|'.join(WEEKDAYS)})(?! que viene| siguiente| proximo)(?!\w)")


@dataclass(frozen=True, slots=True)
class TimeCorrection:
    """The words for a day or an hour that is right, and those for the one that is wrong, "" for none."""

    right: str
    wrong: str = ""


def find_time_correction(message: str) -> TimeCorrection | None:
    """Find the time that a message puts right; None where it puts none right, or says anything else."""
    message = message.strip(MARKS)
    core = read_core(message)
    if len(message) > _LONGEST or len(fold_text(message)) != len(message) or asks(message, core):
        return None
    told = core.told
    opening = _OPENS.match(fold_text(told))
    if opening is not None or core.corrects:
        told = told[opening.end() :] if opening is not None else told
        if found := _read_time_alone(told):
            return TimeCorrection(found)
    read = (_read_contrast(each, pattern) for each in (told, message) for pattern in _CONTRASTS)
    return next(filter(None, read), None)


def _read_contrast(text: str, pattern: re.Pattern[str]) -> TimeCorrection | None:
    """Read the time that a text names as right beside one that is wrong: "it's at 11, not at 10"."""
    found = pattern.fullmatch(fold_text(text))
    if found is None:
        return None
    right, wrong = (_read_time_alone(text[slice(*found.span(name))]) for name in ("right", "wrong"))
    figure = _FIGURE.fullmatch(found["wrong"])
    wrong = wrong or (figure["figure"] if figure is not None else "")
    return TimeCorrection(right, wrong) if right and wrong else None


def _read_time_alone(text: str) -> str:
    """Return the words of a text for a day or an hour, where it says nothing else."""
    when = read_when(text, _ANY)
    if when is None or not when.spans or _FRAME.fullmatch(fold_text(strip_when(text, when)).strip(MARKS)) is None:
        return ""
    return text[min(start for start, _ in when.spans) : max(end for _, end in when.spans)]


def corrects_time(message: str, statement: str, said: date) -> bool:
    """Return whether a message, said on a day, names only another day or hour for what a statement says."""
    correction = find_time_correction(message)
    if correction is None or not _names_time(statement):
        return False
    if correction.wrong and not _meets(correction.wrong, statement, said):
        return False
    days, hours = _list_days(correction.right, said), _list_hours(correction.right)
    if not days and not hours:  # "in the afternoon", "every Friday"
        return not {*words(correction.right)} <= {*words(statement)}
    is_other_day = bool(days) and days.isdisjoint(_list_days(statement, said))
    return is_other_day or (bool(hours) and hours.isdisjoint(_list_hours(statement)))


def _meets(wrong: str, statement: str, said: date) -> bool:
    """Return whether a statement has a day or an hour that is called wrong."""
    days, hours = _list_days(wrong, said), _list_hours(wrong)
    if days or hours:
        return not (days.isdisjoint(_list_days(statement, said)) and hours.isdisjoint(_list_hours(statement)))
    return {*words(wrong)} <= {*words(statement)}


def find_corrected_day(message: str, due: date, said: date) -> date:
    """Find the day on which something is due after a correction, said on a day; `due` where it names none ahead.

    A mere day of the week is the one nearest to `due`.
    """
    correction = find_time_correction(message)
    plain = fold(correction.right if correction is not None else "")
    named = next(iter(days_named(plain, said)), None)
    if named is None or named.day < said:
        return due
    bare = _BARE_WEEKDAY.match(plain, named.start)
    if bare is None or bare.end() < named.end:
        return named.day
    weeks = max(0, round((due - named.day) / _WEEK))
    if named.day + weeks * _WEEK == due:  # which is wrong, as is told: another such day is meant
        weeks += 1 if weeks == 0 else -1
    return named.day + weeks * _WEEK


def find_hour(text: str, due: date, told: datetime) -> time | None:
    """Find the hour that a text, told at a local moment, names for a day; None where none is sure.

    The hour of a correction behind the text goes before its own.
    """
    statement, correction = _split(text)
    if not correction:
        return _choose_sure(_read_hours(text, due, told))
    former = find_hour(statement, due, told) or _choose_sure(_read_hours(statement, None, told))
    if days_named(fold(correction), told.date()):
        hours = _read_hours(correction, None, told)
    else:
        hours = _read_hours(f"{due.isoformat()} {correction}", due, told)
    if not hours and not _list_hours(correction):  # it names a day alone
        return former
    if former is None or not _is_bare(correction):
        return _choose_sure(hours)
    twins = {each.replace(hour=(each.hour + _HALF_DAY) % (2 * _HALF_DAY)) for each in hours}
    near = {each for each in hours | twins if abs(each.hour - former.hour) <= _NEAR}
    same_half = {each for each in hours if abs(each.hour - former.hour) < _HALF_DAY // 2}
    return _choose_sure(near) or (_choose_sure(same_half) if len(hours) == 1 else None)


def _is_bare(correction: str) -> bool:
    """Return whether the hour of a correction may be of the morning or of the evening: at 9."""
    plain = fold(correction)
    return not _PART.search(plain) and not any(each.sure or each.part for each in clock_times(plain))


def _split(text: str) -> tuple[str, str]:
    """Split a text into what it states and the words of a correction of time behind it, "" for none."""
    sentences = [each for each in split_sentences(text) if each.strip()]
    while len(sentences) > 1 and not _names_time(sentences[-1]):
        sentences.pop()
    for count in range(1, min(_MOST_SENTENCES, len(sentences) - 1) + 1):
        correction = find_time_correction(" ".join(sentences[-count:]))
        if correction is not None:
            return " ".join(sentences[:-count]), correction.right
    return text, ""


def _names_time(text: str) -> bool:
    when = read_when(text, _ANY)
    return when is not None and bool(when.spans)


def _read_hours(text: str, day: date | None, now: datetime) -> set[time]:
    """Read the hours that a text may name, for a day or for any."""
    when = read_when(text, now)
    meaning = when.meaning if when is not None else None
    options = meaning.options if isinstance(meaning, Choice) else (meaning,)
    return {
        each.at.time()
        for each in options
        if isinstance(each, Moment) and each.has_time and (day is None or each.at.date() == day)
    }


def _choose_sure(hours: set[time]) -> time | None:
    return next(iter(hours)) if len(hours) == 1 else None


def _list_days(text: str, said: date) -> set[date]:
    return {each.day for each in days_named(fold(text), said)}


def _list_hours(text: str) -> set[tuple[int, int, str]]:
    return {(each.hour, each.minute, each.part) for each in clock_times(fold(text))}
