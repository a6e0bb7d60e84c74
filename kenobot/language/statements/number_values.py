"""Compare the numbers, hours and days of two statements by value, however they are written."""

from collections.abc import Mapping

from kenobot.core import lazy
from kenobot.language.clock_times import clock_times
from kenobot.language.dates import MONTHS, WEEKDAYS
from kenobot.language.lexicon import word_set
from kenobot.language.number_words import read_number
from kenobot.language.words import fold

_WORDS = word_set("statement_numbers")
_DATES = word_set("statement_dates")
_GROUPED = lazy.regex(r"(?<![\d.,])\d{1,3}(?:[.,'’ ]\d{3})+(?!\d)")
_MARKS = lazy.regex(
    r"[€$£¥]|(?<=\d) ?(?:[ap]\.?m|hs?|st|nd|rd|th|[ºª])(?![^\W_])|(?<![\d.,:])0+(?=\d)|(?<=/)20(?=\d\d\b)"
)
_FRACTION = lazy.regex(r"(?<=\d)[.,:h](\d*?)0*(?!\d)")  # 9:00 is 9, and 3,50 is 3.5
_TOKEN = lazy.regex(r"[\w:/%-]*\d[\w:/%-]*|[^\W\d_]+")
_FIGURES = lazy.regex(r"\d+")


def differs_in_number(old: str, new: str) -> bool:
    """Return whether each text has a number that the other lacks, both of one format: 700 and 800, not 3000 and 3k."""
    return _differs(_read_numbers(old), _read_numbers(new))


def differs_in_date(old: str, new: str) -> bool:
    """Return whether each text has a day of the week, or a month, that the other lacks."""
    return _differs(_read_dates(old), _read_dates(new))


def _differs(here: Mapping[str, str], there: Mapping[str, str]) -> bool:
    mine = {form for value, form in here.items() if value not in there}
    return not mine.isdisjoint(form for value, form in there.items() if value not in here)


def _read_numbers(text: str) -> dict[str, str]:
    """Read the numbers of a text, each with its format."""
    plain = fold(text)
    for time in reversed(clock_times(plain)):  # of twelve hours: who says 9 may mean 21:00
        plain = f"{plain[: time.start]} {time.hour % 12 or 12}:{time.minute:02} {plain[time.end :]}"
    plain = _GROUPED.sub(lambda match: "".join(_FIGURES.findall(match[0])), plain)
    plain = _FRACTION.sub(lambda match: f":{match[1]}" if match[1] else "", _MARKS.sub("", plain))
    found: dict[str, str] = {}
    for token in (each.strip("-:/") for each in _TOKEN.findall(plain)):
        if token in _WORDS:
            found.setdefault(str(read_number(token) or token), "word")
        elif not token.isalpha():
            found[token] = _FIGURES.sub("0", token)
    return found


def _read_dates(text: str) -> dict[str, str]:
    """Read the days of the week and the months of a text; "tomorrow" is another day each time that it is said."""
    found: dict[str, str] = {}
    for word in _TOKEN.findall(fold(text)):
        if is_weekday(word):
            found[f"weekday {WEEKDAYS.get(word, WEEKDAYS.get(word[:-1]))}"] = "weekday"
        elif word in _DATES and word in MONTHS:
            found[f"month {MONTHS[word]}"] = "month"
    return found


def is_weekday(word: str) -> bool:
    """Return whether a folded word names a day of the week, in full: Monday, Mondays."""
    return any(each in _DATES and each in WEEKDAYS for each in (word, word.removesuffix("s")))
